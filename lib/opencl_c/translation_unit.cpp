// Queries about tokens and names, and the scope of pragmas.
#include "opencl_c/translation_unit.hpp"

#include "opencl_c/facts.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {

namespace {

// Pragmas, by their first words, that affect only the next statement, or nothing that is compiled.
constexpr std::string_view that_end =
    "unroll nounroll unroll_and_jam nounroll_and_jam ivdep loop_count vector novector message region endregion mark "
    "ident comment warning once clang/loop clang/diagnostic GCC/diagnostic GCC/unroll GCC/ivdep";
constexpr std::array<std::string_view, 3> that_contract{"OPENCL FP_CONTRACT ", "STDC FP_CONTRACT ",
                                                        "clang fp contract ( "};

// One spelling for a type, in a declaration with these tokens.
std::string type_text(const TranslationUnit& unit, const Type& type, TokenRange declaration,
                      std::size_t declared) {
  if (!type.name.empty() || type.record != nullptr || type.is(Type::Kind::nothing)) {
    return type.is(Type::Kind::nothing) ? "void"
           : type.record != nullptr     ? name_of(unit, *type.record)
                                        : type.name;
  }
  std::string text;
  for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
    const Token& token = unit.source.tokens[i];
    if (is_attribute(token.text) && unit.is(i + 1, "(")) {
      i = unit.counterpart(i + 1);
    } else if (token.is("[") || token.is("{")) {
      i = unit.counterpart(i);
    } else if (token.kind == TokenKind::identifier && i != declared && !is_qualifier(token.text)) {
      text += (text.empty() ? "" : " ") + token.text;
    }
  }
  return text;
}

Parameter parameter_from(const TranslationUnit& unit, const Decl& decl) {
  Parameter made{.name = decl.token == no_token ? "" : unit.source.tokens[decl.token].text,
                 .is_pointer = decl.type->is(Type::Kind::pointer),
                 .tokens = decl.tokens,
                 .decl = &decl};
  const Type* pointee = decl.type;
  while (pointee->is(Type::Kind::pointer)) {
    pointee = pointee->inner;
  }
  const bool plain = decl.type->record != nullptr && !decl.type->has_attributes && // others may be smaller
                     !decl.type->record->attributes.any();
  const std::string_view integer = plain ? decl.type->record->integer : "";
  made.type = !integer.empty() ? integer : type_text(unit, *pointee, decl.tokens, decl.token);
  for (const Type* of = decl.type; of != nullptr; of = of->inner) {
    made.space = made.space == AddressSpace::none ? of->space : made.space;
    made.is_const = of->is_const;
    if (!of->is(Type::Kind::pointer) && !of->is(Type::Kind::array)) {
      break;
    }
  }
  if (is_image_type(made.type)) {
    made.image_access = ImageAccess::read_only;
    for (const Token& token : unit.tokens(decl.tokens)) {
      made.image_access = image_access(token.text).value_or(*made.image_access);
    }
  }
  return made;
}

} // namespace

