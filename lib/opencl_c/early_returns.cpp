#include "opencl_c/early_returns.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

class Returns {
public:
  Returns(const TranslationUnit& unit, const Function& kernel) : unit_(unit), kernel_(kernel) {}

  std::vector<EarlyReturn> find() const {
    std::vector<EarlyReturn> found;
    const TokenRange body = *kernel_.body;
    std::size_t last = body.begin; // barrier
    for (std::size_t i = body.begin; i < body.end; ++i) {
      const bool is_barrier = unit_.is(i, "barrier") || unit_.is(i, "work_group_barrier");
      last = is_barrier && unit_.is_call(i) && unit_.meaning(i) == nullptr ? i : last;
    }
    for (std::size_t i = body.begin + 1; i < last; ++i) {
      if (unit_.is(i, "{")) {
        i = unit_.counterpart(i); // statements of the outermost block alone
      } else if (unit_.is(i, "if") && unit_.is(i + 1, "(")) {
        const std::size_t close = unit_.counterpart(i + 1);
        const std::size_t statement = close + (unit_.is(close + 1, "{") ? 2 : 1);
        if (unit_.is(statement, "return") && unit_.is(statement + 1, ";")) {
          parts({.begin = i + 2, .end = close}, statement, found);
        }
        i = close;
      }
    }
    return found;
  }

private:
  void parts(TokenRange condition, std::size_t statement, std::vector<EarlyReturn>& found) const {
    for (std::size_t begin = condition.begin; begin < condition.end;) {
      std::size_t end = begin;
      while (end < condition.end && !unit_.is(end, "||")) {
        end = (unit_.source.tokens[end].opens() ? unit_.counterpart(end) : end) + 1;
      }
      if (auto part = comparison({.begin = begin, .end = end})) {
        part->token = statement;
        found.push_back(*part);
      }
      begin = end + 1;
    }
  }

  // "i >= n" or "get_global_id(0) >= 64".
  [[nodiscard]] std::optional<EarlyReturn> comparison(TokenRange part) const {
    if (part.end < part.begin + 3 || !unit_.is(part.end - 2, ">=")) {
      return {};
    }
    EarlyReturn found;
    const TokenRange left{.begin = part.begin, .end = part.end - 2};
    const Name* const name = left.end == left.begin + 1 ? unit_.meaning(left.begin) : nullptr;
    auto dimension = id_in(left);
    if (name != nullptr && name->kind == NameKind::variable && unit_.is(name->token + 1, "=") &&
        is_constant(*name)) {
      dimension = id_in({.begin = name->token + 2, .end = name->declarator.end});
    }
    const Token& right = unit_.source.tokens[part.end - 1];
    if (const Name* const bound = unit_.meaning(part.end - 1); bound != nullptr) {
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const Parameter& parameter = kernel_.parameters[i];
        if (bound->token >= parameter.tokens.begin && bound->token < parameter.tokens.end &&
            !parameter.is_pointer && is_constant(*bound)) {
          found.parameter = i;
        }
      }
    } else {
      const char* const end = right.text.data() + right.text.size();
      const auto [stop, error] = std::from_chars(right.text.data(), end, found.number);
      dimension = error == std::errc() && stop == end ? dimension : std::nullopt;
    }
    if (!dimension || (!found.parameter && found.number == 0)) {
      return {};
    }
    found.dimension = *dimension;
    return found;
  }

  // "get_global_id(0)", also as "(int)get_global_id(0)".
  [[nodiscard]] std::optional<std::uint32_t> id_in(TokenRange range) const {
    const bool cast = unit_.is(range.begin, "(") && unit_.is(range.begin + 2, ")");
    range.begin += cast ? 3 : 0;
    if (range.end != range.begin + 4 || !unit_.is(range.begin, "get_global_id")) {
      return {};
    }
    static constexpr std::array<std::string_view, 3> dimensions{"0", "1", "2"};
    const auto* const found = std::ranges::find(dimensions, unit_.source.tokens[range.begin + 2].text);
    return found == dimensions.end() ? std::nullopt
                                     : std::optional(static_cast<std::uint32_t>(found - dimensions.begin()));
  }

  // True if the body only reads the variable, as far as its neighbours show.
  [[nodiscard]] bool is_constant(const Name& name) const {
    static constexpr std::array<std::string_view, 14> changes{
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>=", "&"};
    for (std::size_t i = kernel_.body->begin; i < kernel_.body->end; ++i) {
      const bool used = unit_.meaning(i) == &name && i != name.token;
      if (used && (std::ranges::find(changes, unit_.source.tokens[i + 1].text) != changes.end() ||
                   unit_.is(i - 1, "++") || unit_.is(i - 1, "--") || unit_.is(i - 1, "&"))) {
        return false;
      }
    }
    return true;
  }

  const TranslationUnit& unit_;
  const Function& kernel_;
};

} // namespace

std::vector<EarlyReturn> returns_before_barrier(const TranslationUnit& unit, const Function& kernel) {
  return kernel.body ? Returns(unit, kernel).find() : std::vector<EarlyReturn>();
}

} // namespace tidegate::opencl_c
