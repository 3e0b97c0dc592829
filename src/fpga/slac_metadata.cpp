#include <rocio/fpga/slac_metadata.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace rocio::fpga {

namespace {

constexpr unsigned type_bits = 2;

template <class M, class T>
concept is = std::same_as<std::remove_const_t<M>, T>;

// Each message's fields from the highest to the lowest: the one description of its layout.

template <is<slac_pd_request> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("allocate", 1, m.allocate);
    visit("key", 32, m.key);
    visit("handler", 32, m.handler);
}

template <is<slac_mr_request> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("allocate", 1, m.allocate);
    visit("address", 64, m.address);
    visit("length", 32, m.length);
    visit("access", 8, m.access);
    visit("pd_handler", 32, m.pd_handler);
    visit("lkey_part", 31, m.lkey_part);
    visit("rkey_part", 31, m.rkey_part);
    visit("lkey_or_not", 1, m.lkey_or_not);
    visit("lkey", 32, m.lkey);
    visit("rkey", 32, m.rkey);
}

template <is<slac_qp_attributes> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("state", 4, m.state);
    visit("current_state", 4, m.current_state);
    visit("path_mtu", 3, m.path_mtu);
    visit("qkey", 32, m.qkey);
    visit("rq_psn", 24, m.rq_psn);
    visit("sq_psn", 24, m.sq_psn);
    visit("dqpn", 24, m.dqpn);
    visit("access", 8, m.access);
    visit("capabilities", 40, m.capabilities);
    visit("pkey", 16, m.pkey);
    visit("sq_draining", 1, m.sq_draining);
    visit("max_read_atomic", 8, m.max_read_atomic);
    visit("max_dest_read", 8, m.max_dest_read);
    visit("min_rnr_timer", 5, m.min_rnr_timer);
    visit("timeout", 5, m.timeout);
    visit("retry_count", 3, m.retry_count);
    visit("rnr_retry", 3, m.rnr_retry);
    visit("type", 4, m.type);
    visit("signal_all", 1, m.signal_all);
}

template <is<slac_qp_request> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("operation", 2, m.operation);
    visit("pd_handler", 32, m.pd_handler);
    visit("qpn", 24, m.qpn);
    visit("mask", 26, m.mask);
    for_each_field(m.attributes, visit);
}

template <is<slac_pd_reply> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("ok", 1, m.ok);
    visit("handler", 32, m.handler);
    visit("key", 32, m.key);
}

template <is<slac_mr_reply> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("ok", 1, m.ok);
    visit("address", 64, m.address);
    visit("length", 32, m.length);
    visit("access", 8, m.access);
    visit("pd_handler", 32, m.pd_handler);
    visit("lkey_part", 31, m.lkey_part);
    visit("rkey_part", 31, m.rkey_part);
    visit("lkey", 32, m.lkey);
    visit("rkey", 32, m.rkey);
}

template <is<slac_qp_reply> M, class Visit>
void for_each_field(M& m, Visit visit) {
    visit("ok", 1, m.ok);
    visit("qpn", 24, m.qpn);
    visit("pd_handler", 32, m.pd_handler);
    for_each_field(m.attributes, visit);
}

void put_bits(std::span<std::uint32_t> words, unsigned lowest, unsigned width, std::uint64_t value) {
    for (unsigned i = 0; i < width; ++i) {
        const auto bit = static_cast<std::uint32_t>(value >> i & 1);
        words[(lowest + i) / 32] |= bit << ((lowest + i) % 32);
    }
}

std::uint64_t get_bits(std::span<const std::uint32_t> words, unsigned lowest, unsigned width) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i) {
        const std::uint64_t bit = words[(lowest + i) / 32] >> ((lowest + i) % 32) & 1;
        value |= bit << i;
    }
    return value;
}

error_info check_field(slac_object what, const slac_field& f) {
    if (f.width >= 64 || f.value >> f.width == 0) return {};
    return {errc::invalid_argument, std::string(to_string(what)) + " field " + f.name + " is " +
                                        std::to_string(f.value) + ", which does not fit its " +
                                        std::to_string(f.width) + " bits; allowed are 0 to " +
                                        std::to_string((std::uint64_t{1} << f.width) - 1)};
}

/// `count` is known to be the sum of the widths and to leave room for the type.
class message_writer {
  public:
    message_writer(slac_object what, unsigned bits, unsigned count, std::span<std::uint32_t> words)
        : what_(what), words_(words), place_(count) {
        put_bits(words_, bits - type_bits, type_bits, static_cast<std::uint64_t>(what));
    }
    void operator()(const slac_field& f) {
        if (!error_) error_ = check_field(what_, f);
        place_ -= f.width;
        if (!error_) put_bits(words_, place_, f.width, f.value);
    }
    error_info finish() {
        if (error_)
            for (auto& word : words_) word = 0;
        return std::move(error_);
    }

  private:
    slac_object what_;
    std::span<std::uint32_t> words_;
    unsigned place_;
    error_info error_{};
};

template <class Message>
constexpr unsigned count_bits(const Message& message) {
    unsigned count = 0;
    for_each_field(message, [&count](const char*, unsigned width, const auto&) { count += width; });
    return count;
}

template <class Message>
error_info encode_message(slac_object what, unsigned bits, const Message& message,
                          std::span<std::uint32_t> words) {
    for (auto& word : words) word = 0;
    message_writer writer(what, bits, count_bits(message), words);
    for_each_field(message, [&writer](const char* name, unsigned width, const auto& member) {
        writer({name, width, static_cast<std::uint64_t>(member)});
    });
    return writer.finish();
}

