#pragma once

#include <rocio/types/hsb_immediate.hpp> // used by room fpga, too
