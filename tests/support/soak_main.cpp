#include "soak_count.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

unsigned long given_count = 0;

} // namespace

unsigned long rocio::test::soak_count() {
    return given_count;
}

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    if (argc == 3 && std::string_view(argv[1]) == "--count") given_count = std::strtoul(argv[2], nullptr, 10);
    if (given_count > 0) return RUN_ALL_TESTS();
    std::cerr << "usage: " << argv[0] << " --count N: how often to repeat, at least once\n";
    return 2;
}
