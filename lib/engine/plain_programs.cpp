#include "engine/plain_programs.hpp"

#include "core/files.hpp"
#include "device/driver_output.hpp"
#include "engine/generate.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using device::require;

// Prefix of the size checks for values; wave, argument and bytes follow.
constexpr std::string_view value_size_check = "tg_size_of_argument_";

// A text of a program's own that a driver compiles, and its options.
struct DriverSource {
  std::string text;
  std::string options;
};

// The user's file with the program's options plus include folders, for the driver's preprocessor, which does not know
// them; if drivers would take the name of a folder apart, the text after tidegate's preprocessor.
DriverSource users_source(const ProgramUnit& unit, const std::string& folder, const std::string& text) {
  DriverSource source{.text = unit.frame.before + opencl_c::line_directive(1, unit.path) + text + "\n" +
                              unit.frame.after,
                      .options = unit.options};
  std::vector<std::string> folders{std::filesystem::path(unit.path).parent_path().string()};
  for (const std::string& include : unit.parsed_options.include_folders) {
    folders.push_back((std::filesystem::path(folder) / include).string());
  }
  for (const std::string& include : folders) {
    if (include.find_first_of(" \"\\") != std::string::npos) {
      source = {.text = opencl_c::preprocessed_text(unit.unit), .options = ""};
      if (!unit.parsed_options.language_standard.empty()) {
        source.options = "-cl-std=" + unit.parsed_options.language_standard;
      }
      for (const std::string& option : unit.parsed_options.others) {
        source.options += " " + option;
      }
      break;
    }
    source.options += fmt::format(" -I {}", include.empty() ? "." : include);
  }
  return source;
}

// Emits size checks for values that are neither scalars nor vectors: drivers accept values of another size
// and read past them. at_source() parses the names.
std::string size_checks(const Job& program, const std::vector<std::uint32_t>& waves, std::uint32_t unit) {
  std::string checks;
  for (const std::uint32_t wave : waves) {
    const std::uint32_t op = program.waves[wave].op;
    const auto& arguments = program.waves[wave].arguments;
    const auto& parameters =
        program.function(op).parameters; // the user's: one of several ranks adds arguments
    const std::size_t count =
        program.ops[op].unit == unit ? std::min(arguments.size(), parameters.size()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& type = parameters[i].type;
      if (arguments[i].kind == ProgramArgument::Kind::value && !opencl_c::arithmetic_type(type)) {
        checks += fmt::format("typedef char {}{}_{}_{}[sizeof({}) == {} ? 1 : -1];\n", value_size_check, wave,
                              i, arguments[i].value.size(), type, arguments[i].value.size());
      }
    }
  }
  return checks.empty() ? checks : "\n#line 1 \"tidegate/arguments.cl\"\n" + checks;
}

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

// Converts the failure of a source that was compiled alone.
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
  if (const auto missing = error.line ? std::nullopt : device::unresolved_function(*error.log)) {
    opencl_c::place_missing_function(program.units[unit].unit, *missing, error);
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

} // namespace

PlainPrograms::PlainPrograms(const device::Session& session, const Job& program,
                             const std::vector<std::uint32_t>& waves,
                             const std::map<std::uint32_t, std::string>& instead)
    : session_(session), program_(program) {
  for (const std::uint32_t wave : waves) {
    const std::uint32_t unit = program.ops[program.waves[wave].op].unit;
    if (units_.contains(unit)) {
      continue;
    }
    constexpr std::size_t most = std::size_t{64} << 20U;
    const auto given = instead.find(unit);
    const std::string& built_in = program.units[unit].built_in;
    const std::string& rewritten = program.units[unit].rewritten;
    DriverSource source{.text = given != instead.end() ? given->second
                                : built_in.empty()     ? rewritten
                                                       : built_in,
                        .options = program.units[unit].options};
    if (source.text.empty()) {
      auto text = read_all(program.units[unit].path, most);
      if (!text) {
        throw device::Refused{text.error()};
      }
      source = users_source(program.units[unit], program.folder, std::string(without_byte_order_mark(*text)));
    } else {
      source.text = opencl_c::line_directive(1, program.units[unit].path) + source.text;
    }
    auto built = session.build(contraction_pragma(program) + source.text + size_checks(program, waves, unit),
                               source.options);
    if (!built) {
      throw device::Refused{at_source(program, unit, std::move(built.error()))};
    }
    units_.emplace(unit, std::move(*built));
  }
}

device::Kernel PlainPrograms::kernel(std::uint32_t op) const {
  const std::string& name = program_.function(op).name;
  return require(session_.make_kernel(units_.at(program_.ops[op].unit), name),
                 "making the kernel " + in_quotes(name));
}

device::Status Launcher::launch(const device::Kernel& kernel, const device::LaunchRange& range,
                                std::uint32_t op, const std::string& before, device::Event* event) {
  const bool first = session_.on_host && compiled_.emplace(op, range.local).second;
  device::Event launched;
  event = first && event == nullptr ? &launched : event;
  if (first) {
    require(session_.finish(), "running the waves before " + before);
  }
  const device::Status status = session_.launch(kernel, range, event);
  compile_ns_ += first && status == device::success ? device::time_before_start(session_, *event) : 0;
  return status;
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
