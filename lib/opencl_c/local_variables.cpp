// Finds the declarations by their address space, and the types and values that they need outside the kernel.
#include "opencl_c/rewriting.hpp"
#include "opencl_c/tree.hpp"
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
      : unit_(unit), tokens_(unit.source.tokens), body_(*kernel.body), statements_(unit.tree->body(kernel)) {}

  Result<LocalVariables> run() {
    Result<void> found;
    each_statement(*statements_, [&](const Stmt& stmt) {
      if (found && stmt.kind == Stmt::Kind::declaration) {
        found = declaration(stmt);
      }
    });
    TIDEGATE_CHECK(std::move(found));
    std::ranges::sort(found_.types, {}, [](const HoistedType& type) { return type.statement.begin; });
    return std::move(found_);
  }

private:
  Result<void> declaration(const Stmt& stmt) {
    const std::size_t end = stmt.tokens.end - 1; // the semicolon
    HoistedVariable variable{.declaration = {.begin = stmt.tokens.begin, .end = end}};
    AddressSpace space = AddressSpace::none;
    for (const Decl* const decl : stmt.declared) {
      const TokenRange declarator{.begin = decl->tokens.begin, .end = std::min(decl->tokens.end + 1, end)};
      const AddressSpace of =
          decl->is_typedef || decl->name == no_name ? AddressSpace::none : space_of(*decl->type);
      if (of == AddressSpace::none) {
        variable.remaining.push_back(declarator);
        continue;
      }
      const std::size_t token = unit_.names[decl->name].token;
      variable.names.push_back(
          {.unique = unique(tokens_[token].text), .token = token, .declarator = declarator});
      space = of;
    }
    if (space == AddressSpace::none) {
      return {};
    }
    TIDEGATE_CHECK(stands_alone(variable));
    (space == AddressSpace::local ? found_.locals : found_.constants).push_back(std::move(variable));
    return {};
  }

  // The address space of a variable that functions may not declare; none for any other. Samplers count as constants:
  // only kernels and files may declare them.
  static AddressSpace space_of(const Type& type) {
    if (type.is(Type::Kind::array)) {
      return space_of(*type.inner);
    }
    const bool is_sampler = type.is(Type::Kind::handle) && type.name == "sampler_t" && type.is_const;
    return type.space == AddressSpace::global ? AddressSpace::none
           : is_sampler                       ? AddressSpace::constant
                                              : type.space;
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
      TIDEGATE_TRY(const auto taken,
                   needed->kind == NameKind::variable ? take_value(*needed) : take_type(*needed));
      if (!taken) {
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
    const Decl* const decl = unit_.tree->declaration(name.token);
    if (name.token < body_.begin || decl == nullptr || !decl->type->is_const ||
        !decl->type->is_arithmetic() || decl->value == nullptr) {
      return false;
    }
    if (!found_.inlined.insert(name.token).second) {
      return true;
    }
    const auto nothing_stays = [](std::size_t /*token*/) { return false; };
    return take_along(name.specifiers, nothing_stays)
        .and_then([&] { return take_along(decl->value->tokens, nothing_stays); })
        .map([] { return true; });
  }

  // Takes the statement that declares the type, if it declares types only.
  Result<bool> take_type(const Name& name) {
    if (name.token < body_.begin) {
      return false;
    }
    HoistedType type{.statement = {.begin = name.statement,
                                   .end = unit_.find({.begin = name.statement, .end = body_.end}, ";") + 1}};
    for (const Name& other : unit_.names) {
      if (other.statement != name.statement || other.kind == NameKind::member) {
        continue;
      }
      if (other.kind == NameKind::variable || other.kind == NameKind::function) {
        return false;
      }
      type.names.push_back(other.token);
    }
    const bool known = std::ranges::any_of(
        found_.types, [&](const HoistedType& found) { return found.statement.begin == name.statement; });
    if (known) {
      return true;
    }
    found_.types.push_back(type);
    return take_along(type.statement, [](std::size_t /*token*/) { return false; }).map([] { return true; });
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
  const Stmt* const statements_;
  LocalVariables found_;
  std::set<std::string> seen_;
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

Result<LocalVariables> find_local_variables(const TranslationUnit& unit, const Function& kernel) {
  return Finder(unit, kernel).run();
}

} // namespace tidegate::opencl_c
