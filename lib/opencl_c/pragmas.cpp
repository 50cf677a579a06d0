#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/lexer.hpp>
#include <tidegate/opencl_c/pragmas.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {
namespace {

using Words = std::vector<std::string>;

// Behind "#pragma".
Words words_of(const Token& pragma) {
  Words words;
  const auto line = Lexer(pragma.text, "").next_line();
  for (const Token& token : line.value_or(std::vector<Token>())) {
    words.push_back(token.text);
  }
  words.erase(words.begin(),
              words.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(words.size(), 2)));
  return words;
}

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& known, std::string_view word) {
  return std::ranges::find(known, word) != known.end();
}

bool starts_with(const Words& words, std::initializer_list<std::string_view> wanted) {
  return words.size() >= wanted.size() && std::ranges::equal(wanted, std::span(words).first(wanted.size()));
}

// Of the statement behind them, or of nothing that is compiled.
bool ends_by_itself(const Words& words) {
  static constexpr std::array<std::string_view, 16> known{
      "unroll",   "nounroll", "unroll_and_jam", "nounroll_and_jam", "ivdep", "loop_count", "vector",
      "novector", "message",  "region",         "endregion",        "mark",  "ident",      "comment",
      "warning",  "once"};
  return words.empty() || is_among(known, words[0]) || starts_with(words, {"clang", "loop"}) ||
         starts_with(words, {"clang", "diagnostic"}) || starts_with(words, {"GCC", "diagnostic"}) ||
         starts_with(words, {"GCC", "unroll"}) || starts_with(words, {"GCC", "ivdep"});
}

bool contracts(const Words& words) {
  return starts_with(words, {"OPENCL", "FP_CONTRACT"}) || starts_with(words, {"STDC", "FP_CONTRACT"}) ||
         starts_with(words, {"clang", "fp", "contract", "("});
}

} // namespace

PragmaScope pragma_scope(const TranslationUnit& unit) {
  PragmaScope scope;
  bool contraction = false;
  std::size_t depth = 0; // of braces
  for (const Token& token : unit.source.tokens) {
    if (token.is("{") || token.is("}")) {
      depth += token.is("{") ? 1U : 0U;
      depth -= token.is("}") && depth > 0 ? 1U : 0U;
    }
    if (token.kind != TokenKind::pragma) {
      continue;
    }
    const Words words = words_of(token);
    if (ends_by_itself(words) || (contracts(words) && depth > 0)) { // a block ends what it contracts
      continue;
    }
    const bool extension = starts_with(words, {"OPENCL", "EXTENSION"}) && words.size() == 5;
    if (words[0] == "pack") {
      scope.packs = true;
    } else if (contracts(words)) {
      contraction = true;
    } else if (extension && words[4] == "enable") {
      scope.enables_fp64 |= words[2] == "all" || words[2].ends_with("fp64");
    } else if (depth == 0 || !starts_with(words, {"clang", "fp"})) {
      scope.obstacle = fmt::format("nothing ends the effect of its {}", in_quotes(token.text));
      return scope;
    }
  }
  if (scope.packs) {
    scope.before += "\n#pragma pack(push)\n#pragma pack()\n";
    scope.after += "\n#pragma pack(pop)\n";
  }
  if (contraction) {
    scope.after += "\n#pragma OPENCL FP_CONTRACT DEFAULT\n";
  }
  return scope;
}

} // namespace tidegate::opencl_c
