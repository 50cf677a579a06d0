// Any lines as the arguments of a command line, as an amount of bytes and as options of a compiler:
// understood, or refused with a sound error. Nothing is run.
#include "app/command_line.hpp"
#include "fuzz.hpp"
#include "opencl_c/preprocessor.hpp"
#include <tidegate/core/text.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace tidegate;

namespace {

template <class T>
void require_sound(const Result<T>& result) {
  if (!result) {
    fuzz::require_sound(result.error());
  }
}

} // namespace

FUZZ_TARGET(options) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    arguments.emplace_back(line.substr(0, line.find('\0'))); // as a process gets them
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    require_sound(parse_bytes(line));
    require_sound(opencl_c::parse_compiler_options(line));
  }
  require_sound(app::parse(std::move(arguments)));
  return 0;
}
