#include <rocio/stream/receive_server_text.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace rocio {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

receive_server_snapshot connected() {
    receive_server_snapshot s;
    s.name = "camera";
    s.device = "mlx5_0";
    s.gid_index = 3;
    s.host_qpn = 0x1234;
    s.host_gid = "0000:0000:0000:0000:0000:ffff:0a00:0001";
    s.fpga_gid = "0000:0000:0000:0000:0000:ffff:0a00:0002";
    s.mr_addr = 0x7f0000001000;
    s.mr_rkey = 0xABC;
    s.mr_len = 2304000;
    s.max_payload = 9000;
    s.rx_queue_depth = 256;
    s.fpga_qpn = 0x10203;
    s.fpga_lkey = 0x11112222;
    s.rnr_retry = 7;
    s.retry_count = 3;
    return s;
}

TEST(receive_server_text, construction_is_one_line_with_all_that_was_chosen) {
    EXPECT_EQ(construction_text(connected()), "RoCEv2 receive server \"camera\": device mlx5_0, port 1, GID "
                                              "index 3, max payload 9000, queue depth 256");
}

TEST(receive_server_text, connection_info_is_eight_lines) {
    const auto text = connection_info_text(connected());
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
    EXPECT_THAT(text, HasSubstr("Host QPN       : 0x001234\n"));
    EXPECT_THAT(text, HasSubstr("MR address     : 0x00007f0000001000\n"));
    EXPECT_THAT(text, HasSubstr("MR rkey        : 0x00000abc\n"));
    EXPECT_THAT(text, HasSubstr("FPGA lkey      : 0x11112222\n"));
    EXPECT_THAT(text, HasSubstr("MR length      : 2304000"));
}

TEST(receive_server_text, summary_names_every_parameter_with_code_and_meaning) {
    const auto text = connect_summary_text(connected());
    EXPECT_THAT(text, StartsWith("RoCEv2 connection of \"camera\"\n"));
    for (const char* part :
         {"mlx5_0, port 1, GID index 3", "Host state     : RTS", "0x001234", "0x010203", "0x11112222",
          "2304000 bytes, 256 slots x 9000 bytes", "5 (4096 bytes)", "12 (0.64 ms)", "RNR retry      : 7",
          "Retry count    : 3", "0a00:0001", "0a00:0002"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, ::testing::EndsWith("\n  Ready to receive"));
}

} // namespace
} // namespace rocio
