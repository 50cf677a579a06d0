// Kernels may declare variables in local and in constant memory, and functions may not: these variables leave their kernel.
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

class Hoister {
public:
  Hoister(const TranslationUnit& unit, const Function& kernel, const std::string& prefix, Edits& body)
      : unit_(unit), tokens_(unit.source.tokens), kernel_(kernel), prefix_(prefix), body_(body) {}

  Result<HoistedVariables> run() {
    Result<void> status;
    each_statement(*kernel_.statements, [&](const Stmt& stmt) {
      if (status && stmt.kind == Stmt::Kind::declaration && std::ranges::any_of(stmt.declared, leaves)) {
        status = declaration(stmt);
      }
    });
    TIDEGATE_CHECK(std::move(status));
    return std::move(found_);
  }

private:
  // False for pointers, which are private.
  static bool leaves(const Decl* decl) {
    return decl->kind != Decl::Kind::type && decl->token != no_token &&
           space_of(*decl->type) != AddressSpace::none;
  }

  [[nodiscard]] Result<void> refuse(std::size_t token, std::string message, std::string fix) const {
    return tl::unexpected(
        error_at(unit_, token, ErrorCode::unsupported_kernel, std::move(message), std::move(fix)));
  }

  Result<void> declaration(const Stmt& stmt) {
    const TokenRange range{.begin = stmt.tokens.begin, .end = stmt.tokens.end - 1}; // without the semicolon
    HoistedVariable moved{.declaration = range,
                          .is_local = unit_.contains(range, "local") || unit_.contains(range, "__local"),
                          .edits = {body_.lower_bound(range.begin), body_.lower_bound(range.end)}};
    const auto stays = [&](std::size_t i) {
      return std::ranges::any_of(stmt.declared, [i](const Decl* decl) {
        return !leaves(decl) && decl->tokens.begin <= i && i < decl->tokens.end;
      });
    };
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Decl* const needed = unit_.meaning(i);
      const bool comes_along = needed == nullptr || needed->is_file_scope ||
                               (needed->token == i &&
                                (needed->kind == Decl::Kind::variable || needed->kind == Decl::Kind::member));
      if (!comes_along && !stays(i)) {
        return refuse(i,
                      fmt::format("this declaration needs {}, which {}", in_quotes(tokens_[i].text),
                                  needed->token < kernel_.body->begin ? "is a parameter of the kernel"
                                                                      : "the kernel declares in its body"),
                      "declare types outside of the kernel, and sizes as numbers, macros or constants there");
      }
      if (moved.is_local && is_one_of("local __local static", tokens_[i].text)) {
        moved.edits[i] = {.text = ""}; // members cannot have these words
      }
    }
    for (const Decl* const name : stmt.declared) {
      if (!leaves(name)) {
        continue;
      }
      if (!moved.is_local &&
          space_of(*name->type) == AddressSpace::local) { // a member cannot have such a type
        return refuse(range.begin, "a typedef puts this variable in local memory",
                      "write local in the declaration");
      }
      const std::string& own = tokens_[name->token].text;
      if (!seen_.insert(own).second) {
        return refuse(name->token, fmt::format("the kernel declares {} twice", in_quotes(own)), "rename one");
      }
      for (std::size_t i = kernel_.body->begin; i < kernel_.body->end; ++i) {
        if (unit_.meaning(i) == name) {
          body_[i].text = (moved.is_local ? "tg_locals->" : prefix_) + own;
        }
      }
      moved.edits[name->token] = {.text = (moved.is_local ? "" : prefix_) + own};
      count(*name);
    }
    for (const bool moves : {false, true}) {
      std::size_t first = range.end; // of the declarators there, before which there is no comma
      for (const Decl* const name : stmt.declared) {
        const bool is_there = leaves(name) == moves;
        first = is_there ? std::min(first, name->tokens.begin) : first;
        const bool drops_comma = name != stmt.declared.front() && (!is_there || name->tokens.begin == first);
        replace(moves ? moved.edits : body_, {name->tokens.begin - (drops_comma ? 1 : 0),
                                              is_there ? name->tokens.begin : name->tokens.end});
      }
      replace(body_, first == range.end ? range : TokenRange());
    }
    found_.declarations.push_back(std::move(moved));
    return {};
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

  // The address space of a variable that functions may not declare; none for any other. Samplers count as constants:
  // only kernels and files may declare them.
  static AddressSpace space_of(const Type& variable) {
    const Type& type = element_of(variable);
    const bool is_sampler = type.is(Type::Kind::handle) && type.name == "sampler_t" && type.is_const;
    return type.space == AddressSpace::global ? AddressSpace::none
           : is_sampler                       ? AddressSpace::constant
                                              : type.space;
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
