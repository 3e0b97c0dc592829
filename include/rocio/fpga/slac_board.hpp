#pragma once

#include <rocio/fpga/register_space.hpp>
#include <rocio/fpga/slac_metadata.hpp>
#include <rocio/fpga/slac_register_map.hpp>
#include <rocio/fpga/slac_stream_port.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rocio::fpga {

struct slac_board_config {
    slac_register_map map{};
    std::uint32_t engine_base = 0x0015'0000;
    std::uint32_t udp_base = 0x0011'0000;
    std::uint32_t udp_clients = 4;
    std::uint32_t udp_client = 0; ///< The one that carries the frames.
    std::uint32_t prbs_base = 0x0016'0000;
    /// Whether there is a PRBS source. Without it DispatchEnable alone starts the frames.
    bool prbs_present = true;
    std::uint32_t word_bits = 256;      ///< Of the PRBS, a multiple of 32 up to 1024.
    std::uint32_t payload_bytes = 4096; ///< Of a frame at power-on; PacketLength changes it.
    std::uint32_t max_size = 4096;      ///< The Core's MaxSize.
    std::uint32_t clock_hz = 156'250'000;
    std::uint32_t first_qpn = 0x000203; ///< Proposed for the first queue pair; then the next number.
    bool has_soft_reset = true;         ///< Without it the register answers with a decode error.
};

/// What can go wrong with a board, on request.
struct slac_board_faults {
    /// The engine does not answer its n-th request from now (1: the next one) and none after it, until
    /// SoftReset. Whether that request is carried out nevertheless: `wedge_executes`.
    std::optional<unsigned> wedge_at{};
    bool wedge_executes = false;
    /// How often RecvMetaData reads 0 before a reply shows.
    unsigned reply_after_reads = 0;
};

/// What the data half has done, as its owner tells it.
struct slac_sent {
    std::uint64_t frames = 0; ///< Acknowledged since the last time.
    std::uint64_t failed = 0; ///< Given up since the last time.
    std::uint32_t frames_per_second = 0;
    std::uint64_t bytes_per_second = 0;
};

/// The control half of an emulated SLAC board: the registers of surf's RoCEv2 engine with its metadata bus,
/// Core, DCQCN block, UdpEngine and SsiPrbsTx, and a slac_stream_port that they drive. It does no I/O.
///
/// The engine has what the shipped core has: one protection domain, two memory regions, one queue pair; a
/// further one is refused, and so is what does not exist, a transition that IBA 10.3.1 does not know, the
/// destruction of a queue pair that is not in ERR, and freeing a region or domain that is still in use. As
/// the firmware, it starts a request on a rising edge of SendMetaData and ignores edges while one is open.
/// Frames flow while DispatchEnable and TxEn are set, the queue pair is in RTS and LKey names a region; a
/// frame longer than MaxSize or the path MTU counts as oversize and keeps the source off. PRBS OneShot,
/// DCQCN's and the UdpEngine's other registers take what is written and do nothing.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
class slac_board final : public register_space {
  public:
    /// `port` must outlive the board. Throws rocio::exception(errc::invalid_argument) for a word_bits or
    /// udp_client out of range.
    explicit slac_board(slac_stream_port& port, const slac_board_config& config = {});

    bus_response read(std::uint64_t address, std::uint32_t& value) override;
    bus_response write(std::uint64_t address, std::uint32_t value) override;

    slac_board_faults& faults() noexcept { return faults_; }
    /// What a session that crashed leaves: a domain, both regions and the queue pair, in RTS.
    void leave_stale_resources();
    /// All registers as at power-on; with `stale` the engine's objects survive, as when only a part of the
    /// firmware was reset.
    void power_cycle(bool stale = false);
    void count(const slac_sent& sent);

    /// Domains, regions and queue pairs that exist.
    std::size_t resources_allocated() const noexcept;
    std::uint64_t requests() const noexcept { return requests_; } ///< That the engine began.
    std::uint64_t refusals() const noexcept { return refusals_; } ///< That it refused.
    std::uint64_t soft_resets() const noexcept { return resets_; }
    /// What flows; nothing while it does not.
    const std::optional<slac_stream>& stream() const noexcept { return running_; }

  private:
    struct region {
        std::uint32_t lkey = 0, rkey = 0, length = 0;
        std::uint64_t address = 0;
    };
    struct queue_pair {
        std::uint32_t qpn = 0;
        slac_qp_attributes attributes{};
    };
    struct prbs_source {
        std::uint32_t control = 0, packet_length = 0, ids = 0, trigger_delay = 0;
    };

    bus_response access(std::uint64_t address, std::uint32_t& value, bool writes);
    bus_response access_engine(std::uint32_t offset, std::uint32_t& value, bool writes);
    bus_response access_core(std::uint32_t offset, std::uint32_t& value, bool writes);
    bus_response access_core_counters(std::uint32_t offset, std::uint32_t& value, bool writes);
    bus_response access_udp(std::uint32_t offset, std::uint32_t& value, bool writes);
    bus_response access_prbs(std::uint32_t offset, std::uint32_t& value, bool writes);

    std::uint32_t metadata_status();
    void write_send(std::uint32_t value);
    void write_soft_reset(std::uint32_t value);
    void begin_request();
    slac_reply execute(const slac_request& request);
    slac_reply answer(const slac_pd_request& r);
    slac_reply answer(const slac_mr_request& r);
    slac_reply answer(const slac_qp_request& r);
    slac_mr_reply allocate_region(const slac_mr_request& r, slac_mr_reply reply);
    bool create(const slac_qp_request& r);
    bool modify(const slac_qp_request& r);
    bool owns(const slac_qp_request& r) const noexcept;
    void drop_pair();
    void clear_objects();
    void clear_counters();
    void reset_registers();
    void update();
    std::optional<slac_stream> wanted();
    const region* find_region(std::uint32_t lkey) const noexcept;

    slac_stream_port& port_;
    slac_board_config config_;
    slac_board_faults faults_{};

    // The metadata bus.
    std::uint32_t send_ = 0;
    std::uint32_t reset_ = 0;
    slac_request_words tx_{};
    slac_reply_words rx_{};
    bool busy_ = false, wedged_ = false, received_ = false;
    unsigned reads_until_reply_ = 0;
    std::optional<slac_reply_words> next_reply_{};
    std::uint64_t requests_ = 0, refusals_ = 0, resets_ = 0;

    // The engine's objects.
    std::optional<std::uint32_t> domain_{};
    std::array<std::optional<region>, 2> regions_{};
    std::optional<queue_pair> pair_{};
    std::uint32_t next_qpn_;

    // The data path.
    std::uint32_t dispatch_ = 0, rkey_ = 0, lkey_ = 0, sqpn_ = 0, dqpn_ = 0, wrap_ = 0;
    std::array<std::uint32_t, 2> remote_address_{};
    std::uint32_t success_ = 0, unsuccess_ = 0, oversize_ = 0, reset_counters_ = 0;
    std::uint64_t frames_ = 0, bandwidth_ = 0;
    std::uint32_t rate_ = 0, rate_max_ = 0, rate_min_ = 0;
    std::array<std::uint32_t, 9> dcqcn_{};
    std::vector<std::uint32_t> udp_;
    prbs_source prbs_{};
    bool was_oversize_ = false, was_without_region_ = false;
    std::optional<slac_stream> running_{};
};

} // namespace rocio::fpga
