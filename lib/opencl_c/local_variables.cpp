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
      const Name* const needed = unit_.meaning(i);
      if (needed == nullptr || stays(i) || comes_along(*needed, i, variable)) {
        continue;
      }
      const bool parameter = needed->token < body_.begin;
      return tl::unexpected(
          error_at(unit_, i, ErrorCode::unsupported_kernel,
                   "this declaration needs \"" + tokens_[i].text + "\", which " +
                       (parameter ? "is a parameter of the kernel" : "the kernel declares in its body"),
                   "declare types outside of the kernel, and sizes as numbers or macros"));
    }
    return {};
  }

  // Whether the declaration finds at file scope, or brings itself, what it names at token `i`.
  static bool comes_along(const Name& needed, std::size_t i, const HoistedVariable& variable) {
    const bool own_type = needed.kind != NameKind::variable && variable.declaration.begin <= needed.token &&
                          needed.token < variable.declaration.end;
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
};

} // namespace

Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel) {
  return Finder(unit, kernel).run();
}

} // namespace tidegate::opencl_c
