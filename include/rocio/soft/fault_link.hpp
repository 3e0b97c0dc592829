#pragma once

#include <rocio/soft/fault_plan.hpp>
#include <rocio/soft/link.hpp>

#include <memory>

namespace rocio::soft {

/// Wraps a link and does to the datagrams sent through it what a fault_plan says. Received ones pass
/// untouched: give both ends a plan to disturb both directions. Holds at most 256 datagrams back; when that
/// many wait, further ones leave at once.
class fault_link final : public link {
  public:
    static constexpr std::size_t max_held = 256;

    /// `plan` must be valid.
    fault_link(std::unique_ptr<link> inner, const fault_plan& plan);
    ~fault_link() override;

    const gid& address() const noexcept override;
    std::uint16_t port() const noexcept override;
    std::size_t receive(std::span<received_datagram> out, time_point now) noexcept override;
    std::size_t send(std::span<const outgoing_datagram> datagrams, time_point now) noexcept override;
    int fd() const noexcept override;
    bool progress(time_point now) noexcept override;
    time_point next_deadline() const noexcept override;
    std::uint32_t receive_buffer() const noexcept override;
    link_interface interface() const override;
    /// The inner link's, then "faults.dropped", "faults.duplicated", "faults.reordered", "faults.delayed" and
    /// "faults.corrupted".
    void append_counters(std::vector<device_snapshot::counter>& out) const override;

  private:
    struct body;
    std::unique_ptr<body> body_;
};

} // namespace rocio::soft
