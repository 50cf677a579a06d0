// What is worth a word and no error.
#pragma once

#include <string>

namespace tidegate::compiler {

// What a program most likely does not mean.
struct Warning {
  std::string message;
  std::string fix;
  std::string pointer; // into the program
};

} // namespace tidegate::compiler
