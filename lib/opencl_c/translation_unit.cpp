// Matches the brackets, resolves the names, and parses the declarations of file scope without function bodies.
#include "opencl_c/translation_unit.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/lexer.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

// Parses the file-scope declarations in order.
class Parser {
public:
  explicit Parser(TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  Result<void> run() {
    while (at_ < tokens_.size()) {
      if (tokens_[at_].kind == TokenKind::pragma || tokens_[at_].is(";")) {
        ++at_;
      } else {
        TIDEGATE_CHECK(declaration());
      }
    }
    return {};
  }

private:
  Result<void> declaration() {
    const std::size_t begin = at_;
    bool may_be_function = true; // not a typedef, and before any value
    for (; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (const std::size_t next = unit_.after_attributes(at_); next != at_) {
        at_ = next - 1;
      } else if (token.is(";")) {
        return names({.begin = begin, .end = ++at_});
      } else if (may_be_function && names_function(at_)) {
        return function(begin, at_ + 1, at_ + 3);
      } else if (token.opens()) {
        at_ = unit_.counterpart(at_);
      } else if (token.is("=") || token.is("typedef")) {
        may_be_function = false;
      } else if (may_be_function && token.kind == TokenKind::identifier && unit_.is(at_ + 1, "(") &&
                 !is_type_word(token.text)) {
        return function(begin, at_, at_ + 1);
      }
    }
    return tl::unexpected(error_at(unit_, begin, ErrorCode::kernel_source, "this declaration does not end",
                                   "end it with a semicolon"));
  }

  // True for the brackets of `int (f)(int x)`, which keep a macro f from being expanded.
  [[nodiscard]] bool names_function(std::size_t open) const {
    return tokens_[open].is("(") && unit_.is(open + 2, ")") && unit_.is(open + 3, "(") &&
           tokens_[open + 1].kind == TokenKind::identifier && !is_type_word(tokens_[open + 1].text);
  }

  // Records the typedefs of a declaration, and refuses its variables.
  Result<void> names(TokenRange declaration) {
    bool is_constant = false;
    bool attributed = false;
    for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
      // A sampler of file scope is constant even without const or constant.
      is_constant |= address_space(tokens_[i].text) == AddressSpace::constant || tokens_[i].is("sampler_t");
      attributed |= is_attribute(tokens_[i].text) && !aligns(i);
      i = tokens_[i].is("{") ? unit_.counterpart(i) : i;
    }
    for (; next_name_ < unit_.names.size() && unit_.names[next_name_].token < declaration.end; ++next_name_) {
      const Name& name = unit_.names[next_name_];
      if (name.token < declaration.begin || !name.is_file_scope) {
        continue;
      }
      if (name.kind == NameKind::type) {
        add_typedef(name, attributed);
      } else if (name.kind == NameKind::variable && !is_constant) {
        return tl::unexpected(
            error_at(unit_, name.token, ErrorCode::unsupported_kernel,
                     fmt::format("{} is a variable of file scope outside constant memory",
                                 in_quotes(tokens_[name.token].text)),
                     fmt::format("pass it as a buffer: a persistent kernel and a plain one would each have a "
                                 "separate copy; {}",
                                 see_unsupported)));
      }
    }
    return {};
  }

  void add_typedef(const Name& typedef_name, bool attributed) {
    const std::string& name = tokens_[typedef_name.token].text;
    const std::size_t next = typedef_name.token + 1;
    if (unit_.is(next, "(") || unit_.is(next, ")")) {
      return; // a function, or a pointer to one or to an array
    }
    Parameter named =
        parameter(typedef_name.specifiers, {.begin = typedef_name.declarator.begin, .end = next});
    const bool other_type = attributed || unit_.is(next, "["); // a vector, for example
    if (other_type) {
      named.type = name;
    }
    if (named.is_pointer || named.space != AddressSpace::none) {
      unit_.qualified_typedefs[name] = named;
    }
    const bool has_members = unit_.find(typedef_name.specifiers, "{") != typedef_name.specifiers.end;
    if (!named.is_pointer && !has_members && !other_type) {
      unit_.typedefs[name] = named.type;
    }
  }

