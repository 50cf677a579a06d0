// A compiled program as a folder that needs neither tidegate nor its JSON.
#include "device/kernels.hpp"
#include "engine/execute.hpp"

namespace tidegate::engine {
namespace {

tl::unexpected<Error> no_export(std::string message, std::string fix) {
  return tl::unexpected(
      Error{.code = ErrorCode::cannot_export, .message = std::move(message), .fix = std::move(fix)});
}

// A portable file name for a buffer that no other buffer has.
std::string file_name(std::string_view name, std::string_view ending, std::set<std::string>& taken) {
  std::string plain(name);
  std::ranges::replace_if(
      plain, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  std::string file = plain + std::string(ending);
  for (std::size_t i = 2; !taken.insert(file).second; ++i) {
    file = fmt::format("{}_{}{}", plain, i, ending);
  }
  return file;
}

// A string literal of C. Octal numbers have three digits, so that no digit of the text continues one.
std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const unsigned char c : text) {
    const bool plain = std::isprint(c) != 0 && c != '"' && c != '\\' && c != '?';
    quoted += plain ? std::string(1, static_cast<char>(c)) : fmt::format("\\{:03o}", c);
  }
  return quoted + '"';
}

// Rows of unsigned numbers as an array; one row of zeros where there are none, as C has no empty arrays.
template <class Row>
std::string table(std::string_view name, const std::vector<Row>& rows) {
  using Numbers = std::array<std::uint32_t, sizeof(Row) / sizeof(std::uint32_t)>;
  std::string text = fmt::format("static const cl_uint {}[][{}] = {{\n", name, Numbers{}.size());
  for (const Row& row : rows.empty() ? std::vector<Row>(1) : rows) {
    text += fmt::format("  {{{}}},\n", fmt::join(std::bit_cast<Numbers>(row), ", "));
  }
  return text + "};\n";
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; // NOLINT: bytes of a file
}

constexpr std::string_view makefile =
    R"(# OpenCL's headers and loader: opencl-headers and ocl-icd-opencl-dev on Debian.
CFLAGS ?= -O2
program: main.c program.h
	$(CC) -std=c99 $(CFLAGS) -o $@ main.c $(LDFLAGS) -lOpenCL
run: program
	./program
clean:
	rm -f program
.PHONY: run clean
)";

std::string program_header(std::string_view title, const CompiledProgram& compiled,
                           const DispatchLimits& limits, const device::DeviceInfo& device,
                           std::string_view inputs, std::string_view outputs) {
  const LaunchTables& tables = compiled.tables;
  const Schedule& schedule = compiled.schedule;
  std::string text = "/* What main.c runs: written by `tidegate export`. */\n";
  const auto define = [&text](std::string_view name, const auto& value) {
    fmt::format_to(std::back_inserter(text), "#define {} {}\n", name, value);
  };
  define("PROGRAM", literal(title));
  define("DEVICE", literal(device.name));
  define("OPTIONS", literal(compiled.source.options));
  define("GROUP_SIZE", schedule.group_size);
  define("WORKERS", limits.workers);
  define("LOCAL_BYTES", local_room(tables));
  define("ARENA_BYTES",
         fmt::format("((size_t){}u)", std::max<std::uint64_t>(compiled.memory.arena_bytes, 1)));
  define("PHASES", schedule.phases());
  text += "\n/* What the kernel and its host share. */\n" + device::kernel_source("wave/arguments.h") +
          device::kernel_source("wave/progress_state.h");
  text += fmt::format("\n/* Of the first launch. */\nstatic const tg_numbers first = {{{}u}};\n",
                      fmt::join(numbers_of(first_numbers(compiled, limits)), "u, "));
  text += "\n/* Stages in order, the waves in each by swap phase, and what their tiles wait for. */\n";
  text += table("stages", tables.stages);
  text += table("entries", tables.entries);
  text += table("waits", tables.waits);
  text += "/* Sizes and arguments of each wave. */\nstatic const cl_ulong words[] = {\n";
  for (std::size_t i = 0; i < std::max<std::size_t>(tables.words.size(), 1); ++i) {
    text += fmt::format("  {}u,{}", i < tables.words.size() ? tables.words[i] : 0, i % 8 == 7 ? "\n" : "");
  }
  text += "\n};\n";
  text += "\n/* First contents, at bytes of the arena; all else is 0. */\n"
          "static const struct { size_t offset, bytes; const char* file; } inputs[] = {\n" +
          std::string(inputs) + "  {0, 0, \"\"}};\n";
  text +=
      "\n/* Results: bytes of the arena by swap phase, and what the file has before them. */\n"
      "static const struct { size_t offsets[PHASES], bytes, head_bytes; const char *head, *file; } outputs[] = {\n" +
      std::string(outputs) + "  {{0}, 0, 0, \"\", \"\"}};\n";
  return text;
}

} // namespace

