#pragma once

#include <rocio/types/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace rocio::fpga {

// The metadata bus of the RoCEv2 engine in SLAC's firmware (surf, RoceConfigurator and blue-rdma): requests
// of 303 bits and replies of 276 bits, as 32-bit words with bit 0 of the message in bit 0 of word 0. Fields
// are right-aligned below the bus type in the two highest bits.

inline constexpr std::size_t slac_request_bits = 303;
inline constexpr std::size_t slac_reply_bits = 276;
using slac_request_words = std::array<std::uint32_t, 10>;
using slac_reply_words = std::array<std::uint32_t, 9>;

/// Which table of the engine a message is about.
enum class slac_object : std::uint8_t { protection_domain = 0, memory_region = 1, queue_pair = 2 };
const char* to_string(slac_object what) noexcept;

enum class slac_qp_operation : std::uint8_t { create = 0, destroy = 1, modify = 2, query = 3 };

/// The states of blue-rdma, which are those of IBA 10.3.1 but for the last.
namespace slac_qp_state {
inline constexpr std::uint32_t reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, error = 6, create = 8;
} // namespace slac_qp_state
const char* slac_qp_state_name(std::uint32_t state) noexcept;

/// What a modify request sets, with the values of verbs' attribute mask.
namespace slac_qp_mask {
inline constexpr std::uint32_t state = 1, access = 8, pkey = 16, path_mtu = 256, timeout = 512,
                               retry_count = 1024, rnr_retry = 2048, rq_psn = 4096, max_read_atomic = 8192,
                               min_rnr_timer = 32768, sq_psn = 65536, max_dest_read = 131072, dqpn = 1048576;
inline constexpr std::uint32_t to_init = state | pkey | access;
inline constexpr std::uint32_t to_rtr = state | path_mtu | dqpn | rq_psn | max_dest_read | min_rnr_timer;
inline constexpr std::uint32_t to_rts = state | sq_psn | timeout | retry_count | rnr_retry | max_read_atomic;
} // namespace slac_qp_mask

// Members are wider than their fields, so that a value that does not fit is told and not cut. The width in
// bits stands beside each.

struct slac_pd_request {
    bool allocate = false;
    std::uint64_t key = 0;     ///< 32
    std::uint64_t handler = 0; ///< 32
    friend bool operator==(const slac_pd_request&, const slac_pd_request&) = default;
};

struct slac_mr_request {
    bool allocate = false;
    std::uint64_t address = 0;    ///< 64
    std::uint64_t length = 0;     ///< 32, bytes
    std::uint64_t access = 0;     ///< 8
    std::uint64_t pd_handler = 0; ///< 32
    std::uint64_t lkey_part = 0;  ///< 31
    std::uint64_t rkey_part = 0;  ///< 31
    bool lkey_or_not = false;
    std::uint64_t lkey = 0; ///< 32
    std::uint64_t rkey = 0; ///< 32
    friend bool operator==(const slac_mr_request&, const slac_mr_request&) = default;
};

struct slac_qp_attributes {
    std::uint64_t state = 0;         ///< 4
    std::uint64_t current_state = 0; ///< 4
    std::uint64_t path_mtu = 0;      ///< 3
    std::uint64_t qkey = 0;          ///< 32
    std::uint64_t rq_psn = 0;        ///< 24
    std::uint64_t sq_psn = 0;        ///< 24
    std::uint64_t dqpn = 0;          ///< 24
    std::uint64_t access = 0;        ///< 8
    std::uint64_t capabilities = 0;  ///< 40
    std::uint64_t pkey = 0;          ///< 16
    bool sq_draining = false;
    std::uint64_t max_read_atomic = 0; ///< 8
    std::uint64_t max_dest_read = 0;   ///< 8
    std::uint64_t min_rnr_timer = 0;   ///< 5
    std::uint64_t timeout = 0;         ///< 5
    std::uint64_t retry_count = 0;     ///< 3
    std::uint64_t rnr_retry = 0;       ///< 3
    std::uint64_t type = 0;            ///< 4, 2: RC
    bool signal_all = false;
    friend bool operator==(const slac_qp_attributes&, const slac_qp_attributes&) = default;
};

struct slac_qp_request {
    slac_qp_operation operation = slac_qp_operation::create;
    std::uint64_t pd_handler = 0; ///< 32
    std::uint64_t qpn = 0;        ///< 24
    std::uint64_t mask = 0;       ///< 26
    slac_qp_attributes attributes{};
    friend bool operator==(const slac_qp_request&, const slac_qp_request&) = default;
};

using slac_request = std::variant<slac_pd_request, slac_mr_request, slac_qp_request>;

struct slac_pd_reply {
    bool ok = false;
    std::uint64_t handler = 0; ///< 32
    std::uint64_t key = 0;     ///< 32
    friend bool operator==(const slac_pd_reply&, const slac_pd_reply&) = default;
};

struct slac_mr_reply {
    bool ok = false;
    std::uint64_t address = 0;    ///< 64
    std::uint64_t length = 0;     ///< 32
    std::uint64_t access = 0;     ///< 8
    std::uint64_t pd_handler = 0; ///< 32
    std::uint64_t lkey_part = 0;  ///< 31
    std::uint64_t rkey_part = 0;  ///< 31
    std::uint64_t lkey = 0;       ///< 32
    std::uint64_t rkey = 0;       ///< 32
    friend bool operator==(const slac_mr_reply&, const slac_mr_reply&) = default;
};

struct slac_qp_reply {
    bool ok = false;
    std::uint64_t qpn = 0;        ///< 24
    std::uint64_t pd_handler = 0; ///< 32
    slac_qp_attributes attributes{};
    friend bool operator==(const slac_qp_reply&, const slac_qp_reply&) = default;
};

using slac_reply = std::variant<slac_pd_reply, slac_mr_reply, slac_qp_reply>;

slac_object object_of(const slac_request& request) noexcept;
slac_object object_of(const slac_reply& reply) noexcept;

/// Writes the message into `out`. errc::invalid_argument, naming field, value and width, for a value that
/// does not fit its field; then `out` is all zero. Pure.
error_info encode(const slac_request& request, slac_request_words& out);
error_info encode(const slac_reply& reply, slac_reply_words& out);

/// Reads a message. Any bits are taken but a bus type of 3, which gives errc::handshake_malformed; bits above
/// the message and between the type and the first field are ignored, as the engine does. Pure.
error_info decode(const slac_request_words& words, slac_request& out);
error_info decode(const slac_reply_words& words, slac_reply& out);

/// One field of a message made by hand.
struct slac_field {
    const char* name = "";
    unsigned width = 0; ///< Bits, 1..64.
    std::uint64_t value = 0;
};
/// A request of these fields, the first one highest; the last one ends at bit 0. errc::invalid_argument for a
/// value that does not fit its field, and for fields that leave less than two bits for the type.
error_info encode_fields(slac_object what, std::span<const slac_field> fields, slac_request_words& out);

// ---- The requests of a session

slac_pd_request slac_allocate_pd(std::uint32_t key);
slac_pd_request slac_free_pd(std::uint32_t handler);
slac_mr_request slac_free_mr(std::uint32_t pd_handler, std::uint32_t lkey, std::uint32_t rkey);
slac_qp_request slac_create_qp(std::uint32_t pd_handler);
slac_qp_request slac_destroy_qp(std::uint32_t qpn);
/// With what surf's configuration leaves in every modify request; the fields that `mask` names are to be set.
slac_qp_request slac_modify_qp(std::uint32_t qpn, std::uint32_t state, std::uint32_t mask,
                               std::uint64_t path_mtu);

} // namespace rocio::fpga
