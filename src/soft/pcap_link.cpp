#include "soft/frame_writer.hpp"

#include <rocio/soft/pcap_link.hpp>
#include <rocio/types/relaxed_counter.hpp>
#include <rocio/wire/icrc.hpp>

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <sys/time.h>

namespace rocio::soft {

namespace {

constexpr int snapshot_length = 65'535;
constexpr auto longest_unwritten = std::chrono::milliseconds{100};

struct close_pcap {
    void operator()(pcap_t* p) const noexcept { pcap_close(p); }
    void operator()(pcap_dumper_t* p) const noexcept { pcap_dump_close(p); }
};

timeval wall_clock() noexcept {
    timeval now{};
    gettimeofday(&now, nullptr);
    return now;
}

} // namespace

struct pcap_link::body {
    std::unique_ptr<link> inner;
    std::unique_ptr<pcap_t, close_pcap> format{};
    std::unique_ptr<pcap_dumper_t, close_pcap> file{};
    std::vector<std::byte> frame = std::vector<std::byte>(snapshot_length);
    time_point unwritten_since = time_point::max(); ///< Of what is in the buffer of `file`.
    relaxed_counter captured{};

    explicit body(std::unique_ptr<link> l) : inner(std::move(l)) {}

    void write(const frame_fields& fields, std::span<const std::span<const std::byte>> pieces,
               time_point now) noexcept;
    void note_received(const received_datagram& d, time_point now) noexcept;
    void note_sent(const outgoing_datagram& d, time_point now) noexcept;
};

void pcap_link::body::write(const frame_fields& fields, std::span<const std::span<const std::byte>> pieces,
                            time_point now) noexcept {
    std::size_t size = 0;
    for (const auto& p : pieces) size += p.size();
    const frame_header header(fields, size);
    if (header.bytes().size() + size > frame.size()) return;
    auto end = std::copy(header.bytes().begin(), header.bytes().end(), frame.begin());
    for (const auto& p : pieces) end = std::copy(p.begin(), p.end(), end);

    pcap_pkthdr record{};
    record.ts = wall_clock();
    record.caplen = record.len = static_cast<bpf_u_int32>(end - frame.begin());
    pcap_dump(reinterpret_cast<u_char*>(file.get()), &record, reinterpret_cast<const u_char*>(frame.data()));
    captured.add();
    unwritten_since = std::min(unwritten_since, now);
}

void pcap_link::body::note_received(const received_datagram& d, time_point now) noexcept {
    frame_fields fields{d.source, inner->address(), d.source_port, inner->port()};
    const wire::icrc_engine icrc(
        {fields.source, fields.destination, fields.source_port, fields.destination_port});
    fields.ip_id = icrc.solve_id(d.bytes).value_or(0);
    write(fields, std::array{d.bytes}, now);
}

void pcap_link::body::note_sent(const outgoing_datagram& d, time_point now) noexcept {
    const frame_fields fields{inner->address(), d.to->address,   inner->port(),      d.to->port,
                              d.segment,        d.to->hop_limit, d.to->traffic_class};
    write(fields, std::array{d.header, d.payload, d.trailer}, now);
}

error_info pcap_link::open(std::unique_ptr<link> inner, const std::string& file, std::unique_ptr<link>& out) {
    auto made = std::make_unique<body>(std::move(inner));
    made->format.reset(pcap_open_dead(DLT_EN10MB, snapshot_length));
    if (made->format) made->file.reset(pcap_dump_open(made->format.get(), file.c_str()));
    if (!made->file) {
        const std::string why = made->format ? pcap_geterr(made->format.get()) : "no memory";
        return {make_error_code(boost::system::errc::io_error), "capture file " + file + ": " + why};
    }
    out.reset(new pcap_link(std::move(made)));
    return {};
}

pcap_link::pcap_link(std::unique_ptr<body> b) noexcept : body_(std::move(b)) {}
pcap_link::~pcap_link() = default;

const gid& pcap_link::address() const noexcept {
    return body_->inner->address();
}
std::uint16_t pcap_link::port() const noexcept {
    return body_->inner->port();
}
int pcap_link::fd() const noexcept {
    return body_->inner->fd();
}
std::uint32_t pcap_link::receive_buffer() const noexcept {
    return body_->inner->receive_buffer();
}
std::uint8_t pcap_link::longest_train() const noexcept {
    return body_->inner->longest_train();
}
link_interface pcap_link::interface() const {
    return body_->inner->interface();
}

std::size_t pcap_link::receive(std::span<received_datagram> out, time_point now) noexcept {
    const std::size_t n = body_->inner->receive(out, now);
    for (const auto& d : out.first(n)) body_->note_received(d, now);
    return n;
}

std::size_t pcap_link::send(std::span<const outgoing_datagram> datagrams, time_point now) noexcept {
    const std::size_t n = body_->inner->send(datagrams, now);
    for (const auto& d : datagrams.first(n)) body_->note_sent(d, now);
    return n;
}

bool pcap_link::progress(time_point now) noexcept {
    if (body_->unwritten_since <= now - longest_unwritten) {
        pcap_dump_flush(body_->file.get());
        body_->unwritten_since = time_point::max();
    }
    return body_->inner->progress(now);
}

time_point pcap_link::next_deadline() const noexcept {
    const auto inner = body_->inner->next_deadline();
    if (body_->unwritten_since == time_point::max()) return inner;
    return std::min(inner, body_->unwritten_since + longest_unwritten);
}

void pcap_link::append_counters(std::vector<device_snapshot::counter>& out) const {
    body_->inner->append_counters(out);
    out.push_back({"captured_packets", body_->captured.value()});
}

} // namespace rocio::soft