template <class Message>
Message decode_message(std::span<const std::uint32_t> words) {
    Message message;
    auto place = count_bits(message);
    for_each_field(message, [&](const char*, unsigned width, auto& member) {
        place -= width;
        member = static_cast<std::remove_reference_t<decltype(member)>>(get_bits(words, place, width));
    });
    return message;
}

template <class Pd, class Mr, class Qp>
error_info decode_any(std::span<const std::uint32_t> words, unsigned bits, std::variant<Pd, Mr, Qp>& out) {
    switch (get_bits(words, bits - type_bits, type_bits)) {
    case 0:
        out = decode_message<Pd>(words);
        return {};
    case 1:
        out = decode_message<Mr>(words);
        return {};
    case 2:
        out = decode_message<Qp>(words);
        return {};
    default:
        return {
            errc::handshake_malformed,
            "a message of the metadata bus has type 3; known are 0 (protection domain), 1 (memory region) "
            "and 2 (queue pair)"};
    }
}

template <class Any, class Words>
error_info encode_any(const Any& message, slac_object what, unsigned bits, Words& out) {
    return std::visit([&](const auto& m) { return encode_message(what, bits, m, out); }, message);
}

} // namespace

const char* to_string(slac_object what) noexcept {
    switch (what) {
    case slac_object::protection_domain:
        return "protection domain";
    case slac_object::memory_region:
        return "memory region";
    case slac_object::queue_pair:
        return "queue pair";
    }
    return "unknown object";
}

const char* slac_qp_state_name(std::uint32_t state) noexcept {
    constexpr std::array names{"RESET", "INIT", "RTR", "RTS", "SQD", "5", "ERR", "7", "CREATE"};
    return state < names.size() ? names[state] : "unknown";
}

slac_object object_of(const slac_request& request) noexcept {
    return static_cast<slac_object>(request.index());
}

slac_object object_of(const slac_reply& reply) noexcept {
    return static_cast<slac_object>(reply.index());
}

error_info encode(const slac_request& request, slac_request_words& out) {
    return encode_any(request, object_of(request), slac_request_bits, out);
}

error_info encode(const slac_reply& reply, slac_reply_words& out) {
    return encode_any(reply, object_of(reply), slac_reply_bits, out);
}

error_info decode(const slac_request_words& words, slac_request& out) {
    return decode_any(words, slac_request_bits, out);
}

error_info decode(const slac_reply_words& words, slac_reply& out) {
    return decode_any(words, slac_reply_bits, out);
}

error_info encode_fields(slac_object what, std::span<const slac_field> fields, slac_request_words& out) {
    out = {};
    constexpr unsigned room = slac_request_bits - type_bits;
    unsigned count = 0;
    for (const auto& f : fields) {
        if (f.width < 1 || f.width > 64)
            return {errc::invalid_argument, std::string("field ") + f.name + " has " +
                                                std::to_string(f.width) + " bits; allowed are 1 to 64"};
        count += f.width;
        if (count > room)
            return {errc::invalid_argument, "the fields up to " + std::string(f.name) + " have " +
                                                std::to_string(count) + " bits; a request has room for " +
                                                std::to_string(room) + " beside its type"};
    }
    message_writer writer(what, slac_request_bits, count, out);
    for (const auto& f : fields) writer(f);
    return writer.finish();
}

// ---- The requests of a session

slac_pd_request slac_allocate_pd(std::uint32_t key) {
    return {.allocate = true, .key = key, .handler = 0};
}

slac_pd_request slac_free_pd(std::uint32_t handler) {
    return {.allocate = false, .key = 0, .handler = handler};
}

slac_mr_request slac_free_mr(std::uint32_t pd_handler, std::uint32_t lkey, std::uint32_t rkey) {
    slac_mr_request r;
    r.pd_handler = pd_handler;
    r.lkey = lkey;
    r.rkey = rkey;
    return r;
}

namespace {

constexpr std::uint64_t reliable_connection = 2;

slac_qp_request qp_request(slac_qp_operation operation) {
    slac_qp_request r;
    r.operation = operation;
    return r;
}

} // namespace

slac_qp_request slac_create_qp(std::uint32_t pd_handler) {
    auto r = qp_request(slac_qp_operation::create);
    r.pd_handler = pd_handler;
    r.attributes.type = reliable_connection;
    return r;
}

slac_qp_request slac_destroy_qp(std::uint32_t qpn) {
    auto r = qp_request(slac_qp_operation::destroy);
    r.qpn = qpn;
    return r;
}

slac_qp_request slac_modify_qp(std::uint32_t qpn, std::uint32_t state, std::uint32_t mask,
                               std::uint64_t path_mtu) {
    auto r = qp_request(slac_qp_operation::modify);
    r.qpn = qpn;
    r.mask = mask;
    auto& a = r.attributes;
    a.state = state;
    a.path_mtu = path_mtu;
    a.access = 0x0E;
    a.capabilities = 0x2020010100;
    a.pkey = 0xFFFF;
    a.max_read_atomic = 16;
    a.max_dest_read = 16;
    a.min_rnr_timer = 1;
    a.timeout = 14;
    a.retry_count = 3;
    a.rnr_retry = 3;
    a.type = reliable_connection;
    return r;
}

} // namespace rocio::fpga
