// Reads build options.
#include "opencl_c/preprocessor.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

Result<std::vector<std::string>> split_into_words(std::string_view options) {
  std::vector<std::string> words;
  bool in_word = false, in_quotation = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!in_quotation && std::string_view(" \t\v\f\r\n").find(options[i]) != std::string_view::npos) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) {
      words.emplace_back();
    }
    if (options[i] == '"') {
      in_quotation = !in_quotation;
      continue;
    }
    if (options[i] == '\\' && ++i == options.size()) {
      return failure(ErrorCode::kernel_options, "the compiler options end in a backslash",
                     "write \\\\ for a backslash");
    }
    words.back() += options[i];
  }
  if (in_quotation) {
    return failure(ErrorCode::kernel_options,
                   fmt::format("a quote is not closed in the compiler options: {}", in_quotes(words.back())),
                   "add the closing quote, or write \\\" for a quote");
  }
  return words;
}

} // namespace

Result<CompilerOptions> parse_compiler_options(std::string_view options) {
  TIDEGATE_TRY(const auto words, split_into_words(options));
  constexpr std::string_view standard = "-cl-std=";
  CompilerOptions result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      return failure(ErrorCode::kernel_options, fmt::format("{} is not a compiler option", in_quotes(word)),
                     "options begin with -; put quotes around a value with blanks");
    }
    const bool takes_value = word[1] == 'D' || word[1] == 'I' || word[1] == 'U';
    const bool is_standard = word.starts_with(standard);
    std::string value = takes_value ? word.substr(2) : is_standard ? word.substr(standard.size()) : word;
    if (takes_value && value.empty() && i + 1 < words.size()) {
      value = words[++i];
    }
    if (value.empty()) {
      return failure(ErrorCode::kernel_options, fmt::format("the compiler option {} needs a value", word),
                     "write it as in -D NAME=VALUE, -I FOLDER, -U NAME or -cl-std=CL1.2");
    }
    if (is_standard) {
      result.language_standard = std::move(value);
    } else if (word[1] == 'D') {
      const std::size_t end = value.find('=');
      result.definitions.push_back(
          {.name = value.substr(0, end), .value = end == std::string::npos ? "1" : value.substr(end + 1)});
    } else {
      (word[1] == 'I'   ? result.include_folders
       : word[1] == 'U' ? result.undefinitions
                        : result.others)
          .push_back(std::move(value));
    }
  }
  std::ranges::sort(result.others);
  result.others.erase(std::unique(result.others.begin(), result.others.end()), result.others.end());
  return result;
}

} // namespace tidegate::opencl_c
