#include <rocio/async/asio_abi.hpp>

namespace rocio::abi {

const char ROCIO_ASIO_ABI = 0;

}
