// Kernels may declare variables in local and in constant memory, and functions may not: these variables leave their kernel.
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

using Ranges = std::vector<TokenRange>;

class Hoister {
public:
  Hoister(const TranslationUnit& unit, const Function& kernel, const std::string& prefix, Edits& body)
      : unit_(unit), tokens_(unit.source.tokens), kernel_(kernel), prefix_(prefix), body_(body) {}

  Result<HoistedVariables> run() {
    Result<void> status;
    each_statement(*kernel_.statements, [&](const Stmt& stmt) {
      if (status && stmt.kind == Stmt::Kind::declaration) {
        status = declaration(stmt);
      }
    });
    TIDEGATE_CHECK(std::move(status));
    return std::move(found_);
  }

private:
  Result<void> declaration(const Stmt& stmt) {
    const std::size_t end = stmt.tokens.end - 1; // the semicolon
    const TokenRange range{.begin = stmt.tokens.begin, .end = end};
    Ranges going;   // declarators, each with the comma after it
    Ranges staying; // of pointers, which are private
    std::vector<const Decl*> names;
    for (const Decl* const decl : stmt.declared) {
      const bool goes = decl->kind != Decl::Kind::type && decl->token != no_token &&
                        space_of(*decl->type) != AddressSpace::none;
      (goes ? going : staying)
          .push_back({.begin = decl->tokens.begin, .end = std::min(decl->tokens.end + 1, end)});
      if (goes) {
        names.push_back(decl);
      }
    }
    if (names.empty()) {
      return {};
    }
    HoistedVariable moved{.declaration = range,
                          .is_local = space_of(*names.back()->type) == AddressSpace::local,
                          .edits = {body_.lower_bound(range.begin), body_.lower_bound(end)}};
    const auto is_local_word = [&](std::size_t i) {
      return address_space(tokens_[i].text) == AddressSpace::local;
    };
    bool says_local = false;
    for (std::size_t i = range.begin; moved.is_local && i < end; ++i) {
      says_local = says_local || is_local_word(i);
      if (is_local_word(i) || unit_.is(i, "static")) {
        moved.edits[i] = {.replaced = true}; // members cannot have these words
      }
    }
    if (moved.is_local && !says_local) { // a member cannot have such a type
      return tl::unexpected(error_at(unit_, range.begin, ErrorCode::unsupported_kernel,
                                     "a typedef puts this variable in local memory",
                                     "write local in the declaration"));
    }
    Ranges apart = staying; // they do not move, and neither do sizes of arrays, which become numbers
    for (const Decl* const decl : names) {
      for (const Type* type = decl->type; type->is(Type::Kind::array); type = type->inner) {
        const TokenRange size = type->extent == nullptr ? TokenRange() : type->extent->tokens;
        const bool is_own = size.begin >= decl->tokens.begin && uses_own(size); // not of a typedef
        if (const auto value = is_own ? value_of(unit_, *type->extent) : std::nullopt) {
          apart.push_back(size);
          replace(moved.edits, size, std::to_string(*value));
        }
      }
    }
    TIDEGATE_CHECK(stands_alone(range, apart));
    for (const Decl* const decl : names) {
      const Decl& name = *unit_.meaning(decl->token);
      const std::string own = unique(tokens_[name.token].text);
      for (std::size_t i = kernel_.body->begin; i < kernel_.body->end; ++i) {
        if (unit_.meaning(i) == &name) {
          body_[i].replace((moved.is_local ? "tg_locals->" : prefix_) + own);
        }
      }
      moved.edits[name.token] = {.replaced = true, .text = (moved.is_local ? "" : prefix_) + own};
      count(name);
    }
    for (const TokenRange& part : staying) {
      replace(moved.edits, part);
    }
    for (const TokenRange& part : staying.empty() ? Ranges{range} : going) {
      replace(body_, part);
    }
    end_with(going, moved.edits);
    end_with(staying, body_);
    found_.declarations.push_back(std::move(moved));
    return {};
  }

  // Drops the comma after the last declarator.
  void end_with(const Ranges& declarators, Edits& edits) const {
    if (!declarators.empty() && unit_.is(declarators.back().end - 1, ",")) {
      edits[declarators.back().end - 1] = {.replaced = true};
    }
  }

  void count(const Decl& variable) {
    if (space_of(*variable.type) != AddressSpace::local) {
      return;
    }
    constexpr std::uint64_t padding = 16; // up to the alignment of the next variable
    const auto bytes = bytes_of(unit_, variable);
    auto& sum = found_.local_bytes;
    if (!sum || !bytes || __builtin_add_overflow(*sum, *bytes + padding, &*sum)) {
      sum.reset();
    }
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
  static AddressSpace space_of(const Type& variable) {
    const Type& type = element_of(variable);
    const bool is_sampler = type.is(Type::Kind::handle) && type.name == "sampler_t" && type.is_const;
    return type.space == AddressSpace::global ? AddressSpace::none
           : is_sampler                       ? AddressSpace::constant
                                              : type.space;
  }

  // A variable that leaves the kernel takes nothing of it along.
  [[nodiscard]] Result<void> stands_alone(TokenRange range, const Ranges& apart) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto holds = [i](const TokenRange& part) { return part.begin <= i && i < part.end; };
      const Decl* const needed = unit_.meaning(i);
      if (needed == nullptr || comes_along(*needed, i, range) || std::ranges::any_of(apart, holds)) {
        continue;
      }
      const bool parameter = needed->token < kernel_.body->begin;
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
  const Function& kernel_;
  const std::string& prefix_;
  Edits& body_;
  HoistedVariables found_;
  std::set<std::string> seen_;
};

} // namespace

Result<HoistedVariables> hoist_variables(const TranslationUnit& unit, const Function& kernel,
                                         const std::string& prefix, Edits& body) {
  return Hoister(unit, kernel, prefix, body).run();
}

} // namespace tidegate::opencl_c
