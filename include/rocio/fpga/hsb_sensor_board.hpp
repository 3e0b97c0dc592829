#pragma once

#include <rocio/fpga/board_port.hpp>
#include <rocio/fpga/hsb_announcement.hpp>
#include <rocio/fpga/hsb_board.hpp>
#include <rocio/fpga/hsb_control.hpp>
#include <rocio/fpga/hsb_data_path.hpp>
#include <rocio/fpga/hsb_responder.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rocio::fpga {

/// Where a virtual port sends its frames to, as its registers name it; unchecked.
struct hsb_sensor_target {
    board_target host{}; ///< `buffer`, `page_bytes` and `pages` as far as the layout has them.
    hsb_layout layout = hsb_layout::paged;
    std::uint16_t ip_version = 0;
    std::array<std::uint64_t, 4> buffers{}; ///< Layout four_buffers.
    std::uint32_t packet_payload = 0;       ///< Bytes of data in each packet.
    std::uint16_t source_port = 0;
    bool metadata = true; ///< False: the last data packet has the immediate, no metadata follow.

    /// RDMA address of a page below host.pages.
    std::uint64_t page_address(std::uint32_t page) const noexcept;
    friend bool operator==(const hsb_sensor_target&, const hsb_sensor_target&) = default;
};

/// The data half of an emulated sensor board, as its control half drives it. Called from within the control
/// half, which must not be called back from these functions.
class hsb_sensor_port {
  public:
    virtual ~hsb_sensor_port() = default;

    /// The virtual port is on, and sends there; called again when its registers say something else.
    virtual void start(std::uint32_t virtual_port, const hsb_sensor_target& target) = 0;
    virtual void stop(std::uint32_t virtual_port) = 0;
    /// The board restarts: page and PSN of every virtual port begin at 0 again. All were stopped before.
    virtual void reset() = 0;
    /// PSN of the virtual port's next packet.
    virtual std::uint32_t psn(std::uint32_t virtual_port) const = 0;

  protected:
    hsb_sensor_port() = default;
    hsb_sensor_port(const hsb_sensor_port&) = default;
    hsb_sensor_port& operator=(const hsb_sensor_port&) = default;
};

struct hsb_sensor_board_config {
    std::uint16_t ip_version = 0x2606;
    std::uint32_t build_date = 0x2026'0722;
    std::uint8_t data_plane = 0;
    std::uint32_t virtual_ports = 2; ///< 1 to 32.
};

/// The control half of an emulated HSB FPGA with sensors: requests in, responses out, and a port driven by
/// what they write. It does no I/O.
///
/// It behaves as the FPGA's RTL does, not as the vendor's emulator: unknown commands, reserved flags and
/// addresses where nothing is are refused (what stands in a block before the bad address is written), reads
/// of such addresses give 0xBADADD12, a request with the sequence check must follow the one before, whose
/// number a refused access gives back, and DP_VP_MASK switches a virtual port on and off. Page index and PSN
/// outlive a new configuration; a reset (8 into register 4, not answered) sets everything back.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
class hsb_sensor_board final : public hsb_responder {
  public:
    static constexpr std::uint32_t no_register = 0xBADADD12;

    /// `port` must outlive the board.
    explicit hsb_sensor_board(hsb_sensor_port& port, const hsb_sensor_board_config& config = {});

    std::size_t answer(std::span<const std::byte> datagram, std::uint64_t sender,
                       std::span<std::byte> out) override;

    const hsb_board_counts& counts() const noexcept { return counts_; }
    const hsb_sensor_board_config& config() const noexcept { return config_; }
    /// As a register is read; no_register where there is none.
    std::uint32_t read(std::uint32_t address) const;
    /// Where a virtual port sends to; nothing while it is off or not fully configured.
    std::optional<hsb_sensor_target> target(std::uint32_t virtual_port) const;
    /// What it would announce at `address`.
    hsb_announcement announcement(const std::array<std::uint8_t, 4>& address) const;
    /// As a reset by register does.
    void reset();

  private:
    enum class kind : std::uint8_t { none, read_only, plain };
    kind kind_of(std::uint32_t address) const noexcept;
    std::optional<std::uint32_t> port_of_psn(std::uint32_t address) const noexcept;
    bool in_step(const hsb_request& request) const noexcept;
    hsb_status write_all(const hsb_pairs& pairs);
    hsb_status write(const hsb_register& what);
    std::size_t execute(const hsb_request& request, hsb_response_header header, std::span<std::byte> out);
    std::size_t refuse(hsb_malformed reason, std::span<const std::byte> datagram, std::span<std::byte> out);
    hsb_sensor_target target_of(std::uint32_t vp_address) const;
    void tell_port();

    hsb_sensor_port& port_;
    hsb_sensor_board_config config_;
    std::unordered_map<std::uint32_t, std::uint32_t> registers_;
    std::vector<std::optional<hsb_sensor_target>> told_;
    hsb_board_counts counts_;
    std::optional<std::uint16_t> latched_{};
    bool reset_asked_ = false;
};

} // namespace rocio::fpga
