#pragma once

namespace rocio::test {

/// How often a program of the label `soak` repeats what it does: its argument `--count`. Link soak_main.cpp.
unsigned long soak_count();

} // namespace rocio::test
