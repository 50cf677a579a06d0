// Running speaks of compiled programs all the time: their names are known here.
#pragma once

#include <tidegate/compiler/arrays.hpp>

namespace tidegate::run {
using namespace compiler;
} // namespace tidegate::run
