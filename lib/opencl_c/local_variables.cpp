#include <tidegate/opencl_c/declarators.hpp>
#include <tidegate/opencl_c/local_variables.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace tidegate::opencl_c {
namespace {

class Finder {
public:
  Finder(const TranslationUnit& unit, const Function& kernel)
      : unit_(unit), tokens_(unit.source.tokens), body_(*kernel.body) {}

  Result<LocalVariables> run() {
    std::size_t statement = body_.begin + 1;
    for (std::size_t i = statement; i + 1 < body_.end; ++i) {
      const Token& token = tokens_[i];
      if (token.is("(")) { // casts and arguments declare nothing
        i = closing(tokens_, i);
      } else if (token.is(";") || token.is("{") || token.is("}") || token.is(":")) {
        statement = i + 1;
      } else if (const AddressSpace space = address_space(token.text);
                 space == AddressSpace::local || space == AddressSpace::constant) {
        const std::size_t end = statement_end(i);
        if (auto added = declaration({.begin = statement, .end = end}, i, space); !added) {
          return tl::unexpected(std::move(added.error()));
        }
        i = end;
        statement = end + 1;
      }
    }
    return std::move(found_);
  }

private:
  [[nodiscard]] std::size_t statement_end(std::size_t i) const {
    while (i < body_.end && !tokens_[i].is(";")) {
      const bool open = tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{");
      i = open ? closing(tokens_, i) + 1 : i + 1;
    }
    return i;
  }

  [[nodiscard]] std::size_t block_end(std::size_t i) const {
    while (i < body_.end && !tokens_[i].is("}")) {
      const bool open = tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{");
      i = open ? closing(tokens_, i) + 1 : i + 1;
    }
    return i;
  }

  Result<void> declaration(TokenRange range, std::size_t qualifier, AddressSpace space) {
    HoistedVariable variable{.declaration = range, .scope_end = block_end(range.end + 1)};
    std::size_t begin = first_declarator(qualifier + 1, range.end);
    while (begin < range.end) {
      const std::size_t comma = declarator_end(begin, range.end);
      const TokenRange declarator{.begin = begin, .end = std::min(comma + 1, range.end)};
      begin = comma + 1;
      if (tokens_[declarator.begin].is("*") || tokens_[declarator.begin].is("(")) { // a pointer to an array
        variable.remaining.push_back(declarator);
      } else {
        const std::string& name = tokens_[declarator.begin].text;
        variable.moving.push_back(declarator);
        variable.names.push_back({.name = name, .unique = unique(name), .token = declarator.begin});
      }
    }
    if (variable.names.empty()) {
      return {}; // pointers alone
    }
    if (auto alone = stands_alone(variable); !alone) {
      return alone;
    }
    (space == AddressSpace::local ? found_.locals : found_.constants).push_back(std::move(variable));
    return {};
  }

  // The words of the type come first; a declarator is a star, or a name with something behind it.
  [[nodiscard]] std::size_t first_declarator(std::size_t i, std::size_t end) const {
    for (; i < end; ++i) {
      if (is_attribute(tokens_[i].text)) {
        i = closing(tokens_, i + 1);
      } else if (tokens_[i].is("{")) { // of a structure without a name
        i = closing(tokens_, i);
      } else if (tokens_[i].is("*") || tokens_[i].is("(") || is_declarator_name(tokens_, i) || i + 1 == end) {
        return i;
      }
    }
    return end;
  }

  [[nodiscard]] std::size_t declarator_end(std::size_t i, std::size_t end) const {
    while (i < end && !tokens_[i].is(",")) {
      const bool open = tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{");
      i = open ? closing(tokens_, i) + 1 : i + 1;
    }
    return i;
  }

  // What moves out of the kernel cannot take along what the kernel declares.
  [[nodiscard]] Result<void> stands_alone(const HoistedVariable& variable) const {
    const auto stays = [&variable](std::size_t i) {
      return std::ranges::any_of(variable.remaining,
                                 [i](const TokenRange& range) { return range.begin <= i && i < range.end; });
    };
    for (std::size_t i = variable.declaration.begin; i < variable.declaration.end; ++i) {
      if (tokens_[i].kind == TokenKind::identifier && !stays(i) && declared_before(i, variable)) {
        return tl::unexpected(error_at(
            unit_, i, ErrorCode::unsupported_kernel,
            "this declaration needs \"" + tokens_[i].text + "\", which the kernel declares in its body",
            "declare types outside of the kernel, and sizes as numbers or macros"));
      }
    }
    return {};
  }

  [[nodiscard]] bool declared_before(std::size_t i, const HoistedVariable& variable) const {
    const std::string& name = tokens_[i].text;
    const bool own = std::ranges::any_of(variable.names, [i](const HoistedName& n) { return n.token == i; });
    if (own || unit_.file_scope_names.contains(name)) {
      return false;
    }
    const auto declares = [&name](const HoistedVariable& other) {
      return std::ranges::any_of(other.names, [&name](const HoistedName& n) { return n.name == name; });
    };
    if (std::ranges::any_of(found_.locals, declares) || declares(variable)) {
      return true;
    }
    for (std::size_t k = body_.begin; k < variable.declaration.begin; ++k) {
      const bool tag = tokens_[k].is("struct") || tokens_[k].is("union") || tokens_[k].is("enum");
      const bool named_by_typedef =
          tokens_[k].text == name && tokens_[k + 1].is(";") && k > 0 && in_typedef(k);
      if (named_by_typedef || (tag && tokens_[k + 1].text == name && tokens_[k + 2].is("{"))) {
        return true;
      }
    }
    return false;
  }

  // Whether the statement that ends behind token `k` is a typedef.
  [[nodiscard]] bool in_typedef(std::size_t k) const {
    std::size_t depth = 0;
    for (; k > body_.begin; --k) {
      if (tokens_[k].is("}")) {
        ++depth;
      } else if (tokens_[k].is("{")) {
        if (depth == 0) {
          return false;
        }
        --depth;
      } else if (depth == 0 && tokens_[k].is("typedef")) {
        return true;
      } else if (depth == 0 && tokens_[k].is(";")) {
        return false;
      }
    }
    return false;
  }

  std::string unique(const std::string& name) {
    std::string unique = name;
    for (unsigned times = 2; !seen_.insert(unique).second; ++times) {
      unique = name + "_" + std::to_string(times);
    }
    return unique;
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const TokenRange body_;
  LocalVariables found_;
  std::set<std::string> seen_;
};

} // namespace

namespace {

// The first token of the statement that `i` is in, or of the parentheses.
std::size_t statement_start(const std::vector<Token>& tokens, std::size_t i) {
  std::size_t depth = 0;
  for (; i > 0; --i) {
    const Token& before = tokens[i - 1];
    if (before.is(")") || before.is("]")) {
      ++depth;
    } else if (before.is("(") || before.is("[")) {
      if (depth == 0) {
        return i;
      }
      --depth;
    } else if (depth == 0 && (before.is(";") || before.is("{") || before.is("}") || before.is(":"))) {
      return i;
    }
  }
  return 0;
}

} // namespace

bool is_declared_again(const TranslationUnit& unit, std::size_t i) {
  const std::vector<Token>& tokens = unit.source.tokens;
  std::size_t at = statement_start(tokens, i);
  while (at < i && is_qualifier(tokens[at].text)) {
    ++at;
  }
  const std::string& first = tokens[at].text;
  const bool is_type = is_type_word(first) || unit.typedefs.contains(first) ||
                       unit.pointer_typedefs.contains(first) ||
                       (unit.file_scope_names.contains(first) && at + 1 < i && !tokens[at + 1].is("("));
  if (at >= i || !is_type) {
    return false;
  }
  bool in_value = false; // behind a = and before the next comma
  for (std::size_t k = at; k < i; ++k) {
    if (tokens[k].is("(") || tokens[k].is("[") || tokens[k].is("{")) {
      k = closing(tokens, k);
    } else if (tokens[k].is("=")) {
      in_value = true;
    } else if (tokens[k].is(",")) {
      in_value = false;
    }
  }
  return !in_value;
}

std::size_t hidden_until(const TranslationUnit& unit, std::size_t i, std::size_t most) {
  const std::vector<Token>& tokens = unit.source.tokens;
  while (i < most && !tokens[i].is("}") && !tokens[i].is(")")) {
    const bool open = tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{");
    i = open ? closing(tokens, i) + 1 : i + 1;
  }
  if (i >= most || tokens[i].is("}")) {
    return i;
  }
  for (++i; i < most && !tokens[i].is(";"); ++i) { // a loop's statement
    if (tokens[i].is("{")) {
      return closing(tokens, i);
    }
    if (tokens[i].is("(") || tokens[i].is("[")) {
      i = closing(tokens, i);
    }
  }
  return i;
}

Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel) {
  return Finder(unit, kernel).run();
}

} // namespace tidegate::opencl_c
