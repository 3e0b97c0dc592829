#pragma once

#include "seam_end.hpp"

#include <rocio/verbs/verbs_device.hpp>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace rocio::test {

/// The devices under test: ROCIO_TEST_DEVICE is "rxe0,rxe1", or one name that is its own peer.
struct test_devices {
    std::string first, second;

    static test_devices from_environment() {
        const char* text = std::getenv("ROCIO_TEST_DEVICE");
        if (text == nullptr || *text == '\0')
            throw std::runtime_error("set ROCIO_TEST_DEVICE to one or two RDMA devices, such as rxe0,rxe1");
        const std::string names = text;
        const auto comma = names.find(',');
        if (comma == std::string::npos) return {names, names};
        return {names.substr(0, comma), names.substr(comma + 1)};
    }
    static std::shared_ptr<verbs_device> open(const std::string& name) {
        std::shared_ptr<verbs_device> out;
        throw_if(verbs_device::open(name, out));
        return out;
    }
    static std::shared_ptr<verbs_device> open_first() { return open(from_environment().first); }
};

/// Two connected ends, each on an open device of its own.
struct verbs_pair {
    explicit verbs_pair(const seam_end_options& a_options = {}, const seam_end_options& b_options = {})
        : a(test_devices::open(test_devices::from_environment().first), a_options),
          b(test_devices::open(test_devices::from_environment().second), b_options) {
        connect_ends(a, b);
    }
    explicit verbs_pair(queue_pair_type type) : verbs_pair(of_type(type), of_type(type)) {}

    static seam_end_options of_type(queue_pair_type type) {
        seam_end_options out;
        out.type = type;
        return out;
    }

    seam_end a, b;
};

} // namespace rocio::test
