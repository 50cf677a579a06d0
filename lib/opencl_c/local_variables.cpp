#include <tidegate/opencl_c/local_variables.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <algorithm>
#include <map>
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
    std::size_t stars = 0;
    for (std::size_t i = qualifier + 1; i < range.end; ++i) {
      const Token& token = tokens_[i];
      if (token.is("*")) {
        ++stars;
      } else if (token.is("[") || token.is("{") || token.is("(")) {
        i = closing(tokens_, i);
      } else if (token.is("=")) {
        i = initialiser_end(i, range.end) - 1;
      } else if (token.kind == TokenKind::identifier && declares(i, range.end)) {
        variable.names.push_back({.name = token.text, .unique = unique(token.text), .token = i});
      }
    }
    if (stars == variable.names.size()) {
      return {}; // pointers, which live in private memory
    }
    if (stars != 0) {
      return tl::unexpected(error_at(unit_, qualifier, ErrorCode::unsupported_kernel,
                                     "this declaration mixes variables in local memory and pointers to it",
                                     "declare them one by one"));
    }
    (space == AddressSpace::local ? found_.locals : found_.constants).push_back(std::move(variable));
    return {};
  }

  [[nodiscard]] bool declares(std::size_t i, std::size_t end) const {
    return !is_attribute(tokens_[i].text) &&
           (i + 1 == end || tokens_[i + 1].is("[") || tokens_[i + 1].is(",") || tokens_[i + 1].is("=") ||
            is_attribute(tokens_[i + 1].text));
  }

  [[nodiscard]] std::size_t initialiser_end(std::size_t i, std::size_t end) const {
    while (i < end && !tokens_[i].is(",")) {
      const bool open = tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{");
      i = open ? closing(tokens_, i) + 1 : i + 1;
    }
    return i;
  }

  std::string unique(const std::string& name) {
    const unsigned times = ++seen_[name];
    return times == 1 ? name : name + "_" + std::to_string(times);
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const TokenRange body_;
  LocalVariables found_;
  std::map<std::string, unsigned> seen_;
};

} // namespace

Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel) {
  return Finder(unit, kernel).run();
}

} // namespace tidegate::opencl_c
