// Shared by the tests of whole sources: sources as text.
#pragma once

#include "../random.hpp"
#include "core/files.hpp"
#include "opencl_c/lexer.hpp"
#include "opencl_c/preprocessor.hpp"
#include "opencl_c/translation_unit.hpp"

#include <doctest/doctest.h>

namespace tidegate::opencl_c::test {

inline std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) {
    result += text;
  }
  return result;
}

// The parts of a text between separators.
inline std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos;) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

using tidegate::test::seed;

inline Result<TranslationUnit> try_parse(const std::string& text) {
  PreprocessorOptions options;
  options.read = [&text](const std::string&) -> Result<std::string> { return text; };
  return preprocess("k.cl", options).and_then(parse_translation_unit);
}

inline TranslationUnit parse(const std::string& text) {
  auto unit = try_parse(text);
  if (!unit) {
    INFO(text);
    FAIL(describe(unit.error()));
  }
  return std::move(*unit);
}

// "LINE:COLUMN CODE: MESSAGE" of an error in k.cl, or "none".
template <class T>
std::string refusal(const Result<T>& result) {
  if (result) {
    return "none";
  }
  const Error& error = result.error();
  CHECK(error.source == "k.cl");
  CHECK_FALSE(error.fix.empty());
  return fmt::format("{}:{} {}: {}", error.line.value_or(0), error.column.value_or(0), name(error.code),
                     error.message);
}

// A token of written text, at the position stated by its #line directives.
struct PlacedToken {
  std::string file;
  std::uint32_t line = 0;
  std::string text; // the whole line of a #pragma
};

// The tokens of written text, which has no comments.
inline std::vector<PlacedToken> placed_tokens(const std::string& text) {
  std::vector<PlacedToken> placed;
  std::string file;
  std::uint32_t number = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("#line ")) {
      std::size_t digits = 0;
      number = static_cast<std::uint32_t>(std::stoul(line.substr(6), &digits));
      file.clear();
      REQUIRE(line.substr(6 + digits, 2) == " \"");
      for (std::size_t i = 6 + digits + 2; i + 1 < line.size(); ++i) {
        i += line[i] == '\\' ? 1U : 0U;
        file += line[i];
      }
      continue;
    }
    if (line.starts_with("#pragma")) {
      placed.push_back({file, number, line});
    } else {
      Lexer lexer(line, "written");
      const auto tokens = lexer.next_line();
      REQUIRE(tokens);
      for (const Token& token : *tokens) {
        placed.push_back({file, number, token.text});
      }
    }
    ++number;
  }
  return placed;
}

// Only the tokens, separated by blanks, so that texts can be compared without layout.
inline std::string spaced(const std::string& text) {
  std::string result;
  for (const PlacedToken& token : placed_tokens(text)) {
    result += (result.empty() ? "" : " ") + token.text;
  }
  return result;
}

struct CorpusUnit {
  std::string name;
  TranslationUnit unit;
};

// Every source of tests/corpus/ops, with the compiler options of its programs.
inline const std::vector<CorpusUnit>& corpus() {
  static const std::vector<CorpusUnit> units = [] {
    std::vector<CorpusUnit> found;
    const std::filesystem::path folder = std::filesystem::path(TIDEGATE_SOURCE_DIR) / "tests/corpus/ops";
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".cl") {
        paths.push_back(entry.path());
      }
    }
    std::ranges::sort(paths);
    for (const std::filesystem::path& path : paths) {
      const std::string name = path.filename().string();
      PreprocessorOptions options{
          .definitions = {{"__OPENCL_VERSION__", "300"},
                          {"__OPENCL_C_VERSION__", name == "opencl3.cl" ? "300" : "120"},
                          {"cl_khr_fp64", "1"}},
          .include_folders = {(folder / "include").string()},
          .read = [](const std::string& file) { return read_all(file, 1U << 20U); }};
      if (name == "kmeans.cl") {
        options.definitions.push_back({"K", "6"});
      } else if (name == "options.cl") {
        for (const auto& [macro, value] :
             std::vector<std::pair<std::string, std::string>>{{"FLAG", "-2"},
                                                              {"WIDTH", "4"},
                                                              {"OPERATION", "fmin"},
                                                              {"NAME", "raised"},
                                                              {"BOUND", "4.5f"}}) {
          options.definitions.push_back({macro, value});
        }
      }
      auto unit = preprocess(path.string(), options).and_then(parse_translation_unit);
      if (!unit) {
        FAIL(describe(unit.error()));
      }
      found.push_back({.name = name, .unit = std::move(*unit)});
    }
    return found;
  }();
  return units;
}

} // namespace tidegate::opencl_c::test
