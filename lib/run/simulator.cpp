// Oclgrind's side of bounds.hpp: finding it, running this tool in it, reading what it says.
#include <tidegate/core/files.hpp>
#include <tidegate/core/program.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/run/bounds.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace tidegate::run {
namespace {

// The line without its end, cut from the text.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// What stands behind a word that the line has, or nothing.
std::string_view behind(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + word.size());
}

// A folder of its own, gone when it goes.
struct ScratchFolder {
  std::filesystem::path path;
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tidegate-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      path = name;
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

Result<void> write_file(const std::filesystem::path& path, const std::string& text) {
  TIDEGATE_TRY(Output file, Output::open(path.string()));
  TIDEGATE_CHECK(file.write(text));
  return file.commit();
}

} // namespace

std::string find_simulator() {
  if (const char* const given = std::getenv("TIDEGATE_OCLGRIND"); given != nullptr) {
    return given;
  }
  for (const char* const candidate :
       {"/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so",
        "/usr/lib64/oclgrind/liboclgrind-rt-icd.so"}) {
    if (std::error_code ignored; std::filesystem::exists(candidate, ignored)) {
      return candidate;
    }
  }
  return {};
}

std::vector<SimulatorFinding> parse_simulator_log(std::string_view log) {
  std::vector<SimulatorFinding> findings;
  SimulatorFinding current;
  const auto finish = [&] {
    const auto alike = [&](const SimulatorFinding& other) {
      return other.kernel == current.kernel && other.file == current.file && other.line == current.line &&
             other.message.substr(0, other.message.find(" at ")) ==
                 current.message.substr(0, current.message.find(" at "));
    };
    if (!current.message.empty() && std::ranges::none_of(findings, alike)) {
      findings.push_back(current);
    }
    current = {};
  };
  while (!log.empty()) {
    const std::string_view line = next_line(log);
    if (line.starts_with("Invalid ") || line.starts_with("Work-group divergence") ||
        line.starts_with("Uninitialized ")) {
      finish();
      current.message = line;
    } else if (const auto kernel = behind(line, "\tKernel: "); !kernel.empty()) {
      current.kernel = kernel;
    } else if (const auto entity = behind(line, "\tEntity: "); !entity.empty()) {
      current.work_item = entity;
    } else if (const auto place = behind(line, "\tAt line "); !place.empty()) {
      std::from_chars(place.data(), place.data() + place.size(), current.line);
      current.file = behind(place, " of ");
      if (current.file.ends_with(':')) {
        current.file.pop_back();
      }
    }
  }
  finish();
  return findings;
}

Result<std::vector<SimulatorFinding>> run_in_simulator(const std::string& runtime, const std::string& folder,
                                                       const std::vector<std::string>& command,
                                                       std::string_view input) {
  const ScratchFolder scratch;
  const std::string log = (scratch.path / "log").string();
  TIDEGATE_CHECK(write_file(scratch.path / "oclgrind.icd", runtime + '\n'));
  std::vector<std::string> whole{"env",
                                 "--chdir=" + folder,
                                 "OCL_ICD_VENDORS=" + scratch.path.string() + "/",
                                 "OCL_ICD_FILENAMES=",
                                 "OCLGRIND_LOG=" + log,
                                 "OCLGRIND_UNINITIALIZED=0",
                                 "OCLGRIND_DATA_RACES=0"};
  whole.insert(whole.end(), command.begin(), command.end());
  const auto ran = filter(whole, input);
  constexpr std::size_t most = std::size_t{64} << 20U;
  const auto text = read_all(log, most);
  auto findings = text ? parse_simulator_log(*text) : std::vector<SimulatorFinding>();
  if (!ran && findings.empty()) {
    return tl::unexpected(ran.error());
  }
  return findings;
}

} // namespace tidegate::run
