#pragma once

#include <rocio/fpga/hsb_data_path.hpp>
#include <rocio/fpga/register_program.hpp>
#include <rocio/types/error.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace rocio::fpga {

inline constexpr std::uint16_t hsb_data_source_port = 12288; ///< UDP port that FPGAs send data from.
inline constexpr std::uint32_t hsb_default_mtu = 1500;       ///< Of Ethernet, in bytes.

/// What a virtual port is to be told, so that it sends its sensor's frames into a host's memory.
struct hsb_stream_config {
    hsb_data_path path{};
    std::uint64_t frame_memory = 0; ///< RDMA address of page 0, a multiple of 128; 0 for a region at 0.
    std::uint32_t frame_size = 0;   ///< Bytes of a frame's data, at least 1.
    /// Bytes from one page to the next: a multiple of 128 that holds a frame, rounded up to 128, and 128
    /// bytes of metadata behind it. Up to 128 bytes of data the vendor lets the metadata lie in the next
    /// page.
    std::uint32_t page_size = 0;
    std::uint32_t pages = 2;             ///< 1 to 4096; before version 0x2602: 1 to 4.
    std::uint32_t mtu = hsb_default_mtu; ///< Of the Ethernet on the way, in bytes.
    std::uint32_t longest_packet = 0;    ///< Bytes of data a packet may have beside that; 0: as the mtu says.
    std::array<std::uint8_t, 6> mac{};   ///< The host's; all zeros reach nobody on a real network.
    std::array<std::uint8_t, 4> host{};  ///< The host's IPv4 address.
    std::uint16_t udp_port = 4791;       ///< The host's.
    std::uint16_t source_port = hsb_data_source_port;
    std::uint32_t queue_pair = 0; ///< The host's, 24 bits.
    std::uint32_t remote_key = 0;
};

/// Bytes of data in each packet: what the mtu leaves beside the headers, in whole units of 128; 0 when that
/// is none. At most `longest` unless that is 0.
std::uint32_t hsb_packet_payload(hsb_layout layout, std::uint32_t mtu, std::uint32_t longest = 0) noexcept;

/// The page size of a frame: rounded up to 128, and 128 for the metadata.
constexpr std::uint64_t hsb_page_size(std::uint64_t frame_size) noexcept {
    return (frame_size + 127) / 128 * 128 + 128;
}

/// Whether an FPGA of this version can be told that: the vendor's checks in its order, and what its RTL
/// needs besides (pages within one 8 GiB). Errors: errc::not_supported for a version
/// below 0x2510, errc::invalid_argument; each names the attribute, what was asked and what is allowed.
error_info validate(const hsb_stream_config& config, std::uint16_t ip_version);

/// What the programs below have in common: a list of steps, each with a name for people.
class hsb_program : public register_program {
  public:
    register_step next(time_point now) override;
    void on_result(const error_info& failure, std::uint32_t value, time_point now) override;
    error_info result() const override { return result_; }

    /// The IP version, once it was read (0 before).
    std::uint16_t ip_version() const noexcept { return version_; }

  protected:
    enum class action : std::uint8_t { read_version, read_mask, mask_off, mask_on, read, write, pause };
    struct step {
        action what;
        std::uint32_t address;
        std::uint32_t value;
        const char* name;
    };

    hsb_program(const hsb_data_path& path, const char* purpose) : path_(path), purpose_(purpose) {}

    void add(action what, std::uint32_t address = 0, std::uint32_t value = 0, const char* name = "");
    void write_vp(std::uint32_t offset, std::uint32_t value, const char* name);
    void add_stop();
    void finish(error_info why);
    const hsb_data_path& path() const noexcept { return path_; }
    std::uint32_t mask() const noexcept { return mask_; }

    /// The version was read: adds the steps that depend on it.
    virtual void on_version() {}
    /// A plain read brought this.
    virtual void on_read(std::uint32_t value) { (void)value; }

  private:
    hsb_data_path path_;
    const char* purpose_;
    std::vector<step> steps_;
    std::size_t at_ = 0;
    std::uint32_t mask_ = 0;
    std::uint16_t version_ = 0;
    error_info result_{};
};

/// Reads the version, checks that the FPGA can be configured so, and stops the virtual port: what comes
/// before the host's own side is ready.
class hsb_prepare final : public hsb_program {
  public:
    explicit hsb_prepare(const hsb_stream_config& config);

  private:
    void on_version() override;
    hsb_stream_config config_;
};

/// Reads the version, checks, stops the virtual port, writes all its registers in the vendor's order and
/// starts it. When a step fails the port stays stopped.
class hsb_configure final : public hsb_program {
  public:
    explicit hsb_configure(const hsb_stream_config& config);
    /// Bytes of data in each packet; 0 before the version was read.
    std::uint32_t packet_payload() const noexcept { return payload_; }

  private:
    void on_version() override;
    void add_common();
    void add_pages();
    void add_buffers();
    hsb_stream_config config_;
    std::uint32_t payload_ = 0;
};

/// Stops the virtual port, lets what is on its way arrive (10 ms), and zeroes what hsb_configure wrote.
class hsb_unconfigure final : public hsb_program {
  public:
    hsb_unconfigure(const hsb_data_path& path, std::uint16_t ip_version);
};

/// One look whether the FPGA is there and still sends to us: version, mask and queue pair. The result is
/// errc::peer_lost, with a sentence, for an FPGA that was reset, stopped or taken over by another host; else
/// what the bus says when it does not answer.
class hsb_watch final : public hsb_program {
  public:
    hsb_watch(const hsb_data_path& path, std::uint32_t queue_pair);
    /// The FPGA answered, so its state is known.
    bool answered() const noexcept { return answered_; }

  private:
    void on_read(std::uint32_t value) override;
    std::uint32_t queue_pair_;
    bool answered_ = false;
};

} // namespace rocio::fpga
