#pragma once

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/static_peer.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rocio::test {

/// The response of CUDA-Q's test handler: every byte of the argument plus one.
inline std::vector<std::byte> incremented(std::span<const std::byte> request, std::int32_t status = 0) {
    const auto header = rpc::request_header::decode(request).value();
    std::vector<std::byte> out(rpc::response_header::size + header.arg_len);
    EXPECT_TRUE(
        (rpc::response_header{status, header.arg_len, header.request_id, header.timestamp}.encode(out)));
    for (std::size_t i = 0; i < header.arg_len; ++i)
        out[rpc::response_header::size + i] =
            static_cast<std::byte>(std::to_integer<unsigned>(request[rpc::request_header::size + i]) + 1);
    return out;
}

/// The host's end of an FPGA: a UC queue pair whose pages the FPGA writes. What is answered is the test's.
class scripted_bridge {
  public:
    struct message {
        std::uint32_t page = 0; ///< As the immediate names it.
        std::vector<std::byte> bytes{};
    };

    static constexpr std::uint32_t page_bytes = 384;

    scripted_bridge(boost::asio::io_context& context, const std::string& device_name, std::uint32_t pages)
        : context_(context),
          device_(open_device(device_name)),
          ring_(device_, std::size_t{pages} * page_bytes,
                {memory_access::local_write | memory_access::remote_write, std::uint64_t{0}}),
          replies_(device_, std::size_t{reply_slots} * 4096),
          pair_(context, device_, config()),
          pages_(pages) {}
    scripted_bridge(const scripted_bridge&) = delete;
    scripted_bridge& operator=(const scripted_bridge&) = delete;
    ~scripted_bridge() { close(); }

    std::uint32_t number() const { return pair_.number().value(); }
    std::uint32_t key() const { return ring_.remote().key.value; }
    std::uint32_t pages() const noexcept { return pages_; }

    /// `address` of the FPGA's device, `queue_pair` as it told it.
    void connect(const std::string& address, qpn queue_pair) {
        for (std::uint32_t i = 0; i < 64; ++i) post_receive();
        peer_parameters peer;
        peer.address = gid::parse(address).value();
        peer.queue_pair = queue_pair;
        async_connect(pair_, static_peer(context_, peer),
                      [this, alive = std::weak_ptr(alive_)](const error_code& ec) {
                          if (alive.expired() || closed_) return;
                          EXPECT_FALSE(ec) << ec.message();
                      });
    }
    /// Outstanding operations end.
    void close() {
        closed_ = true;
        pair_.close();
    }

    void reply(std::span<const std::byte> bytes) {
        const auto buffer = replies_.buffer((replied_++ % reply_slots) * std::size_t{4096}, bytes.size());
        std::memcpy(buffer.data, bytes.data(), bytes.size());
        pair_.async_send(buffer, [](const error_code&) {});
    }

    /// Called for each message; it is in `seen` already.
    std::function<void(const message&)> on_message = [](const message&) {};
    std::vector<message> seen{};

  private:
    static constexpr std::size_t reply_slots = 64;

    static queue_pair_config config() {
        queue_pair_config c;
        c.type = queue_pair_type::uc;
        c.first_psn = psn{0};
        c.remote_access = memory_access::remote_write;
        return c;
    }
    void post_receive() {
        pair_.async_receive(
            {}, [this, alive = std::weak_ptr(alive_)](const error_code& ec, const received_message& m) {
                if (ec || alive.expired() || closed_) return;
                take(m);
                if (!closed_) post_receive();
            });
    }
    void take(const received_message& m) {
        ASSERT_TRUE(m.by_write);
        ASSERT_TRUE(m.immediate);
        ASSERT_LT(*m.immediate, pages_);
        ASSERT_LE(m.size, page_bytes);
        const auto page = ring_.bytes().subspan(std::size_t{*m.immediate} * page_bytes, m.size);
        seen.push_back({*m.immediate, {page.begin(), page.end()}});
        on_message(message(seen.back()));
    }

    boost::asio::io_context& context_;
    std::shared_ptr<device> device_;
    memory_region ring_, replies_;
    queue_pair pair_;
    std::uint32_t pages_;
    std::size_t replied_ = 0;
    bool closed_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace rocio::test
