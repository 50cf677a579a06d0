#include <tidegate/opencl_c/subscripts.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_distance = std::int64_t{1} << 30U; // work-items have numbers of 31 bits at least

// Types that hold the number of any work-item.
bool holds_ids(std::string_view type) {
  return type == "int" || type == "uint" || type == "unsigned" || type == "long" || type == "ulong" ||
         type == "size_t" || type == "ptrdiff_t";
}

std::optional<std::int64_t> integer(const Token& token) {
  std::string_view text = token.text;
  if (token.kind != TokenKind::number) {
    return {};
  }
  while (!text.empty() &&
         (text.back() == 'u' || text.back() == 'U' || text.back() == 'l' || text.back() == 'L')) {
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole && value <= most_distance ? std::optional(value) : std::nullopt;
}

const Name* declared(const TranslationUnit& unit, const Parameter& parameter) {
  for (const Name& name : unit.names) {
    if (parameter.tokens.begin <= name.token && name.token < parameter.tokens.end &&
        unit.source.tokens[name.token].text == parameter.name) {
      return &name;
    }
  }
  return nullptr;
}

class Subscripts {
public:
  Subscripts(const TranslationUnit& unit, const Function& kernel)
      : unit_(unit), tokens_(unit.source.tokens), kernel_(kernel) {
    for (const Name& name : unit.names) {
      if (inside(name.token) && is_constant_id(name)) {
        ids_.insert(&name);
      }
    }
  }

  [[nodiscard]] std::optional<SubscriptRange> of(const Parameter& parameter) const {
    const Name* const pointer = declared(unit_, parameter);
    if (pointer == nullptr || !parameter.is_pointer || parameter.space != AddressSpace::global) {
      return {};
    }
    std::optional<SubscriptRange> range;
    for (std::size_t i = kernel_.body->begin; i < kernel_.body->end; ++i) {
      if (unit_.meaning(i) != pointer) {
        continue;
      }
      const auto offset = subscript(i);
      if (!offset) {
        return {};
      }
      range = range ? SubscriptRange{std::min(range->low, *offset), std::max(range->high, *offset)}
                    : SubscriptRange{*offset, *offset};
    }
    return range ? range : SubscriptRange{}; // it is not used at all
  }

private:
  [[nodiscard]] bool inside(std::size_t token) const {
    return kernel_.body->begin <= token && token < kernel_.body->end;
  }

  // `get_global_id(0)` from `at` on, perhaps behind a cast; the token behind it, or 0.
  [[nodiscard]] std::size_t behind_global_id(std::size_t at) const {
    if (tokens_[at].is("(") && holds_ids(tokens_[at + 1].text) && tokens_[at + 2].is(")")) {
      at += 3;
    }
    const bool calls = tokens_[at].is("get_global_id") && unit_.meaning(at) == nullptr &&
                       tokens_[at + 1].is("(") && tokens_[at + 2].is("0") && tokens_[at + 3].is(")");
    return calls ? at + 4 : 0;
  }

  // A variable that is set to the global id where it is declared, and never again.
  [[nodiscard]] bool is_constant_id(const Name& name) const {
    if (name.kind != NameKind::variable || !tokens_[name.token + 1].is("=")) {
      return false;
    }
    bool holds = false;
    for (std::size_t i = name.specifiers.begin; i < name.specifiers.end; ++i) {
      if (!tokens_[i].is("const") && !tokens_[i].is("private") && !tokens_[i].is("__private")) {
        if (holds || !holds_ids(tokens_[i].text)) {
          return false;
        }
        holds = true;
      }
    }
    if (name.declarator.begin != name.token) { // a pointer
      return false;
    }
    const std::size_t end = behind_global_id(name.token + 2);
    if (!holds || end == 0 || (!tokens_[end].is(";") && !tokens_[end].is(","))) {
      return false;
    }
    for (std::size_t i = end; i < kernel_.body->end; ++i) {
      if (unit_.meaning(i) == &name && is_changed(i)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_changed(std::size_t at) const {
    const std::string& next = tokens_[at + 1].text;
    const std::string& before = tokens_[at - 1].text;
    const bool assigned =
        next.size() > 1 && next.back() == '=' && next != "==" && next != "<=" && next != ">=" && next != "!=";
    return assigned || next == "=" || next == "++" || next == "--" || before == "++" || before == "--" ||
           before == "&";
  }

  // The constant c of pointer[id + c] at a use of the pointer; empty for anything else.
  [[nodiscard]] std::optional<std::int64_t> subscript(std::size_t at) const {
    const std::string& before = tokens_[at - 1].text;
    if (!tokens_[at + 1].is("[") || before == "&" || before == "." || before == "->") {
      return {};
    }
    const std::size_t begin = at + 2;
    std::size_t end = begin;
    while (end < kernel_.body->end && !tokens_[end].is("]")) {
      ++end;
    }
    if (const std::size_t behind = behind_id(begin)) {
      if (behind == end) {
        return 0;
      }
      const bool plus = tokens_[behind].is("+");
      if (end == behind + 2 && (plus || tokens_[behind].is("-"))) {
        const auto value = integer(tokens_[behind + 1]);
        return value ? std::optional(plus ? *value : -*value) : std::nullopt;
      }
      return {};
    }
    const auto value = integer(tokens_[begin]);
    if (value && tokens_[begin + 1].is("+") && behind_id(begin + 2) == end) {
      return value;
    }
    return {};
  }

  // The token behind the global id or a variable that holds it, or 0.
  [[nodiscard]] std::size_t behind_id(std::size_t at) const {
    const Name* const name = unit_.meaning(at);
    return name != nullptr && ids_.contains(name) ? at + 1 : behind_global_id(at);
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const Function& kernel_;
  std::set<const Name*> ids_;
};

} // namespace

std::vector<std::optional<SubscriptRange>> subscripts_by_global_id(const TranslationUnit& unit,
                                                                   const Function& kernel) {
  std::vector<std::optional<SubscriptRange>> ranges(kernel.parameters.size());
  if (!kernel.body) {
    return ranges;
  }
  const Subscripts subscripts(unit, kernel);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    ranges[i] = subscripts.of(kernel.parameters[i]);
  }
  return ranges;
}

std::vector<TokenRange> subscript_tokens(const TranslationUnit& unit, const Function& kernel,
                                         const Parameter& parameter) {
  const std::vector<Token>& tokens = unit.source.tokens;
  const Name* const pointer = declared(unit, parameter);
  std::vector<TokenRange> found;
  for (std::size_t i = kernel.body->begin; pointer != nullptr && i < kernel.body->end; ++i) {
    if (unit.meaning(i) == pointer && tokens[i + 1].is("[")) {
      found.push_back({.begin = i + 2, .end = closing(tokens, i + 1)});
    }
  }
  return found;
}

bool is_assigned_first(const TranslationUnit& unit, const Function& kernel, const Parameter& parameter) {
  const std::vector<Token>& tokens = unit.source.tokens;
  const std::vector<TokenRange> uses = subscript_tokens(unit, kernel, parameter);
  if (uses.empty()) {
    return false;
  }
  const std::size_t pointer = uses.front().begin - 2;
  std::size_t depth = 0;
  for (std::size_t i = kernel.body->begin; i < pointer; ++i) {
    depth += tokens[i].is("{") ? 1 : 0;
    depth -= tokens[i].is("}") ? 1 : 0;
    if (tokens[i].is("return") || tokens[i].is("goto")) {
      return false;
    }
  }
  const Token& before = tokens[pointer - 1];
  std::size_t end = uses.front().end + 1;
  if (depth != 1 || !(before.is("{") || before.is("}") || before.is(";")) || !tokens[end].is("=")) {
    return false;
  }
  while (!tokens[end].is(";")) {
    ++end;
  }
  return uses.size() == 1 || uses[1].begin > end;
}

} // namespace tidegate::opencl_c
