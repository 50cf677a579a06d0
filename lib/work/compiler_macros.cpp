#include "work/compiler_macros.hpp"

#include "core/files.hpp"
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::engine {
namespace {

using opencl_c::PredefinedMacros;

// Questions are "name X" and "condition X". An answer is "0", "1" (with a defined name's replacement) or, of a condition,
// "refused".
using Answers = std::map<std::string, std::string>;
constexpr std::string_view name_question = "name ";
constexpr std::string_view condition_question = "condition ";
constexpr std::string_view refused_condition = "refused";

// Returns a program whose text has a line per answer; `quoted` includes the replacements of names.
std::string program_text(std::span<const std::string> questions, bool quoted) {
  // Uses no variadic macros, which NVIDIA's compiler rejects in OpenCL C 1.2. A name that expands to a comma
  // fails alone and is left to the compiler.
  std::string source = "#define TG_QUOTED(text) #text\n"
                       "#define TG_EXPANDED(text) TG_QUOTED(text)\n"
                       "constant char tg_answers[] = \"\"\n";
  for (const std::string& question : questions) {
    const std::string text = question.substr(question.find(' ') + 1);
    const bool value = quoted && !opencl_c::is_condition_operator(text);
    source += question.starts_with(condition_question) ? fmt::format("#if {}\n\"1\"\n", text)
              : value ? fmt::format("#ifdef {0}\n\"1\" TG_EXPANDED({0})\n", text)
                      : fmt::format("#ifdef {0}\n\"1{0}\"\n", text);
    source += "#else\n\"0\"\n#endif\n\"\\n\"\n";
  }
  return source + ";\n"
                  "kernel void tg_answer(global uint* size, global char* text, uint most) {\n"
                  "  *size = sizeof tg_answers;\n"
                  "  for (uint i = 0; i < sizeof tg_answers && i < most; ++i) text[i] = tg_answers[i];\n"
                  "}\n";
}

// Returns the text from the built program. Throws device::Refused.
std::string run_query(const device::Session& session, const device::Program& program) {
  constexpr std::uint32_t room = std::uint32_t{4} << 20U; // more than any driver predefines
  const auto kernel = session.make_kernel(program, "tg_answer");
  std::array<std::uint32_t, 1> size{};
  const device::Buffer size_buffer = session.allocate(sizeof size);
  const device::Buffer text_buffer = session.allocate(room);
  session.set(kernel, 0, size_buffer, text_buffer, room);
  session.launch(kernel, device::work_groups(1, 1));
  session.read(size_buffer, 0, std::as_writable_bytes(std::span(size)));
  std::string text(std::min(size[0], room), '\0');
  session.read(text_buffer, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Asks all questions together or, if the compiler fails, each half separately. A single question that fails
// is a name that cannot be quoted, or an invalid condition.
Result<void> ask(const device::Session& session, const std::string& options,
                 std::span<const std::string> questions, bool quoted, Answers& answers) {
  auto program = session.build(program_text(questions, quoted), options);
  if (program) {
    std::istringstream lines(run_query(session, *program));
    for (const std::string& question : questions) {
      std::getline(lines, answers[question]);
    }
    return {};
  }
  if (questions.size() > 1) {
    const std::size_t half = questions.size() / 2;
    return ask(session, options, questions.first(half), quoted, answers).and_then([&] {
      return ask(session, options, questions.subspan(half), quoted, answers);
    });
  }
  if (questions.size() == 1 && questions.front().starts_with(condition_question)) {
    answers[questions.front()] = refused_condition;
    return ask(session, options, {}, quoted, answers); // fails if something else is wrong
  }
  return quoted && !questions.empty() ? ask(session, options, questions, false, answers)
                                      : tl::unexpected(std::move(program.error()));
}

// Reads the answers that a process has kept.
Answers read_answers(const std::filesystem::path& path) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20U;
  const auto kept = nlohmann::json::parse(read_all(path.string(), most_bytes).value_or(""), nullptr, false);
  Answers answers;
  for (auto each = kept.begin(); kept.is_object() && each != kept.end(); ++each) {
    if (each->is_string()) {
      answers[each.key()] = each->get<std::string>();
    }
  }
  return answers;
}

// A compiler: a device with options.
class Compiler {
public:
  Compiler(const device::DeviceInfo& device, std::string options, const std::filesystem::path& folder)
      : device_(device), options_(std::move(options)) {
    if (!folder.empty()) {
      entry_ = folder / fmt::format("macros-{}.json", hash_of(device::cache_key(device) + options_));
      answers_ = read_answers(entry_);
    }
  }

  Result<void> answer(PredefinedMacros& macros) {
    std::vector<std::string> open;
    const auto need = [&](std::string_view kind, const auto& texts) {
      for (const auto& text : texts) {
        if (std::string question = fmt::format("{}{}", kind, text); !answers_.contains(question)) {
          open.push_back(std::move(question));
        }
      }
    };
    need(name_question, macros.unknown_names);
    need(condition_question, macros.unknown_conditions);
    if (!open.empty() && !session_) {
      TIDEGATE_TRY(session_, device::open_session(device_));
    }
    if (!open.empty()) {
      try {
        TIDEGATE_CHECK(ask(*session_, options_, open, true, answers_));
      } catch (device::Refused& refused) {
        return tl::unexpected(std::move(refused.error));
      }
      (void)keep_file(entry_,
                      nlohmann::json(answers_).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    }
    for (const std::string& name : std::exchange(macros.unknown_names, {})) {
      const std::string& found = answers_.at(fmt::format("{}{}", name_question, name));
      macros.names[name] = found.starts_with('1') ? std::optional(found.substr(1)) : std::nullopt;
    }
    for (const std::string& condition : std::exchange(macros.unknown_conditions, {})) {
      const std::string& found = answers_.at(fmt::format("{}{}", condition_question, condition));
      macros.conditions[condition] = found == refused_condition ? std::nullopt : std::optional(found == "1");
    }
    return {};
  }

private:
  const device::DeviceInfo& device_;
  std::string options_;
  std::filesystem::path entry_; // cache entry; empty: no cache
  Answers answers_;
  std::unique_ptr<device::Session> session_;
};

} // namespace

AnswerMacros ask_compiler(const device::DeviceInfo& device, std::filesystem::path cache_folder) {
  auto compilers = std::make_shared<std::map<std::string, Compiler>>();
  return [compilers, &device, folder = std::move(cache_folder)](const opencl_c::CompilerOptions& options,
                                                                PredefinedMacros& macros) {
    std::vector<std::string> words = options.others;
    if (!options.language_standard.empty()) {
      words.insert(words.begin(), "-cl-std=" + options.language_standard);
    }
    const std::string text = fmt::format("{}", fmt::join(words, " "));
    return compilers->try_emplace(text, device, text, folder).first->second.answer(macros);
  };
}

namespace {

// Returns a macro as an OpenCL C 3.0 compiler predefines it; empty if it does not.
std::optional<std::string> assumed_macro(const std::string& name, const opencl_c::CompilerOptions& options) {
  constexpr std::string_view defined_as_1 =
      " __ENDIAN_LITTLE__ cl_khr_fp64 cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics "
      "__opencl_c_fp64 __opencl_c_int64 ";
  static const std::map<std::string, std::string, std::less<>> values{
      {"CL_VERSION_1_0", "100"},   {"CL_VERSION_1_1", "110"},           {"CL_VERSION_1_2", "120"},
      {"CL_VERSION_2_0", "200"},   {"CL_VERSION_3_0", "300"},           {"__OPENCL_VERSION__", "300"},
      {"CHAR_BIT", "8"},           {"INT_MAX", "2147483647"},           {"INT_MIN", "(-2147483647 - 1)"},
      {"UINT_MAX", "0xffffffffu"}, {"LONG_MAX", "9223372036854775807l"}};
  if (defined_as_1.find(" " + name + " ") != std::string_view::npos) {
    return "1";
  }
  if (name == "__OPENCL_C_VERSION__") {
    const std::string& standard = options.language_standard;
    return standard.starts_with("CL3")   ? "300"
           : standard.starts_with("CL2") ? "200"
           : standard == "CL1.1"         ? "110"
                                         : "120";
  }
  if (name == "__FAST_RELAXED_MATH__" &&
      std::ranges::find(options.others, "-cl-fast-relaxed-math") != options.others.end()) {
    return "1";
  }
  if (const auto found = values.find(name); found != values.end()) {
    return found->second;
  }
  const bool constant = name.starts_with("M_") || name.starts_with("FLT_") || name.starts_with("DBL_") ||
                        name.starts_with("CLK_") || name == "NULL" || name == "INFINITY" || name == "NAN" ||
                        name == "MAXFLOAT" || name.starts_with("HUGE_VAL") || name.ends_with("_MAX") ||
                        name.ends_with("_MIN");
  return constant && opencl_c::is_standard_macro(name) ? std::optional(name) : std::nullopt;
}

} // namespace

AnswerMacros assume_macros(std::set<std::string>& assumed) {
  return [&assumed](const opencl_c::CompilerOptions& options,
                    opencl_c::PredefinedMacros& macros) -> Result<void> {
    for (const std::string& name : std::exchange(macros.unknown_names, {})) {
      macros.names[name] = assumed_macro(name, options);
      // Compilers predefine no names of tidegate, nor in lower case any but linux and unix: that needs no telling.
      const bool lower = std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) != 0; });
      if (!name.starts_with("TG_") && !(lower && name != "linux" && name != "unix")) {
        assumed.insert(name);
      }
    }
    for (const std::string& condition : std::exchange(macros.unknown_conditions, {})) {
      const auto tokens = opencl_c::Lexer(condition, "").next_line();
      macros.conditions[condition] =
          tokens && evaluate_condition(*tokens, {}, "", true).value_or(std::nullopt).value_or(false);
      assumed.insert(condition);
    }
    return {};
  };
}

} // namespace tidegate::engine
