#pragma once

#include <rocio/io/thread_placement.hpp>

#include <pthread.h>

namespace rocio {

/// As place_this_thread(), for any thread.
error_info place_thread(pthread_t thread, const thread_placement& placement);

} // namespace rocio
