#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/compiler_options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tidegate::opencl_c {
namespace {

tl::unexpected<Error> refused_options(std::string message, std::string fix) {
  return tl::unexpected(
      Error{.code = ErrorCode::kernel_options, .message = std::move(message), .fix = std::move(fix)});
}

Result<std::vector<std::string>> split_into_words(std::string_view options) {
  constexpr std::string_view blanks = " \t\v\f\r\n";
  std::vector<std::string> words;
  bool in_word = false, in_quotation = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!in_quotation && blanks.find(options[i]) != std::string_view::npos) {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    if (options[i] == '"') {
      in_quotation = !in_quotation;
      continue;
    }
    if (options[i] == '\\' && ++i == options.size()) {
      return refused_options("the compiler options end in a backslash", "write \\\\ for a backslash");
    }
    words.back() += options[i];
  }
  if (in_quotation) {
    return refused_options(
        fmt::format("a quote is not closed in the compiler options: {}", in_quotes(words.back())),
        "add the closing quote, or write \\\" for a quote");
  }
  return words;
}

} // namespace

Result<CompilerOptions> parse_compiler_options(std::string_view options) {
  const auto words = split_into_words(options);
  if (!words) {
    return tl::unexpected(words.error());
  }
  constexpr std::string_view standard = "-cl-std=";
  CompilerOptions result;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    if (word.size() < 2 || word[0] != '-') {
      return refused_options(fmt::format("{} is no compiler option", in_quotes(word)),
                             "options begin with -; put quotes around a value with blanks");
    }
    const bool takes_value = word[1] == 'D' || word[1] == 'I' || word[1] == 'U';
    std::string value = takes_value ? word.substr(2) : "";
    if (takes_value && value.empty() && i + 1 < words->size()) {
      value = (*words)[++i];
    }
    if ((takes_value && value.empty()) || word == standard) {
      return refused_options(fmt::format("the compiler option {} needs a value", word),
                             "write it as in -D NAME=VALUE, -I FOLDER, -U NAME or -cl-std=CL1.2");
    }
    if (word[1] == 'D') {
      const std::size_t end = value.find('=');
      const bool has_value = end != std::string::npos;
      result.definitions.push_back(
          {.name = value.substr(0, end), .value = has_value ? value.substr(end + 1) : "1"});
    } else if (word[1] == 'I') {
      result.include_folders.push_back(std::move(value));
    } else if (word[1] == 'U') {
      result.undefinitions.push_back(std::move(value));
    } else if (word.starts_with(standard)) {
      result.language_standard = word.substr(standard.size());
    } else {
      result.others.push_back(word);
    }
  }
  std::ranges::sort(result.others);
  result.others.erase(std::unique(result.others.begin(), result.others.end()), result.others.end());
  return result;
}

} // namespace tidegate::opencl_c
