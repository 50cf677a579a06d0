// What the fuzz targets share: the function that libFuzzer or driver.cpp calls with an input, and checks that
// end the process, which both take for a finding.
#pragma once

#include "core/json.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace tidegate::fuzz {

using Target = int (*)(const std::uint8_t* data, std::size_t size);
inline std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}

inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
  }
}

// What an error about hostile input must be: a bug of ours never, safe on a terminal, and JSON.
inline void require_sound(const Error& error) {
  require(error.code != ErrorCode::internal_error, "no input makes an internal error");
  require(!error.message.empty(), "an error has a message");
  const std::string text = describe(error);
  std::string lines;
  for (const char c : text) {
    lines += c == '\n' || c == '\t' ? ' ' : c;
  }
  require(printable(lines) == lines, "the text of an error is printable");
  require(documents::JsonParser().parse(documents::encode(error)).has_value(), "an error is JSON");
  for (const Error& other : error.others) {
    require(other.others.empty(), "the others of an error have none");
    require_sound(other);
  }
}

} // namespace tidegate::fuzz

#ifdef TIDEGATE_LIBFUZZER
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
#else
#define FUZZ_TARGET(name)                                                                                    \
  int fuzz_##name(const std::uint8_t* data, std::size_t size);                                               \
  const bool name##_is_a_target = tidegate::fuzz::targets().emplace(#name, fuzz_##name).second;              \
  int fuzz_##name(const std::uint8_t* data, std::size_t size)
#endif