  // True for "__attribute__((aligned(8)))" alone; other attributes may turn the type into a vector.
  [[nodiscard]] bool aligns(std::size_t attribute) const {
    const std::size_t close = unit_.counterpart(attribute + 1);
    return close - attribute == 8 &&
           (tokens_[attribute + 3].is("aligned") || tokens_[attribute + 3].is("__aligned__")) &&
           tokens_[attribute + 4].is("(");
  }

  // `open` is the bracket of its parameters.
  Result<void> function(std::size_t begin, std::size_t name, std::size_t open) {
    Function found{.name = tokens_[name].text, .begin = begin, .name_token = name};
    const TokenRange before_name{.begin = begin, .end = name};
    found.is_kernel = unit_.contains(before_name, "kernel") || unit_.contains(before_name, "__kernel");
    if (found.is_kernel && open != name + 1) {
      return tl::unexpected(error_at(unit_, name, ErrorCode::unsupported_kernel,
                                     "the name of a kernel is in brackets", "remove them"));
    }
    const std::size_t close = unit_.counterpart(open);
    found.parameter_list = {.begin = open + 1, .end = close};
    const std::size_t next = unit_.after_attributes(close + 1);
    if (next < tokens_.size() && tokens_[next].kind == TokenKind::identifier && !unit_.is(next + 1, "(")) {
      return tl::unexpected(
          error_at(unit_, next, ErrorCode::unsupported_kernel,
                   fmt::format("the types of the parameters of {} follow their list", in_quotes(found.name)),
                   "write them in the list: void k(global float* a, int n)"));
    }
    at_ = unit_.find({.begin = close + 1, .end = tokens_.size()}, ";{");
    if (at_ >= tokens_.size()) {
      return tl::unexpected(error_at(unit_, begin, ErrorCode::kernel_source, "this declaration does not end",
                                     "end it with a semicolon, or give the function a body"));
    }
    const std::size_t signature_end = at_;
    if (tokens_[at_].is("{")) {
      const std::size_t end = unit_.counterpart(at_);
      found.body = TokenRange{.begin = at_, .end = end + 1};
      TIDEGATE_CHECK(static_variables(*found.body));
      at_ = end;
    }
    found.end = ++at_;
    attributes({.begin = begin, .end = found.name_token}, found);
    attributes({.begin = close, .end = signature_end}, found);
    parameters(found);
    unit_.functions.push_back(std::move(found));
    return {};
  }

  // Refuses static variables in a body, but those of constant and local memory, for the reason of file scope.
  Result<void> static_variables(TokenRange body) {
    for (std::size_t i = body.begin; i < body.end; ++i) {
      if (!tokens_[i].is("static") && !tokens_[i].is("extern")) {
        continue;
      }
      std::size_t begin = i; // of the declaration, which may name its memory before
      while (begin > body.begin + 1 && !tokens_[begin - 1].is(";") && !tokens_[begin - 1].is("{") &&
             !tokens_[begin - 1].is("}")) {
        --begin;
      }
      const std::size_t end = unit_.find({.begin = i, .end = body.end}, ";=");
      bool allowed = false;
      for (std::size_t j = begin; j < end; ++j) {
        const auto space = address_space(tokens_[j].text);
        allowed |= space == AddressSpace::constant || space == AddressSpace::local;
      }
      if (!allowed) {
        return tl::unexpected(
            error_at(unit_, i, ErrorCode::unsupported_kernel,
                     fmt::format("this {} variable is outside constant and local memory", tokens_[i].text),
                     fmt::format("pass it as a buffer: a persistent kernel and a plain one would each have a "
                                 "separate copy; {}",
                                 see_unsupported)));
      }
    }
    return {};
  }

