#include "open/verbs_part.hpp"

namespace rocio {

error_info open_verbs(std::string_view name, const open_options&, std::shared_ptr<device>&) {
    return {errc::verbs_not_built,
            "No RDMA devices found: \"" + std::string(name) +
                "\" not found, because names such as mlx5_0 and rxe0 need libibverbs and a Linux build with "
                "ROCIO_VERBS=ON; this build opens soft devices: soft:127.0.0.2 needs no hardware"};
}

void append_verbs_devices(std::vector<device_description>&) {}

std::string why_no_verbs_devices() {
    return "not in this build: mlx5_0, rxe0 and the like need libibverbs and a build with ROCIO_VERBS=ON";
}

} // namespace rocio
