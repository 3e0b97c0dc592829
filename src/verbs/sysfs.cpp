#include "verbs/sysfs.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

namespace rocio::verbs {

namespace fs = std::filesystem;

namespace {

std::string first_line(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::optional<std::uint64_t> number_in(const fs::path& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    if (in >> value) return value;
    return std::nullopt;
}

/// Sorted, because folders are not.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> out;
    std::error_code ec;
    for (fs::directory_iterator i(folder, ec), end; !ec && i != end; i.increment(ec))
        out.push_back(i->path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace

fs::path sysfs::port_folder(std::string_view device, std::uint8_t port) const {
    return root_ / "class/infiniband" / device / "ports" / std::to_string(port);
}

std::vector<std::string> sysfs::devices() const {
    return names_in(root_ / "class/infiniband");
}

bool sysfs::has_uverbs() const {
    const auto names = names_in(root_ / "class/infiniband_verbs");
    return std::any_of(names.begin(), names.end(),
                       [](const auto& name) { return name.starts_with("uverbs"); });
}

std::string sysfs::netdev(std::string_view device, std::uint8_t port) const {
    const fs::path attributes = port_folder(device, port) / "gid_attrs/ndevs";
    for (const auto& index : names_in(attributes))
        if (auto name = first_line(attributes / index); !name.empty()) return name;

    const fs::path folder = root_ / "class/infiniband" / device;
    if (auto name = first_line(folder / "parent"); !name.empty()) return name;

    for (const auto& name : names_in(folder / "device/net"))
        if (number_in(folder / "device/net" / name / "dev_port").value_or(0) + 1 == port) return name;
    return {};
}

std::uint32_t sysfs::netdev_mtu(const std::string& netdev) const {
    if (netdev.empty()) return 0;
    return static_cast<std::uint32_t>(number_in(root_ / "class/net" / netdev / "mtu").value_or(0));
}

std::vector<device_snapshot::counter> sysfs::counters(std::string_view device, std::uint8_t port) const {
    std::vector<device_snapshot::counter> out;
    const fs::path folder = port_folder(device, port) / "hw_counters";
    for (const auto& name : names_in(folder)) {
        if (name == "lifespan") continue; // how long the kernel keeps them, not a count
        if (const auto value = number_in(folder / name)) out.push_back({"hw_counters." + name, *value});
    }
    return out;
}

} // namespace rocio::verbs