std::optional<std::size_t> match_brackets(TranslationUnit& unit) {
  const std::vector<Token>& tokens = unit.source.tokens;
  unit.counterparts.assign(tokens.size(), tokens.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool closes = tokens[i].closes();
    if (closes && !open.empty() && is_one_of("() [] {}", tokens[open.back()].text + tokens[i].text)) {
      unit.counterparts[i] = open.back();
      unit.counterparts[open.back()] = i;
      open.pop_back();
    } else if (closes || tokens[i].opens()) {
      open.push_back(i);
      i = closes ? tokens.size() : i;
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.front());
}

const Function* TranslationUnit::definition(std::string_view name) const {
  const auto found = std::ranges::find_if(
      functions, [name](const Function& function) { return function.body && function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

Result<TranslationUnit> parse_translation_unit(TokenStream source) {
  TranslationUnit unit{.source = std::move(source)};
  if (const auto open = match_brackets(unit)) {
    return tl::unexpected(
        error_at(unit, *open, ErrorCode::kernel_source,
                 fmt::format("this {} has no counterpart", in_quotes(unit.source.tokens[*open].text)),
                 "close what is open, or remove it"));
  }
  TIDEGATE_CHECK(parse_tree(unit));
  unit.facts = std::make_shared<const Facts>(unit);
  clear_lost_const(unit);
  return unit;
}

std::string text_of(const TranslationUnit& unit, TokenRange range) {
  return spelling(unit.tokens(range));
}

std::string name_of(const TranslationUnit& unit, const Record& record) {
  if (record.tag != nullptr) {
    constexpr std::array<std::string_view, 3> keywords{"struct", "union", "enum"};
    return fmt::format("{} {}", keywords[static_cast<std::size_t>(record.kind)],
                       unit.source.tokens[record.tag->token].text);
  }
  const auto named = std::ranges::find_if(unit.names, [&record](const Decl* name) {
    return name->kind == Decl::Kind::type && name->type->record == &record;
  });
  return named == unit.names.end() ? "struct" : unit.source.tokens[(*named)->token].text;
}

Function signature(const TranslationUnit& unit, const Decl& function) {
  const TokenRange before{.begin = function.specifiers.begin, .end = function.token};
  Function made{.name = unit.source.tokens[function.token].text,
                .is_kernel = unit.contains(before, "kernel") || unit.contains(before, "__kernel"),
                .begin = before.begin,
                .name_token = function.token};
  const Type& result = function.type->is(Type::Kind::function) ? *function.type->inner : *function.type;
  made.result = result.is(Type::Kind::pointer) ? "" : type_text(unit, result, function.specifiers, no_token);
  for (const Decl* const decl : function.parameters) {
    made.parameters.push_back(parameter_from(unit, *decl));
  }
  return made;
}

std::optional<std::size_t> unsupported_word(const TranslationUnit& unit, TokenRange range) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (unit.source.tokens[i].kind == TokenKind::identifier && !unit.is_member(i) &&
        unit.meaning(i) == nullptr && is_unsupported(unit.source.tokens[i].text)) {
      return i;
    }
  }
  return {};
}

Result<TranslationUnit> with_prefix(const TranslationUnit& unit, std::string_view prefix,
                                    const std::function<bool(std::string_view)>& is_renamed) {
  TokenStream source = unit.source;
  for (Token& token : source.tokens) {
    if (token.kind == TokenKind::identifier && is_renamed(token.text)) {
      token.text.insert(0, prefix);
    }
  }
  return parse_translation_unit(std::move(source));
}

Result<TranslationUnit> with_copy(const TranslationUnit& unit, const Function& kernel, std::string_view name,
                                  const std::string& parameters, std::string_view statement) {
  TokenStream source = unit.source;
  const TokenRange list = kernel.parameter_list;
  const bool takes_some = !kernel.parameters.empty(); // otherwise the list may have the word void
  for (std::size_t i = kernel.begin; i < kernel.end; ++i) {
    const std::string before(i == kernel.name_token        ? name
                             : i == list.end               ? (takes_some ? ", " : "") + parameters
                             : i == kernel.body->begin + 1 ? statement
                                                           : "");
    TIDEGATE_TRY(std::vector<Token> tokens, Lexer(before, "").next_line());
    for (Token& token : tokens) {
      token.move_to(unit.source.tokens[i]);
      source.tokens.push_back(std::move(token));
    }
    if (i != kernel.name_token && (takes_some || i < list.begin || i >= list.end)) {
      source.tokens.push_back(unit.source.tokens[i]);
    }
  }
  return parse_translation_unit(std::move(source));
}

Error error_at(const TranslationUnit& unit, std::size_t token, ErrorCode code, std::string message,
               std::string fix) {
  Error error{.code = code, .message = std::move(message), .fix = std::move(fix)};
  if (token < unit.source.tokens.size()) {
    const Token& at = unit.source.tokens[token];
    error.source = unit.source.files[at.file];
    error.line = at.line;
    error.column = at.column;
  }
  return error;
}

PragmaScope pragma_scope(const TranslationUnit& unit) {
  PragmaScope scope;
  std::size_t depth = 0; // of braces
  for (const Token& token : unit.source.tokens) {
    depth += token.is("{") ? 1 : 0;
    depth -= token.is("}") ? 1 : 0;
    if (token.kind != TokenKind::pragma) {
      continue;
    }
    std::vector<std::string> words = words_in(token.text); // after #pragma
    words.erase(words.begin(), words.begin() + std::min<std::ptrdiff_t>(std::ssize(words), 2));
    const std::string text = fmt::format("{} ", fmt::join(words, " "));
    const auto begins = [&text](std::string_view with) { return text.starts_with(with); };
    const bool contracts = std::ranges::any_of(that_contract, begins);
    const bool ends = words.empty() || is_one_of(that_end, words[0]) ||
                      (words.size() > 1 && is_one_of(that_end, words[0] + "/" + words[1])) ||
                      (words.size() == 5 && begins("OPENCL EXTENSION ") && words[4] == "enable") ||
                      (depth > 0 && (contracts || begins("clang fp "))); // the block ends it
    if (contracts && !ends) {
      scope.after = "\n#pragma OPENCL FP_CONTRACT DEFAULT\n";
    } else if (!ends && scope.obstacle.empty()) {
      scope.obstacle = fmt::format("nothing ends the effect of its {}", in_quotes(token.text));
    }
  }
  return scope;
}

} // namespace tidegate::opencl_c
