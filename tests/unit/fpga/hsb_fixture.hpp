#pragma once

#include "program_driver.hpp"
#include "register_map.hpp"

#include <rocio/fpga/hsb_configuration.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rocio::fpga {

inline void PrintTo(const register_step& s, std::ostream* out) {
    static constexpr const char* kinds[] = {"read", "write", "pause", "end"};
    *out << kinds[static_cast<std::size_t>(s.what)] << std::hex << " 0x" << s.address << " = 0x" << s.value
         << std::dec;
}

/// Programs run against a map of registers, with sensor 1 of data plane 1 so that no address is a default.
class hsb_programs : public ::testing::Test {
  protected:
    static constexpr std::uint32_t hif = 0x02010300, vp = 0x1080, sif = 0x01010000, mask = 4;

    static hsb_stream_config stream() {
        hsb_stream_config c;
        c.path = hsb_data_path::of({1, 1, 2});
        c.frame_size = 1000;
        c.page_size = 1024 + 128;
        c.pages = 4;
        c.mtu = 1500;
        c.mac = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66};
        c.host = {192, 168, 0, 101};
        c.queue_pair = 0x112233;
        c.remote_key = 0xAABBCCDD;
        return c;
    }
    void be(std::uint16_t version) { board.values[hsb::version] = 0xABCD0000U | version; }

    test::register_map board;
    test::program_driver driver{board};
};

} // namespace rocio::fpga
