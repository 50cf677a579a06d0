#include "engine/source_errors.hpp"

#include "device/driver_output.hpp"
#include "engine/plain_waves.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// Returns the file of the unit that the compiler names, possibly with another spelling of the path.
std::optional<std::string> file_of(const ProgramUnit& unit, const std::string& name) {
  const auto found = std::ranges::find_if(unit.files, [&name](const std::string& file) {
    std::error_code unknown;
    return file == name || std::filesystem::equivalent(file, name, unknown);
  });
  return found == unit.files.end() ? std::nullopt : std::optional(*found);
}

// Returns the error for a value that differs in size from its parameter, if a size check failed.
std::optional<Error> wrong_size(const Job& program, std::string_view log) {
  const std::size_t at = log.find(value_size_check);
  if (at == std::string_view::npos) {
    return {};
  }
  std::array<std::uint32_t, 3> numbers{}; // wave, argument, bytes
  const char* place = log.data() + at + value_size_check.size() - 1;
  for (std::uint32_t& number : numbers) {
    place = std::from_chars(place + 1, log.data() + log.size(), number).ptr;
  }
  const auto [wave, argument, bytes] = numbers;
  const std::uint32_t op = program.waves.at(wave).op;
  return Error{.code = ErrorCode::argument_mismatch,
               .message = fmt::format(
                   "the argument has {}, {} has another size on this device", plural(bytes, "byte"),
                   in_quotes(opencl_c::resolved_text(program.units[program.ops[op].unit].unit,
                                                     program.function(op).parameters.at(argument)))),
               .fix = "give {\"bytes\": …}, as many as sizeof says there, padding included",
               .pointer = fmt::format("{}/args/{}", program.wave_pointer(wave), argument)};
}

} // namespace

void place_missing_function(const opencl_c::TokenStream& source, Error& error) {
  const std::optional<std::string> name = device::unresolved_function(*error.log);
  const auto call = std::ranges::find_if(
      source.tokens, [&name](const opencl_c::Token& token) { return name && token.text == *name; });
  if (call != source.tokens.end()) {
    error.source = source.files[call->file];
    error.line = call->line;
    error.column = call->column;
    error.message = fmt::format("function '{}' is declared nowhere", *name);
    error.fix = "correct the kernel";
  }
}

Error at_source(const Job& program, std::uint32_t unit, Error error) {
  if (error.code == ErrorCode::kernel_options) {
    const auto op = std::ranges::find(program.ops, unit, &ProgramOp::unit);
    error.message =
        "the compiler of the device refuses the options " + in_quotes(program.units[unit].options);
    error.pointer = "/ops/" + pointer_token(op->name) + "/options";
  }
  if (error.code != ErrorCode::build_failure || !error.log) {
    return error; // failed before compilation
  }
  if (auto wrong = wrong_size(program, *error.log)) {
    return *std::move(wrong);
  }
  error.code = ErrorCode::kernel_source;
  if (!error.line) {
    place_missing_function(program.units[unit].unit.source, error);
  }
  if (!error.line) {
    error.source = program.units[unit].path;
    error.message = "the compiler of the device refuses this source";
    error.fix = "its log says why";
    return error;
  }
  const auto file = file_of(program.units[unit], *error.source);
  if (file) {
    error.source = file;
    error.fix = "correct the kernel"; // also if a user's file is named like one of tidegate's
    error = with_line_of(program.units[unit].files, std::move(error), ColumnCounts::bytes);
  }
  return error;
}

Error blame_sources(const device::Session& session, const Job& program, Error build_failure) {
  std::vector<std::uint32_t> waves;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    waves.push_back(wave);
  }
  try {
    const PlainPrograms by_themselves(session, program, waves);
  } catch (device::Refused& refused) {
    return std::move(refused.error);
  }
  build_failure.fix =
      build_failure.code == ErrorCode::build_failure ? device::fix_of_own_kernels : build_failure.fix;
  return build_failure;
}

} // namespace tidegate::engine
