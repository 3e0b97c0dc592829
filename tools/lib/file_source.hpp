#pragma once

#include "lib/frame_file.hpp"
#include "lib/frame_source.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace rocio::tools {

/// The frames of a data file (frame_file_parser), or of standard input ("-"), each on the channel it was
/// written with. A pipe is read as it fills, a few frames ahead; a file when its frames are asked for. Not
/// thread-safe; use it on its context.
class file_source final : public frame_source {
  public:
    /// With `only_channel` a frame of another channel ends it, with an error. Throws rocio::exception: the
    /// system's codes, with the file's name.
    file_source(boost::asio::io_context& context, const std::string& file, std::size_t largest_frame,
                std::optional<std::uint8_t> only_channel = {});
    ~file_source() override;
    file_source(const file_source&) = delete;
    file_source& operator=(const file_source&) = delete;

    std::optional<made_frame> next(std::span<std::byte> slot) override;
    bool ended() const override { return at_end_ && parser_.frames().empty(); }
    void on_ready(const std::function<void()>& ready) override { ready_ = ready; }
    /// Why it ended before the file did.
    const error_info& failure() const noexcept { return failure_; }

  private:
    static constexpr std::size_t frames_ahead = 64;

    void read_file();
    void read_pipe();
    void take(std::size_t bytes, const error_code& ec);
    void fail(const error_info& why);

    std::string name_;
    std::optional<std::uint8_t> only_channel_;
    frame_file_parser parser_;
    boost::asio::posix::stream_descriptor pipe_;
    int file_ = -1; ///< A regular file, which epoll refuses and which does not block.
    std::array<std::byte, 65536> buffer_{};
    std::function<void()> ready_{};
    error_info failure_{};
    bool reading_ = false;
    bool at_end_ = false;
    std::shared_ptr<char> alive_ = std::make_shared<char>(); ///< A read that ends later finds us gone.
};

} // namespace rocio::tools