Result<void> check_exportable(const CompiledProgram& compiled) {
  const Job& program = compiled.program;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    if (program.waves[wave].state) {
      return no_export(program.wave_text(wave) + " is a queue, whose result a host program has to check",
                       "export a program without queues");
    }
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.is_object() || buffer.is_unordered()) {
      return no_export(
          fmt::format("{} is {}", in_quotes(buffer.name), buffer.is_object() ? "an image" : "a list of hits"),
          "export a program whose waves use buffers alone");
    }
  }
  if (!compiled.schedule.fallbacks.empty()) {
    const Fallback& fallback = compiled.schedule.fallbacks.front();
    return no_export(
        fmt::format("{} is launched alone: {}", program.wave_text(fallback.wave), fallback.reason),
        "export a program whose waves share one launch");
  }
  if (!compiled.schedule.objects.empty()) {
    return no_export("its kernels take samplers", "state them in the kernels' source");
  }
  if (!compiled.persistent() || !compiled.schedule.is_one_launch()) {
    return no_export("the program does not run as one persistent launch: " + compiled.strategy.reason,
                     "give --strategy barrier");
  }
  return {};
}

Result<std::vector<WrittenFile>> export_program(const CompiledProgram& compiled, const DispatchLimits& limits,
                                                const device::DeviceInfo& device, const HostContents& first,
                                                const std::string& path) {
  const Job& program = compiled.program;
  const std::filesystem::path folder(path);
  std::error_code failed;
  std::filesystem::create_directories(folder / "data", failed);
  if (failed) {
    return failure(
        ErrorCode::cannot_write,
        fmt::format("cannot make the folder {}: {}", in_quotes((folder / "data").string()), failed.message()),
        "name another folder");
  }
  std::vector<WrittenFile> written;
  const auto write = [&](const std::string& name, std::string_view text, std::string what) -> Result<void> {
    TIDEGATE_TRY(written.emplace_back(), write_file((folder / name).string(), text, std::move(what)));
    return {};
  };
  std::set<std::string> taken;
  std::string input_rows;
  std::string output_rows;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (buffer.in_arena() && !first[i].empty()) {
      const std::string file = "data/" + file_name(buffer.name, ".bin", taken);
      TIDEGATE_CHECK(write(file, text_of(first[i]), "first contents of " + in_quotes(buffer.name)));
      input_rows +=
          fmt::format("  {{{}u, {}u, {}}},\n", compiled.memory.offsets[i], first[i].size(), literal(file));
    }
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (buffer.output) {
      const std::filesystem::path name(*buffer.output);
      const std::string file = file_name(name.stem().string(), name.extension().string(), taken);
      if (!buffer.output_head) {
        return no_export(fmt::format("{} is written in another form than in memory", in_quotes(file)),
                         "name an output .npy or .bin");
      }
      std::vector<std::uint64_t> offsets;
      for (const std::vector<std::uint32_t>& storage : compiled.schedule.storage) {
        offsets.push_back(compiled.memory.offsets[storage[i]]);
      }
      output_rows +=
          fmt::format("  {{{{{}u}}, {}u, {}u, {}, {}}},\n", fmt::join(offsets, "u, "), buffer.bytes,
                      buffer.output_head->size(), literal(*buffer.output_head), literal(file));
    }
  }
  const std::string title = (std::filesystem::absolute(path) / "").parent_path().filename().string();
  TIDEGATE_CHECK(write("kernel.cl", compiled.source.source, "generated kernel"));
  TIDEGATE_CHECK(write("program.h", program_header(title, compiled, limits, device, input_rows, output_rows),
                       "sizes and tables"));
  TIDEGATE_CHECK(write("main.c", device::kernel_file("host/main.c"), "host program"));
  TIDEGATE_CHECK(write("Makefile", makefile, "Makefile"));
  return written;
}

} // namespace tidegate::engine
