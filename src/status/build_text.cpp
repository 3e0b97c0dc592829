#include "build_text.hpp"

// g++ defines a macro for each sanitizer, clang answers a question; it has none for undefined behaviour.
#ifdef __has_feature
#define ROCIO_HAS_FEATURE(name) __has_feature(name)
#else
#define ROCIO_HAS_FEATURE(name) 0
#endif

namespace rocio::detail {

namespace {

std::string compiler() {
#if defined(__clang__)
    return "clang++ " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
           std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
    return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
           std::to_string(__GNUC_PATCHLEVEL__);
#else
    return "unknown compiler";
#endif
}

} // namespace

std::string build_text() {
    std::string text = compiler();
#ifdef __OPTIMIZE__
    text += ", optimised";
#else
    text += ", not optimised";
#endif
#ifndef NDEBUG
    text += ", assertions";
#endif
#if defined(__SANITIZE_ADDRESS__) || ROCIO_HAS_FEATURE(address_sanitizer)
    text += ", address sanitizer";
#endif
#if defined(__SANITIZE_THREAD__) || ROCIO_HAS_FEATURE(thread_sanitizer)
    text += ", thread sanitizer";
#endif
    return text;
}

} // namespace rocio::detail
