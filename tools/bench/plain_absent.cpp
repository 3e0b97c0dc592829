#include "bench/pair_bench.hpp"

#include <rocio/types/error.hpp>

namespace rocio::tools {

measurement run_plain_verbs(const pair_bench_config&) {
    throw exception(
        {errc::verbs_not_built, "--plain needs libibverbs, but this rocio was built with -DROCIO_VERBS=OFF"});
}

} // namespace rocio::tools
