// Programs speak of element types and files of arrays all the time: their names are known here.
#pragma once

namespace tidegate::arrays {}

namespace tidegate::compiler {
using namespace arrays;
} // namespace tidegate::compiler
