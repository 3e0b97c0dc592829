#include "transport/uc_requester.hpp"

#include <algorithm>

namespace rocio::transport {

uc_requester::uc_requester(const queue_pair_config& config, const memory_region_table& regions,
                           completion_ring& completions, queue_pair_counters& counters)
    : regions_(regions),
      completions_(completions),
      counters_(counters),
      queue_(config.send_depth, config.max_inline) {}

void uc_requester::connect(const segmentation& cutter, const send_path& path) noexcept {
    cutter_ = cutter;
    first_ = path.first;
    const auto longest =
        static_cast<std::uint32_t>(wire::max_header_size + cutter.path_mtu() + wire::icrc_size);
    burst_ = std::min<std::size_t>(max_burst, psn_window(path.window).quarter(longest));
    longest_train_ = path.window.longest_train;
}

void uc_requester::post(const send_request& request) noexcept {
    queue_.push(request, cutter_.packets_of(request.length()));
}

bool uc_requester::may_read(const cursor& c) const noexcept {
    const send_entry& e = queue_[c.entry];
    return e.inlined || regions_.check_local(e.buffer, memory_access::local_read);
}

uc_requester::cursor uc_requester::step(const cursor& c) const noexcept {
    const send_entry& e = queue_[c.entry];
    cursor after = c;
    ++after.number;
    after.bytes += cutter_.payload_bytes(e, c.packet);
    if (e.is_last(c.packet)) {
        ++after.entry;
        after.packet = 0;
    } else {
        ++after.packet;
    }
    return after;
}

std::size_t uc_requester::fill(std::span<packet_out> out) noexcept {
    planned_ = 0;
    refused_ = false;
    cursor c = next_;
    packet_train train;
    const std::size_t limit = std::min(out.size(), burst_);
    while (planned_ < limit && c.entry != queue_.end_index()) {
        const bool enters = planned_ == 0 || c.packet == 0;
        if (enters && !may_read(c)) {
            refused_ = planned_ == 0; // all before it have left and are done
            break;
        }
        cutter_.cut(queue_[c.entry], c.packet, first_ + static_cast<std::uint32_t>(c.number), false,
                    out[planned_]);
        train.add(cutter_.datagram_bytes(queue_[c.entry], c.packet), longest_train_);
        out[planned_].segment = train.last_place();
        c = plan_[planned_++] = step(c);
    }
    return planned_;
}

void uc_requester::commit(std::size_t n) noexcept {
    n = std::min(n, planned_);
    planned_ = 0;
    if (n == 0) return;
    const cursor& after = plan_[n - 1];
    counters_.packets_sent += n;
    counters_.bytes_sent += after.bytes - next_.bytes;
    next_ = after;
    counters_.messages_sent += queue_.acknowledge_before(next_.number, completions_);
}

void uc_requester::fail(errc status) noexcept {
    if (!queue_.empty()) queue_.fail_front(status, completions_);
    flush();
}

void uc_requester::flush() noexcept {
    queue_.flush(completions_);
    planned_ = 0;
    refused_ = false;
}

} // namespace rocio::transport
