// Finds declarations by their address space, and collects the types and values that they need outside the
// kernel.
#include "opencl_c/local_variables.hpp"

#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

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
    find_statements();
    std::size_t statement = body_.begin + 1;
    for (std::size_t i = statement; i + 1 < body_.end; ++i) {
      const Token& token = tokens_[i];
      if (token.is("(")) { // casts and arguments declare nothing
        i = closing(tokens_, i);
      } else if (token.is(";") || token.is("{") || token.is("}") || token.is(":")) {
        statement = i + 1;
      } else if (const AddressSpace space = moving_space(i, statement);
                 space == AddressSpace::local || space == AddressSpace::constant) {
        const std::size_t end = statement_end(i);
        if (auto added = declaration({.begin = statement, .end = end}, i, space); !added) {
          return tl::unexpected(std::move(added.error()));
        }
        i = end;
        statement = end + 1;
      }
    }
    std::ranges::sort(found_.types, {}, [](const HoistedType& type) { return type.statement.begin; });
    return std::move(found_);
  }

private:
  // Finds the statements that end in a semicolon; braces of types and values are part of a statement.
  void find_statements() {
    std::size_t begin = body_.begin + 1;
    for (std::size_t i = begin; i + 1 < body_.end; ++i) {
      const bool part = tokens_[i].is("(") || tokens_[i].is("[") || (tokens_[i].is("{") && !opens_block(i));
      if (part) {
        i = closing(tokens_, i);
      } else if (tokens_[i].is(";")) {
        statements_.push_back({.begin = begin, .end = i + 1});
        begin = i + 1;
      } else if (tokens_[i].is("{") || tokens_[i].is("}") || tokens_[i].is(":")) {
        begin = i + 1;
      }
    }
  }

  [[nodiscard]] bool opens_block(std::size_t brace) const {
    const auto is_aggregate = [this](std::size_t i) {
      return tokens_[i].is("struct") || tokens_[i].is("union") || tokens_[i].is("enum");
    };
    const Token& before = tokens_[brace - 1];
    if (before.is("=") || before.is(",") || before.is("{") || is_aggregate(brace - 1)) {
      return before.is("{") && opens_block(brace - 1);
    }
    if (before.kind == TokenKind::identifier) {
      std::size_t i = brace - 2;
      for (; i > body_.begin && tokens_[i].is(")"); --i) { // "struct __attribute__((packed)) point {"
        while (i > body_.begin && !is_attribute(tokens_[i].text)) {
          --i;
        }
      }
      return !is_aggregate(i);
    }
    return true;
  }

  // The address space of a variable that functions may not declare. Samplers count as constants: only kernels
  // and files may declare them.
  [[nodiscard]] AddressSpace moving_space(std::size_t i, std::size_t statement) const {
    if (!tokens_[i].is("sampler_t")) {
      return address_space(tokens_[i].text);
    }
    const bool is_const = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(statement),
                                      tokens_.begin() + static_cast<std::ptrdiff_t>(i),
                                      [](const Token& token) { return token.is("const"); });
    return is_const ? AddressSpace::constant : AddressSpace::none;
  }

  [[nodiscard]] std::size_t statement_end(std::size_t i) const {
    while (i < body_.end && !tokens_[i].is(";")) {
      const bool open = tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{");
      i = open ? closing(tokens_, i) + 1 : i + 1;
    }
    return i;
  }

  Result<void> declaration(TokenRange range, std::size_t qualifier, AddressSpace space) {
    HoistedVariable variable{.declaration = range};
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
      return {}; // only pointers
    }
    if (auto alone = stands_alone(variable); !alone) {
      return alone;
    }
    (space == AddressSpace::local ? found_.locals : found_.constants).push_back(std::move(variable));
    return {};
  }

  // The type comes first; the declarators start at a star, a parenthesis or a declarator name.
  [[nodiscard]] std::size_t first_declarator(std::size_t i, std::size_t end) const {
    for (; i < end; ++i) {
      if (is_attribute(tokens_[i].text)) {
        i = closing(tokens_, i + 1);
      } else if (tokens_[i].is("{")) { // a structure without a name
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

  // A variable that leaves the kernel takes along its types and the values of constants.
  [[nodiscard]] Result<void> stands_alone(const HoistedVariable& variable) {
    const auto stays = [&variable](std::size_t i) {
      return std::ranges::any_of(variable.remaining,
                                 [i](const TokenRange& range) { return range.begin <= i && i < range.end; });
    };
    return take_along(variable.declaration, stays);
  }

  Result<void> take_along(TokenRange range, const auto& stays) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Name* const needed = unit_.meaning(i);
      if (needed == nullptr || stays(i) || comes_along(*needed, i, range)) {
        continue;
      }
      const auto taken = needed->kind == NameKind::variable ? take_value(*needed) : take_type(*needed);
      if (!taken) {
        return tl::unexpected(taken.error());
      }
      if (!*taken) {
        const bool parameter = needed->token < body_.begin;
        return tl::unexpected(
            error_at(unit_, i, ErrorCode::unsupported_kernel,
                     "this declaration needs \"" + tokens_[i].text + "\", which " +
                         (parameter ? "is a parameter of the kernel" : "the kernel declares in its body"),
                     "declare types outside of the kernel, and sizes as numbers, macros or constants"));
      }
    }
    return {};
  }

  // Takes "const int count = 16". Compilers reject a value that is not constant where it is needed here.
  Result<bool> take_value(const Name& name) {
    const TokenRange value = value_of(unit_, name);
    if (name.token < body_.begin || value.begin == value.end) {
      return false;
    }
    if (!found_.inlined.insert(name.token).second) {
      return true;
    }
    const auto nothing_stays = [](std::size_t /*token*/) { return false; };
    return take_along(name.specifiers, nothing_stays)
        .and_then([&] { return take_along(value, nothing_stays); })
        .map([] { return true; });
  }

  // Takes the statement that declares the type, if it declares types only.
  Result<bool> take_type(const Name& name) {
    const auto statement = std::ranges::find_if(statements_, [&name](const TokenRange& range) {
      return range.begin <= name.token && name.token < range.end;
    });
    if (statement == statements_.end()) {
      return false;
    }
    HoistedType type{.statement = *statement};
    for (const Name& other : unit_.names) {
      if (other.token < statement->begin || other.token >= statement->end || other.kind == NameKind::member) {
        continue;
      }
      if (other.kind == NameKind::variable || other.kind == NameKind::function) {
        return false;
      }
      type.names.push_back(other.token);
    }
    const bool known = std::ranges::any_of(
        found_.types, [&](const HoistedType& found) { return found.statement.begin == statement->begin; });
    if (known) {
      return true;
    }
    found_.types.push_back(std::move(type));
    return take_along(*statement, [](std::size_t /*token*/) { return false; }).map([] { return true; });
  }

  // True if the name at token `i` is of file scope or part of the declaration.
  static bool comes_along(const Name& needed, std::size_t i, TokenRange declaration) {
    const bool own_type = needed.kind != NameKind::variable && declaration.begin <= needed.token &&
                          needed.token < declaration.end;
    return needed.is_file_scope || needed.token == i || own_type;
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
  std::vector<TokenRange> statements_;
};

} // namespace

std::optional<std::uint64_t> local_bytes(const TranslationUnit& unit, const LocalVariables& variables) {
  std::uint64_t sum = 0;
  for (const HoistedVariable& variable : variables.locals) {
    for (const HoistedName& hoisted : variable.names) {
      const Name* const name = unit.meaning(hoisted.token);
      const auto bytes = name == nullptr ? tl::unexpected(std::string()) : bytes_of(unit, *name);
      constexpr std::uint64_t padding = 16; // up to the alignment of the next variable
      if (!bytes || __builtin_add_overflow(sum, *bytes + padding, &sum)) {
        return {};
      }
    }
  }
  return sum;
}

TokenRange value_of(const TranslationUnit& unit, const Name& name) {
  const std::vector<Token>& tokens = unit.source.tokens;
  bool constant = false;
  for (std::size_t i = name.specifiers.begin; i < name.specifiers.end; ++i) {
    constant |= tokens[i].is("const");
  }
  const bool simple = constant && name.declarator.begin == name.token && tokens[name.token + 1].is("=");
  return simple ? TokenRange{.begin = name.token + 2, .end = name.declarator.end} : TokenRange{};
}

Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel) {
  return Finder(unit, kernel).run();
}

} // namespace tidegate::opencl_c
