// Finds the declarations by their address space, and what they need of the kernel.
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

class Finder {
public:
  Finder(const TranslationUnit& unit, const Function& kernel)
      : unit_(unit), tokens_(unit.source.tokens), body_(*kernel.body), statements_(kernel.statements) {}

  Result<LocalVariables> run() {
    Result<void> found;
    each_statement(*statements_, [&](const Stmt& stmt) {
      if (found && stmt.kind == Stmt::Kind::declaration) {
        found = declaration(stmt);
      }
    });
    TIDEGATE_CHECK(std::move(found));
    return std::move(found_);
  }

private:
  Result<void> declaration(const Stmt& stmt) {
    const std::size_t end = stmt.tokens.end - 1; // the semicolon
    HoistedVariable variable{.declaration = {.begin = stmt.tokens.begin, .end = end}};
    AddressSpace space = AddressSpace::none;
    for (const Decl* const decl : stmt.declared) {
      const TokenRange declarator{.begin = decl->tokens.begin, .end = std::min(decl->tokens.end + 1, end)};
      const AddressSpace of = decl->kind == Decl::Kind::type || decl->token == no_token
                                  ? AddressSpace::none
                                  : space_of(*decl->type);
      if (of == AddressSpace::none) {
        variable.remaining.push_back(declarator);
        continue;
      }
      const std::size_t token = unit_.meaning(decl->token)->token;
      variable.names.push_back(
          {.unique = unique(tokens_[token].text), .token = token, .declarator = declarator});
      for (const Type* type = decl->type; type->is(Type::Kind::array); type = type->inner) {
        const TokenRange size = type->extent == nullptr ? TokenRange() : type->extent->tokens;
        const bool is_own = size.begin >= decl->tokens.begin && uses_own(size); // not of a typedef
        if (const auto value = is_own ? value_of(unit_, *type->extent) : std::nullopt) {
          variable.extents.emplace_back(size, *value);
        }
      }
      space = of;
    }
    if (space == AddressSpace::none) {
      return {};
    }
    const auto says = [](const Token& token) { return address_space(token.text) == AddressSpace::local; };
    if (space == AddressSpace::local && std::ranges::none_of(unit_.tokens(variable.declaration), says)) {
      return tl::unexpected(error_at(unit_, stmt.tokens.begin, ErrorCode::unsupported_kernel,
                                     "a typedef puts this variable in local memory",
                                     "write local in the declaration")); // a member cannot have such a type
    }
    TIDEGATE_CHECK(stands_alone(variable));
    (space == AddressSpace::local ? found_.locals : found_.constants).push_back(std::move(variable));
    return {};
  }

  // True if the range uses a name that the kernel declares.
  [[nodiscard]] bool uses_own(TokenRange range) const {
    bool uses = false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Decl* const name = unit_.meaning(i);
      uses = uses || (name != nullptr && !name->is_file_scope);
    }
    return uses;
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

  // A variable that leaves the kernel takes nothing of it along.
  [[nodiscard]] Result<void> stands_alone(const HoistedVariable& variable) const {
    const TokenRange range = variable.declaration;
    const auto holds = [](std::size_t i) {
      return [i](const TokenRange& part) { return part.begin <= i && i < part.end; };
    };
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Decl* const needed = unit_.meaning(i);
      if (needed == nullptr || comes_along(*needed, i, range) ||
          std::ranges::any_of(variable.remaining, holds(i)) ||
          std::ranges::any_of(variable.extents, holds(i), [](const auto& extent) { return extent.first; })) {
        continue;
      }
      const bool parameter = needed->token < body_.begin;
      return tl::unexpected(
          error_at(unit_, i, ErrorCode::unsupported_kernel,
                   "this declaration needs \"" + tokens_[i].text + "\", which " +
                       (parameter ? "is a parameter of the kernel" : "the kernel declares in its body"),
                   "declare types outside of the kernel, and sizes as numbers, macros or constants"));
    }
    return {};
  }

  // True if the name at token `i` is of file scope or part of the declaration. A tag or an enumerator is not if there are
  // others of its name, next to which it would move.
  [[nodiscard]] bool comes_along(const Decl& needed, std::size_t i, TokenRange declaration) const {
    const auto has_name = [&](const Decl* name) {
      return name->kind != Decl::Kind::member && tokens_[name->token].text == tokens_[needed.token].text;
    };
    const bool own = needed.kind != Decl::Kind::variable && declaration.begin <= needed.token &&
                     needed.token < declaration.end;
    const bool moves =
        own && (needed.kind == Decl::Kind::member || std::ranges::count_if(unit_.names, has_name) == 1);
    return needed.is_file_scope || moves || (needed.kind == Decl::Kind::variable && needed.token == i);
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
      const Decl* const name = unit.meaning(hoisted.token);
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
