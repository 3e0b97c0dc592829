// Links against the library only if both were built with the same Asio.

#include <rocio/async/asio_abi.hpp>

int main() {
    return rocio::abi::required == nullptr;
}
