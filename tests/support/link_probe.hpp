#pragma once

#include <rocio/soft/link.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocio::test {

/// Drives a link with texts instead of packets.
class link_probe {
  public:
    explicit link_probe(std::unique_ptr<soft::link> l) : link_(std::move(l)) {}

    soft::link& link() noexcept { return *link_; }

    /// One datagram of up to three pieces.
    std::size_t send(const soft::destination& to, std::initializer_list<std::string_view> pieces,
                     soft::time_point now = {}) {
        std::vector<std::span<const std::byte>> parts(3);
        std::transform(pieces.begin(), pieces.end(), parts.begin(),
                       [](std::string_view s) { return std::as_bytes(std::span(s)); });
        const soft::outgoing_datagram d{&to, parts[0], parts[1], parts[2]};
        return link_->send({&d, 1}, now);
    }

    /// Datagrams "0", "1", … in one call.
    std::size_t send_many(const soft::destination& to, std::size_t count, soft::time_point now = {}) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < count; ++i) texts.push_back(std::to_string(i));
        std::vector<soft::outgoing_datagram> datagrams;
        for (const auto& t : texts) datagrams.push_back({&to, std::as_bytes(std::span(t)), {}, {}});
        return link_->send(datagrams, now);
    }

    /// `count` datagrams of `size` letters, and a last one of `last`, in one train: "aaa…", "bbb…", ….
    std::size_t send_train(const soft::destination& to, std::size_t count, std::size_t size,
                           std::size_t last) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < count; ++i) texts.push_back(letters(i, i + 1 < count ? size : last));
        std::vector<soft::outgoing_datagram> datagrams;
        for (std::size_t i = 0; i < count; ++i)
            datagrams.push_back(
                {&to, std::as_bytes(std::span(texts[i])), {}, {}, static_cast<std::uint8_t>(i)});
        return link_->send(datagrams, {});
    }
    static std::string letters(std::size_t i, std::size_t size) {
        return std::string(size, static_cast<char>('a' + i));
    }

    /// The next datagram as text; "" when there is none.
    std::string receive(soft::time_point now = {}) {
        soft::received_datagram d;
        if (link_->receive({&d, 1}, now) == 0) return {};
        source_ = d.source;
        source_port_ = d.source_port;
        return {reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()};
    }
    std::vector<std::string> receive_all(soft::time_point now = {}) {
        std::vector<std::string> all;
        for (std::string text; !(text = receive(now)).empty();) all.push_back(text);
        return all;
    }
    const gid& last_source() const noexcept { return source_; }
    std::uint16_t last_source_port() const noexcept { return source_port_; }

    std::uint64_t counter(std::string_view name) const {
        std::vector<device_snapshot::counter> all;
        link_->append_counters(all);
        for (const auto& c : all)
            if (c.name == name) return c.value;
        ADD_FAILURE() << "no counter " << name;
        return 0;
    }

  private:
    std::unique_ptr<soft::link> link_;
    gid source_{};
    std::uint16_t source_port_ = 0;
};

} // namespace rocio::test
