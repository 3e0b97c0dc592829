#pragma once

/// Compiles a function once for AVX2 and once for any x86-64 and lets the loader choose. Not under
/// sanitizers, whose instrumentation would run in the loader's resolver before their start-up.
#if defined(__x86_64__) && defined(__linux__) && !defined(ROCIO_SANITIZED)
#define ROCIO_TARGET_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define ROCIO_TARGET_CLONES
#endif