  void attributes(TokenRange range, Function& found) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      found.is_overloadable |= tokens_[i].is("overloadable") || tokens_[i].is("__overloadable__");
      if (tokens_[i].is("reqd_work_group_size") || tokens_[i].is("__reqd_work_group_size__")) {
        found.required_sizes = unit_.split({.begin = i + 2, .end = unit_.counterpart(i + 1)});
      }
    }
  }

  void parameters(Function& found) {
    for (const TokenRange part : unit_.split(found.parameter_list)) {
      if (part.begin != part.end && !(part.end == part.begin + 1 && tokens_[part.begin].is("void"))) {
        found.parameters.push_back(parameter({}, part));
      }
    }
  }

  // Parses a parameter, or a typedef, whose specifiers may be elsewhere.
  Parameter parameter(TokenRange specifiers, TokenRange declarator) {
    Parameter result{.tokens = declarator};
    std::vector<std::string_view> words;
    bool array = false;
    for (const TokenRange range : {specifiers, declarator}) {
      for (std::size_t i = range.begin; i < range.end; ++i) {
        const Token& token = tokens_[i];
        if (const std::size_t next = unit_.after_attributes(i); next != i) {
          i = next - 1;
        } else if (token.is("*")) {
          result.is_pointer = true;
        } else if (token.is("[") || token.is("{")) { // bounds, or members of a structure
          array |= token.is("[");
          i = unit_.counterpart(i);
        } else if (token.kind != TokenKind::identifier || token.is("typedef")) {
          continue;
        } else if (const AddressSpace space = address_space(token.text); space != AddressSpace::none) {
          result.space = space;
        } else if (token.is("const")) {
          result.is_const |= !result.is_pointer;
        } else if (const auto access = image_access(token.text)) {
          result.image_access = access;
        } else if (is_qualifier(token.text)) {
          continue;
        } else if (result.is_pointer) {
          result.name = token.text;
        } else {
          words.push_back(token.text);
        }
      }
    }
    // Without a star the name is the last word, unless the words are only a type.
    const bool tagged =
        !words.empty() && (words.front() == "struct" || words.front() == "union" || words.front() == "enum");
    if (result.name.empty() && words.size() > (tagged ? 2U : 1U) && !is_type_word(words.back())) {
      result.name = words.back();
      words.pop_back();
    }
    result.type = canonical_type(words, unit_.typedefs);
    if (words.size() == 1) {
      take_typedef(std::string(words.front()), result);
    }
    if (is_image_type(result.type)) {
      result.image_access = result.image_access.value_or(ImageAccess::read_only);
    }
    result.is_pointer |= array;
    result.is_const |= result.space == AddressSpace::constant;
    return result;
  }

  // Applies a typedef of a pointer, or of a type in an address space.
  void take_typedef(const std::string& name, Parameter& result) const {
    const auto named = unit_.qualified_typedefs.find(name);
    if (named == unit_.qualified_typedefs.end() || (result.is_pointer && named->second.is_pointer)) {
      return; // a pointer to a pointer points into private memory
    }
    if (named->second.is_pointer) {
      result.is_const = false; // "const floats" is a constant pointer, not a pointer to constants
    }
    result.is_const |= named->second.is_const;
    result.is_pointer |= named->second.is_pointer;
    result.space = named->second.space;
    result.type = named->second.type;
  }

  TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::size_t next_name_ = 0; // index of the next name to look at
};

Result<void> match_brackets(TranslationUnit& unit) {
  const std::vector<Token>& tokens = unit.source.tokens;
  unit.counterparts.assign(tokens.size(), tokens.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].opens()) {
      open.push_back(i);
    } else if (tokens[i].closes() && !open.empty()) {
      const Token& opening = tokens[open.back()];
      if (tokens[i].is(opening.is("(") ? ")" : opening.is("[") ? "]" : "}")) {
        unit.counterparts[i] = open.back();
        unit.counterparts[open.back()] = i;
        open.pop_back();
      } else {
        break;
      }
    } else if (tokens[i].closes()) {
      open.push_back(i);
      break;
    }
  }
  if (open.empty()) {
    return {};
  }
  return tl::unexpected(
      error_at(unit, open.front(), ErrorCode::kernel_source,
               fmt::format("this {} has no counterpart", in_quotes(tokens[open.front()].text)),
               "close what is open, or remove it"));
}

