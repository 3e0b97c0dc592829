#include "verbs/sysfs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace rocio::verbs {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A sysfs of the test's own.
class Sysfs : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "rocio_sysfs_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root_ = name;
    }
    void TearDown() override { fs::remove_all(root_); }

    void file(const std::string& path, const std::string& text) {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    void nic_port(const std::string& device, const std::string& path, const std::string& text) {
        file("class/infiniband/" + device + "/" + path, text);
    }

    fs::path root_;
    sysfs tree() const { return sysfs(root_); }
};

TEST_F(Sysfs, AnEmptyOneKnowsNothingAndDoesNotThrow) {
    EXPECT_THAT(tree().devices(), IsEmpty());
    EXPECT_FALSE(tree().has_uverbs());
    EXPECT_EQ(tree().netdev("mlx5_0", 1), "");
    EXPECT_EQ(tree().netdev_mtu("eth0"), 0U);
    EXPECT_EQ(tree().netdev_mtu(""), 0U);
    EXPECT_THAT(tree().counters("mlx5_0", 1), IsEmpty());
}

TEST_F(Sysfs, ListsDevicesSorted) {
    for (const char* name : {"rxe0", "mlx5_1", "mlx5_0"}) nic_port(name, "node_type", "1: CA\n");
    EXPECT_THAT(tree().devices(), ElementsAre("mlx5_0", "mlx5_1", "rxe0"));
}

TEST_F(Sysfs, UverbsIsThereWhenADeviceOfItIs) {
    file("class/infiniband_verbs/abi_version", "6\n");
    EXPECT_FALSE(tree().has_uverbs());
    file("class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
    EXPECT_TRUE(tree().has_uverbs());
}

TEST_F(Sysfs, TheInterfaceOfAPortComesFromTheGidAttributes) {
    nic_port("mlx5_0", "ports/1/gid_attrs/ndevs/0", "");
    nic_port("mlx5_0", "ports/1/gid_attrs/ndevs/1", "eth2\n");
    nic_port("mlx5_0", "ports/2/gid_attrs/ndevs/0", "eth3\n");
    EXPECT_EQ(tree().netdev("mlx5_0", 1), "eth2");
    EXPECT_EQ(tree().netdev("mlx5_0", 2), "eth3");
}

TEST_F(Sysfs, WithAnEmptyGidTableASoftwareDeviceStillNamesItsParent) {
    nic_port("rxe0", "ports/1/gid_attrs/ndevs/0", "");
    nic_port("rxe0", "parent", "veth0\n");
    EXPECT_EQ(tree().netdev("rxe0", 1), "veth0");
}

TEST_F(Sysfs, WithAnEmptyGidTableANicIsFoundByItsNetworkPort) {
    nic_port("mlx4_0", "device/net/ens1/dev_port", "0\n");
    nic_port("mlx4_0", "device/net/ens1d1/dev_port", "1\n");
    EXPECT_EQ(tree().netdev("mlx4_0", 1), "ens1");
    EXPECT_EQ(tree().netdev("mlx4_0", 2), "ens1d1");
    EXPECT_EQ(tree().netdev("mlx4_0", 3), "");
}

TEST_F(Sysfs, TellsTheMtu) {
    file("class/net/eth0/mtu", "9000\n");
    file("class/net/odd/mtu", "many\n");
    EXPECT_EQ(tree().netdev_mtu("eth0"), 9000U);
    EXPECT_EQ(tree().netdev_mtu("odd"), 0U);
}

TEST_F(Sysfs, CountersHaveTheKernelsNamesWithTheirGroup) {
    nic_port("rxe0", "ports/1/hw_counters/sent_pkts", "18446744073709551615\n");
    nic_port("rxe0", "ports/1/hw_counters/duplicate_request", "3\n");
    nic_port("rxe0", "ports/1/hw_counters/lifespan", "10\n");
    nic_port("rxe0", "ports/1/hw_counters/strange", "N/A\n");
    nic_port("rxe0", "ports/2/hw_counters/other", "1\n");
    const auto found = tree().counters("rxe0", 1);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "hw_counters.duplicate_request");
    EXPECT_EQ(found[0].value, 3U);
    EXPECT_EQ(found[1].name, "hw_counters.sent_pkts");
    EXPECT_EQ(found[1].value, ~std::uint64_t{0});
}

} // namespace
} // namespace rocio::verbs