// Fills in the properties that depend on the values of enumerators.
void evaluate_constants(TranslationUnit& unit) {
  const ConstantValues values(unit);
  for (Function& function : unit.functions) {
    const Decl* const decl = unit.tree->declaration(function.name_token);
    const bool known_parameters = decl != nullptr && decl->parameters.size() == function.parameters.size();
    for (std::size_t i = 0; known_parameters && i < function.parameters.size(); ++i) {
      if (std::string integer = values.integer_of(*decl->parameters[i]->type); !integer.empty()) {
        function.parameters[i].is_enumeration = true;
        function.parameters[i].type = std::move(integer);
      }
    }
    std::array<std::uint64_t, 3> size{1, 1, 1};
    bool known = !function.required_sizes.empty() && function.required_sizes.size() <= size.size();
    for (std::size_t i = 0; known && i < function.required_sizes.size(); ++i) {
      const auto value = values.value(function.required_sizes[i]);
      known = value.has_value();
      size[i] = static_cast<std::uint64_t>(value.value_or(0));
    }
    if (known) {
      function.required_local_size = size;
    }
  }
}

} // namespace

const Function* TranslationUnit::definition(std::string_view name) const {
  const auto found = std::ranges::find_if(
      functions, [name](const Function& function) { return function.body && function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

const Name* TranslationUnit::meaning(std::size_t token) const {
  const std::size_t name = meanings[token];
  return name == no_name ? nullptr : &names[name];
}

std::span<const Token> TranslationUnit::tokens(TokenRange range) const {
  return std::span(source.tokens).subspan(range.begin, range.end - range.begin);
}

bool TranslationUnit::contains(TokenRange range, std::string_view text) const {
  return std::ranges::find(tokens(range), text, &Token::text) != tokens(range).end();
}

bool TranslationUnit::is(std::size_t token, std::string_view text) const {
  return token < source.tokens.size() && source.tokens[token].text == text;
}

std::size_t TranslationUnit::counterpart(std::size_t bracket) const {
  return bracket < counterparts.size() ? counterparts[bracket] : source.tokens.size();
}

bool TranslationUnit::is_call(std::size_t token) const {
  return source.tokens[token].kind == TokenKind::identifier && is(token + 1, "(") && !is_member(token);
}

bool TranslationUnit::is_member(std::size_t token) const {
  return token > 0 && (is(token - 1, ".") || is(token - 1, "->"));
}

std::optional<Argument> TranslationUnit::argument(std::size_t token) const {
  if (!(is(token + 1, ",") || is(token + 1, ")")) || !(is(token - 1, ",") || is(token - 1, "("))) {
    return {};
  }
  Argument found;
  std::size_t at = token - 1;
  while (at > 0 && !source.tokens[at].opens()) {
    found.index += is(at, ",") ? 1 : 0;
    at = (source.tokens[at].closes() ? counterpart(at) : at) - 1;
  }
  found.function = at - 1;
  return at > 0 && is(at, "(") && is_call(at - 1) ? std::optional(found) : std::nullopt;
}

std::size_t TranslationUnit::after_attributes(std::size_t token) const {
  while (token < source.tokens.size() && is_attribute(source.tokens[token].text) && is(token + 1, "(")) {
    token = std::min(counterpart(token + 1) + 1, source.tokens.size());
  }
  return token;
}

std::size_t TranslationUnit::find(TokenRange range, std::string_view characters) const {
  std::size_t i = range.begin;
  while (i < range.end) {
    const Token& token = source.tokens[i];
    if (token.text.size() == 1 && characters.find(token.text[0]) != std::string_view::npos) {
      return i;
    }
    i = token.opens() ? counterpart(i) + 1 : i + 1;
  }
  return range.end;
}

std::vector<TokenRange> TranslationUnit::split(TokenRange range) const {
  std::vector<TokenRange> parts;
  for (std::size_t at = range.begin; at < range.end;) {
    parts.push_back({.begin = at, .end = find({.begin = at, .end = range.end}, ",")});
    at = parts.back().end + 1;
  }
  return parts;
}

Result<TranslationUnit> parse_translation_unit(TokenStream source) {
  TranslationUnit unit{.source = std::move(source)};
  TIDEGATE_CHECK(match_brackets(unit));
  parse_tree(unit);
  TIDEGATE_CHECK(Parser(unit).run());
  evaluate_constants(unit);
  clear_lost_const(unit);
  return unit;
}

std::string text_of(const TranslationUnit& unit, TokenRange range) {
  return spelling(unit.tokens(range));
}

std::string resolved_text(const TranslationUnit& unit, const Parameter& parameter) {
  std::string text;
  for (std::size_t i = parameter.tokens.begin; i < parameter.tokens.end; ++i) {
    const Token& token = unit.source.tokens[i];
    const Name* const name = unit.meaning(i);
    const auto named = name != nullptr && name->kind == NameKind::type ? unit.typedefs.find(token.text)
                                                                       : unit.typedefs.end();
    text += i > parameter.tokens.begin && token.space_before ? " " : "";
    text += named == unit.typedefs.end() ? token.text : named->second;
  }
  return text;
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

namespace {

using Words = std::vector<std::string>;

// Words after "#pragma".
Words words_of(const Token& pragma) {
  Words words;
  const auto line = Lexer(pragma.text, "").next_line();
  for (const Token& token : line.value_or(std::vector<Token>())) {
    words.push_back(token.text);
  }
  words.erase(words.begin(),
              words.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(words.size(), 2)));
  return words;
}

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& known, std::string_view word) {
  return std::ranges::find(known, word) != known.end();
}

bool starts_with(const Words& words, std::initializer_list<std::string_view> wanted) {
  return words.size() >= wanted.size() && std::ranges::equal(wanted, std::span(words).first(wanted.size()));
}

// True for a pragma that affects only the next statement, or nothing that is compiled.
bool ends_by_itself(const Words& words) {
  static constexpr std::array<std::string_view, 16> known{
      "unroll",   "nounroll", "unroll_and_jam", "nounroll_and_jam", "ivdep", "loop_count", "vector",
      "novector", "message",  "region",         "endregion",        "mark",  "ident",      "comment",
      "warning",  "once"};
  return words.empty() || is_among(known, words[0]) || starts_with(words, {"clang", "loop"}) ||
         starts_with(words, {"clang", "diagnostic"}) || starts_with(words, {"GCC", "diagnostic"}) ||
         starts_with(words, {"GCC", "unroll"}) || starts_with(words, {"GCC", "ivdep"});
}

bool contracts(const Words& words) {
  return starts_with(words, {"OPENCL", "FP_CONTRACT"}) || starts_with(words, {"STDC", "FP_CONTRACT"}) ||
         starts_with(words, {"clang", "fp", "contract", "("});
}

} // namespace

PragmaScope pragma_scope(const TranslationUnit& unit) {
  PragmaScope scope;
  bool contraction = false;
  std::size_t depth = 0; // of braces
  for (const Token& token : unit.source.tokens) {
    if (token.is("{") || token.is("}")) {
      depth += token.is("{") ? 1U : 0U;
      depth -= token.is("}") && depth > 0 ? 1U : 0U;
    }
    if (token.kind != TokenKind::pragma) {
      continue;
    }
    const Words words = words_of(token);
    if (ends_by_itself(words) || (contracts(words) && depth > 0)) { // the block ends it
      continue;
    }
    const bool extension = starts_with(words, {"OPENCL", "EXTENSION"}) && words.size() == 5;
    if (words[0] == "pack") {
      scope.packs = true;
    } else if (contracts(words)) {
      contraction = true;
    } else if (extension && words[4] == "enable") {
      scope.enables_fp64 |= words[2] == "all" || words[2].ends_with("fp64");
    } else if (depth == 0 || !starts_with(words, {"clang", "fp"})) {
      scope.obstacle = fmt::format("nothing ends the effect of its {}", in_quotes(token.text));
      return scope;
    }
  }
  if (scope.packs) {
    scope.before += "\n#pragma pack(push)\n#pragma pack()\n";
    scope.after += "\n#pragma pack(pop)\n";
  }
  if (contraction) {
    scope.after += "\n#pragma OPENCL FP_CONTRACT DEFAULT\n";
  }
  return scope;
}

} // namespace tidegate::opencl_c
