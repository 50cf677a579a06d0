// Parsing of #define, substitution of arguments, and the expander's stack.
#include "opencl_c/macros.hpp"

#include "opencl_c/lexer.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

constexpr const char* variadic_name = "__VA_ARGS__";

// Reads "a, b, ...)" and returns the number of tokens.
Result<std::size_t> parse_parameters(std::span<const Token> tokens, const Token& name, std::string_view path,
                                     Macro& macro) {
  std::size_t at = 0;
  const auto next_is = [&](const char* text) { return at < tokens.size() && tokens[at].is(text); };
  const auto refused = [&](std::string_view problem) {
    return tl::unexpected(
        source_error(path, at < tokens.size() ? tokens[at] : name,
                     fmt::format("{} in the parameters of macro {}", problem, in_quotes(name.text)),
                     "write them as in NAME(a, b, ...)"));
  };
  if (next_is(")")) {
    return 1;
  }
  while (true) {
    if (next_is("...")) {
      macro.variadic = true;
      macro.parameters.emplace_back(variadic_name);
    } else if (at == tokens.size() || tokens[at].kind != TokenKind::identifier ||
               tokens[at].is(variadic_name)) {
      return refused("a name is missing");
    } else if (std::ranges::find(macro.parameters, tokens[at].text) != macro.parameters.end()) {
      return refused("a name comes twice");
    } else {
      macro.parameters.push_back(tokens[at].text);
      if (at + 1 < tokens.size() && tokens[at + 1].is("...")) {
        macro.variadic = true; // GNU extension: the parameter names all remaining arguments
        ++at;
      }
    }
    ++at;
    if (next_is(")")) {
      return at + 1;
    }
    if (macro.variadic || !next_is(",")) {
      return refused(macro.variadic ? "\")\" is missing" : "\",\" or \")\" is missing");
    }
    ++at;
  }
}

Result<void> parse_body(std::span<const Token> tokens, std::string_view path, Macro& macro) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("##")) {
      if (macro.body.empty() || i + 1 == tokens.size()) {
        return tl::unexpected(source_error(path, tokens[i], "## has nothing to join on one side",
                                           "put it between two tokens of the macro"));
      }
      macro.body.back().pasted = true;
      continue;
    }
    BodyToken body{.token = tokens[i]};
    if (macro.kind == MacroKind::function && tokens[i].is("#")) {
      ++i;
      body.stringized = true;
    }
    if (i < tokens.size() && tokens[i].kind == TokenKind::identifier) {
      const auto found = std::ranges::find(macro.parameters, tokens[i].text);
      if (found != macro.parameters.end()) {
        body.parameter = static_cast<std::size_t>(found - macro.parameters.begin());
      }
    }
    if (body.stringized && !body.parameter) {
      return tl::unexpected(source_error(path, body.token, "# is not followed by a parameter of the macro",
                                         "name a parameter after it"));
    }
    macro.body.push_back(std::move(body));
  }
  bool after_paste = false;
  for (BodyToken& body : macro.body) {
    body.takes_expanded = body.parameter && !body.stringized && !body.pasted && !after_paste;
    after_paste = body.pasted;
  }
  return {};
}

} // namespace

Result<Token> macro_name(std::span<const Token> line, std::string_view path) {
  const Token& directive = line[1];
  if (line.size() < 3 || line[2].kind != TokenKind::identifier || line[2].is("defined")) {
    const Token& place = line.size() < 3 ? directive : line[2];
    return tl::unexpected(source_error(path, place,
                                       fmt::format("#{} needs the name of a macro", directive.text),
                                       "put a name after it that is not \"defined\""));
  }
  return line[2];
}

Result<Macro> parse_macro(std::span<const Token> line, std::string_view path) {
  TIDEGATE_TRY(const auto name, macro_name(line, path));
  Macro macro{.name = name.text};
  std::span<const Token> rest = line.subspan(3);
  if (!rest.empty() && rest[0].is("(") && !rest[0].space_before) {
    macro.kind = MacroKind::function;
    TIDEGATE_TRY(const auto count, parse_parameters(rest.subspan(1), name, path, macro));
    rest = rest.subspan(1 + count);
  }
  TIDEGATE_CHECK(parse_body(rest, path, macro));
  return macro;
}

namespace {

constexpr std::string_view plain_macros =
    "NULL INFINITY NAN HUGE_VAL HUGE_VALF MAXFLOAT CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX "
    "SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX FP_ILOGB0 FP_ILOGBNAN "
    "FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMA_HALF FLT_EVAL_METHOD FLT_RADIX printf kernel_exec CL_VERSION_1_0 "
    "CL_VERSION_1_1 CL_VERSION_1_2 CL_VERSION_2_0 CL_VERSION_3_0 __OPENCL_VERSION__ __OPENCL_C_VERSION__ "
    "__OPENCL_CPP_VERSION__ __OPENCL_C__ __ENDIAN_LITTLE__ __IMAGE_SUPPORT__ __FAST_RELAXED_MATH__ "
    "__kernel_exec __clang__ __clang_major__ __GNUC__ __NVCC__ __NV_CL_C_VERSION __CUDA_ARCH__ __SPIR__ "
    "__SPIRV__ __POCL__ __CPU__ __GPU__ __AMD__ __INTEL__ __x86_64__ __LP64__ __has_builtin __has_extension "
    "__has_feature __has_attribute __has_include __cplusplus __STDC__ __STDC_VERSION__ __APPLE__ __linux__ "
    "__OPTIMIZE__ __NO_SIGNED_ZEROS__ __SIZEOF_POINTER__ ATOMIC_VAR_INIT ATOMIC_FLAG_INIT "
    "CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE CLK_IMAGE_MEM_FENCE CLK_NORMALIZED_COORDS_TRUE "
    "CLK_NORMALIZED_COORDS_FALSE CLK_ADDRESS_NONE CLK_ADDRESS_CLAMP CLK_ADDRESS_CLAMP_TO_EDGE "
    "CLK_ADDRESS_REPEAT CLK_ADDRESS_MIRRORED_REPEAT CLK_FILTER_NEAREST CLK_FILTER_LINEAR";

} // namespace

const std::set<std::string, std::less<>>& standard_macros() {
  static const std::set<std::string, std::less<>> names = [] {
    std::istringstream words{std::string(plain_macros)};
    std::set<std::string, std::less<>> all{std::istream_iterator<std::string>(words), {}};
    for (const char* type : {"FLT", "DBL", "HALF"}) {
      for (const char* limit : {"DIG", "MANT_DIG", "MAX_10_EXP", "MAX_EXP", "MIN_10_EXP", "MIN_EXP", "RADIX",
                                "MAX", "MIN", "EPSILON"}) {
        all.insert(std::string(type) + "_" + limit);
      }
    }
    for (const char* constant : {"E", "LOG2E", "LOG10E", "LN2", "LN10", "PI", "PI_2", "PI_4", "1_PI", "2_PI",
                                 "2_SQRTPI", "SQRT2", "SQRT1_2"}) {
      for (const char* type : {"", "_F", "_H"}) {
        all.insert("M_" + std::string(constant) + type);
      }
    }
    for (const char* feature :
         {"3d_image_writes", "atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_device",
          "atomic_scope_all_devices", "device_enqueue", "fp64", "generic_address_space", "images", "int64",
          "pipes", "program_scope_global_variables", "read_write_images", "subgroups",
          "work_group_collective_functions"}) {
      all.insert("__opencl_c_" + std::string(feature));
    }
    for (const char* extension :
         {"fp64", "fp16", "byte_addressable_store", "global_int32_base_atomics",
          "global_int32_extended_atomics", "local_int32_base_atomics", "local_int32_extended_atomics",
          "int64_base_atomics", "int64_extended_atomics", "3d_image_writes", "subgroups"}) {
      all.insert("cl_khr_" + std::string(extension));
    }
    all.insert({"cl_amd_fp64", "cl_nv_pragma_unroll"});
    return all;
  }();
  return names;
}

bool may_be_predefined(std::string_view name) {
  return name.starts_with('_') || name.starts_with("cl_") || name.starts_with("CL") ||
         standard_macros().contains(name);
}

bool is_condition_operator(std::string_view name) {
  return name.starts_with("__has_") || name == "__is_identifier" || name == "__building_module";
}

struct MacroArgument {
  std::vector<MacroItem> items;
  std::optional<std::vector<MacroItem>> expanded; // set if the body uses the expanded argument
  bool omitted = false; // a missing variadic argument, which differs from an empty one
};

namespace {

struct MacroExpansion {
  std::vector<MacroItem> items;
  bool trailing_space = false; // a blank left by an empty replacement at the end
};

// Returns the text as a string literal.
std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + '"';
}

Token stringized(const MacroArgument& argument) {
  Token result{.kind = TokenKind::string, .text = "\""};
  for (const auto& [token, painted] : argument.items) {
    if (token.space_before && result.text.size() > 1) {
      result.text += ' ';
    }
    const bool literal = token.kind == TokenKind::string || token.kind == TokenKind::character;
    const std::string text = literal ? string_literal(token.text) : token.text;
    result.text += literal ? std::string_view(text).substr(1, text.size() - 2) : std::string_view(text);
  }
  // A single trailing backslash would escape the closing quote.
  const std::size_t last = result.text.find_last_not_of('\\');
  if ((result.text.size() - last) % 2 == 0) {
    result.text.pop_back();
  }
  result.text += '"';
  return result;
}

Result<Token> joined(const Token& left, const Token& right, const Token& place, std::string_view path) {
  const std::string text = left.text + right.text;
  Lexer lexer(text, path);
  auto line = lexer.next_line();
  if (!line || line->size() != 1 || line->front().text.size() != text.size()) {
    return tl::unexpected(source_error(path, place,
                                       fmt::format("## joins {} and {} into something that is not a token",
                                                   in_quotes(left.text), in_quotes(right.text)),
                                       "leave the ## out, or join parts of one name, number or operator"));
  }
  line->front().space_before = left.space_before;
  return std::move(line->front());
}

std::size_t size_of(std::span<const MacroItem> items) {
  std::size_t bytes = 0;
  for (const MacroItem& item : items) {
    bytes += sizeof(item) + item.token.text.size();
  }
  return bytes;
}

// Estimate of the memory that substitute() needs.
std::size_t bytes_of(const Macro& macro, std::span<const MacroArgument> arguments) {
  std::vector<std::size_t> as_written, expanded;
  for (const MacroArgument& argument : arguments) {
    as_written.push_back(size_of(argument.items));
    expanded.push_back(argument.expanded ? size_of(*argument.expanded) : 0);
  }
  std::size_t bytes = 0;
  for (const BodyToken& body : macro.body) {
    bytes += !body.parameter       ? sizeof(MacroItem) + body.token.text.size()
             : body.takes_expanded ? expanded[*body.parameter]
                                   : as_written[*body.parameter];
  }
  return bytes;
}

// Expands the call of `macro` at `name`: puts the arguments into the body and applies # and ## (C99 6.10.3.1
// to 6.10.3.3). Every token gets the position of `name`. Takes one argument for each parameter. Error:
// kernel_source in the file `path` for a ## whose result is not a token.
Result<MacroExpansion> substitute(const Macro& macro, std::span<const MacroArgument> arguments,
                                  const Token& name, std::string_view path) {
  std::vector<MacroItem> result, operand;
  bool joining = false;       // the previous token is followed by ##
  bool left_is_empty = false; // and was replaced by nothing
  bool space_pending = false;
  for (const BodyToken& body : macro.body) {
    const MacroArgument* argument = body.parameter ? &arguments[*body.parameter] : nullptr;
    if (argument == nullptr) {
      operand.assign(1, {.token = body.token});
    } else if (body.stringized) {
      operand.assign(1, {.token = stringized(*argument)});
    } else {
      operand = body.takes_expanded ? *argument->expanded : argument->items;
    }
    // GNU extension: ", ## __VA_ARGS__" joins nothing and drops the comma if the argument is missing.
    const bool after_comma = joining && macro.variadic && body.parameter == macro.parameters.size() - 1 &&
                             !left_is_empty && result.back().token.is(",");
    if (after_comma && argument->omitted) {
      result.pop_back();
    }
    if (!joining) {
      space_pending = space_pending || body.token.space_before;
      if (!operand.empty()) {
        operand.front().token.space_before = std::exchange(space_pending, false);
      }
    } else if (!operand.empty() && !left_is_empty && !after_comma) {
      TIDEGATE_TRY(auto token, joined(result.back().token, operand.front().token, name, path));
      result.pop_back();
      operand.front() = {.token = std::move(token)};
    }
    left_is_empty = operand.empty() && (!joining || left_is_empty || after_comma);
    joining = body.pasted;
    std::ranges::move(operand, std::back_inserter(result));
  }
  if (!result.empty()) {
    result.front().token.space_before = name.space_before;
  } else {
    space_pending = space_pending || name.space_before;
  }
  for (MacroItem& item : result) {
    item.token.move_to(name);
  }
  return MacroExpansion{.items = std::move(result), .trailing_space = space_pending};
}

constexpr std::size_t most_bytes = std::size_t{256} << 20U; // of text and tokens: macros can double them
constexpr std::size_t most_depth = 256;                     // nested calls in arguments, which recurse

} // namespace

MacroExpander::MacroExpander(const std::vector<std::string>& files, PredefinedMacros* predefined,
                             NextLine next_line)
    : files_(files), predefined_(predefined), next_line_(std::move(next_line)), bytes_left_(most_bytes) {
  for (const auto& [name, kind] : {std::pair("__LINE__", MacroKind::line),
                                   {"__FILE__", MacroKind::file},
                                   {"__COUNTER__", MacroKind::counter}}) {
    macros_.emplace(name, std::make_shared<Macro>(Macro{.name = name, .kind = kind}));
  }
}

void MacroExpander::define(Macro macro) {
  std::string name = macro.name;
  if (may_be_predefined(name) && predefined(name) != nullptr) {
    overridden_.insert(name);
  }
  undefined_.erase(name);
  has_operators_ |= std::ranges::any_of(
      macro.body, [](const BodyToken& token) { return token.stringized || token.pasted; });
  macros_.insert_or_assign(std::move(name), std::make_shared<Macro>(std::move(macro)));
}

void MacroExpander::undefine(const std::string& name) {
  if (may_be_predefined(name) && predefined(name) != nullptr) {
    overridden_.insert(name);
  }
  macros_.erase(name);
  undefined_.insert(name);
}

bool MacroExpander::is_defined(const std::string& name) {
  return macros_.contains(name) || predefined(name) != nullptr;
}

const std::string* MacroExpander::predefined(const std::string& name) {
  if (predefined_ == nullptr || undefined_.contains(name) || macros_.contains(name)) {
    return nullptr;
  }
  const auto found = predefined_->names.find(name);
  if (found == predefined_->names.end()) {
    predefined_->unknown_names.insert(name);
    return nullptr;
  }
  return found->second ? &*found->second : nullptr;
}

// Pushes the replacement of a predefined macro where it matters before compilation: in conditions; in
// arguments of # and ##; and for version, extension and feature macros, since the generated kernel may be
// compiled with other options.
Result<bool> MacroExpander::enter_predefined(const Token& name) {
  const bool keyword = is_qualifier(name.text) || is_attribute(name.text) ||
                       name.text.starts_with("__builtin_") || name.text.starts_with("__read_") ||
                       name.is("__write_only");
  const bool depends_on_options = !keyword && (name.text.starts_with("__") || name.text.starts_with("cl_") ||
                                               name.text.starts_with("CL_"));
  if (predefined_ == nullptr || name.is("defined") ||
      !(in_condition_ || (depth_ > 0 && has_operators_) || depends_on_options)) {
    return false;
  }
  const std::string* const text = predefined(name.text);
  if (text == nullptr || *text == name.text) {
    return false;
  }
  TIDEGATE_TRY(auto tokens, Lexer(*text, "the device's compiler").next_line());
  const bool number = tokens.size() == 1 && tokens.front().kind == TokenKind::number;
  if (!in_condition_ && depth_ == 0 && !number) {
    return false;
  }
  TIDEGATE_CHECK(spend(text->size() + sizeof(MacroItem) * tokens.size(), name));
  Context& context = contexts_.emplace_back();
  for (Token& token : tokens) {
    token.move_to(name);
    context.items.push_back({.token = std::move(token), .painted = true});
  }
  if (!context.items.empty()) {
    context.items.front().token.space_before = name.space_before;
  }
  return true;
}

Error MacroExpander::error(const Token& at, std::string message, std::string fix) const {
  return source_error(files_[at.file], at, std::move(message), std::move(fix));
}

Result<void> MacroExpander::spend(std::size_t bytes, const Token& place) {
  if (bytes > bytes_left_) {
    return tl::unexpected(error(place, "the program takes more than 256 MiB with its macros replaced",
                                "look for macros that repeat each other, or files that include each other"));
  }
  bytes_left_ -= bytes;
  return {};
}

bool MacroExpander::is_disabled(const Token& token) const {
  const auto found = macros_.find(token.text);
  return found != macros_.end() && found->second->disabled;
}

// Returns the next token without expansion; none at the end of what may be read now.
Result<std::optional<MacroItem>> MacroExpander::read(bool past_directives) {
  while (true) {
    if (contexts_.empty()) {
      TIDEGATE_TRY(auto line, next_line_());
      if (!line || (line->empty() && !past_directives)) {
        return std::nullopt;
      }
      push(std::move(*line), false);
    }
    Context& top = contexts_.back();
    if (top.at < top.items.size()) {
      MacroItem& item = top.items[top.at++];
      item.token.space_before = std::exchange(space_pending_, false) || item.token.space_before;
      return std::move(item);
    }
    if (top.last) {
      return std::nullopt;
    }
    space_pending_ = space_pending_ || top.trailing_space;
    if (top.macro) {
      top.macro->disabled = false;
    }
    contexts_.pop_back();
  }
}

void MacroExpander::push(std::vector<Token> tokens, bool last) {
  Context context{.last = last};
  context.items.reserve(tokens.size());
  for (Token& token : tokens) {
    context.items.push_back({.token = std::move(token)});
  }
  contexts_.push_back(std::move(context));
}

// Returns the next token that no macro replaces.
Result<std::optional<MacroItem>> MacroExpander::scan() {
  while (true) {
    auto item = read();
    if (!item || !*item) {
      return item;
    }
    Token& token = (*item)->token;
    if (token.kind != TokenKind::identifier || (*item)->painted) {
      return item;
    }
    const auto found = macros_.find(token.text);
    if (found == macros_.end()) {
      TIDEGATE_TRY(const auto entered, enter_predefined(token));
      if (entered) {
        continue;
      }
      return item;
    }
    const std::shared_ptr<Macro> macro = found->second;
    if (macro->disabled) {
      (*item)->painted = true;
      return item;
    }
    TIDEGATE_TRY(const auto entered, enter(macro, token));
    if (!entered) {
      return item;
    }
  }
}

// Pushes the expansion of a macro; returns false if the name is not a call and stays.
Result<bool> MacroExpander::enter(const std::shared_ptr<Macro>& macro, const Token& name) {
  if (macro->kind > MacroKind::function) {
    push({special(macro->kind, name)}, false);
    return true;
  }
  std::vector<MacroArgument> arguments;
  if (macro->kind == MacroKind::function) {
    auto next = read(false); // a directive between the name and the parenthesis means no call
    if (!next) {
      return tl::unexpected(std::move(next.error()));
    }
    if (!*next || !(*next)->token.is("(")) {
      if (*next) {
        Context& put_back = contexts_.emplace_back();
        put_back.items.push_back(std::move(**next));
      }
      return false;
    }
    TIDEGATE_TRY(auto given, read_arguments(*macro, name));
    arguments = std::move(given);
  }
  TIDEGATE_CHECK(spend(bytes_of(*macro, arguments), name));
  TIDEGATE_TRY(auto expansion, substitute(*macro, arguments, name, files_[name.file]));
  macro->disabled = true;
  contexts_.push_back(
      {.items = std::move(expansion.items), .macro = macro, .trailing_space = expansion.trailing_space});
  return true;
}

// Reads up to the closing parenthesis, and expands the arguments that the body uses expanded.
Result<std::vector<MacroArgument>> MacroExpander::read_arguments(const Macro& macro, const Token& name) {
  const std::size_t wanted = macro.parameters.size();
  std::vector<MacroArgument> arguments(1);
  for (std::size_t open = 1; open > 0;) {
    TIDEGATE_TRY(auto item, read());
    if (!item) {
      return tl::unexpected(error(name,
                                  fmt::format("the call of macro {} does not end", in_quotes(name.text)),
                                  "close its parentheses"));
    }
    const Token& token = item->token;
    open += token.is("(") ? 1 : 0;
    open -= token.is(")") ? 1 : 0;
    if (open == 1 && token.is(",") && !(macro.variadic && arguments.size() == wanted)) {
      arguments.emplace_back();
    } else if (open > 0) {
      item->painted |= is_disabled(token); // it may leave the expansion that disables it
      arguments.back().items.push_back(std::move(*item));
    }
  }
  if (wanted == 0 && arguments.size() == 1 && arguments[0].items.empty()) {
    arguments.clear();
  }
  const std::size_t given = arguments.size();
  if (macro.variadic && (given + 1 == wanted || (wanted == 1 && arguments[0].items.empty()))) {
    arguments.resize(wanted);
    arguments.back().omitted = true;
  }
  if (arguments.size() != wanted) {
    return tl::unexpected(
        error(name,
              fmt::format("macro {} takes {}, but {} given", in_quotes(name.text), plural(wanted, "argument"),
                          given == 1 ? "1 is" : fmt::format("{} are", given)),
              "pass one argument for each parameter"));
  }
  for (const BodyToken& body : macro.body) {
    if (!body.takes_expanded || arguments[*body.parameter].expanded) {
      continue;
    }
    TIDEGATE_TRY(auto expanded, expand_argument(arguments[*body.parameter].items, name));
    arguments[*body.parameter].expanded = std::move(expanded);
  }
  return arguments;
}

// Expands the argument as if it were the whole text.
Result<std::vector<MacroItem>> MacroExpander::expand_argument(const std::vector<MacroItem>& items,
                                                              const Token& name) {
  if (depth_ == most_depth) {
    return tl::unexpected(
        error(name, fmt::format("macro calls in arguments are nested more than {} deep", most_depth),
              "nest them less deeply"));
  }
  ++depth_;
  const bool space_pending_outside = std::exchange(space_pending_, false);
  contexts_.push_back({.items = items, .last = true});
  std::vector<MacroItem> result;
  while (true) {
    TIDEGATE_TRY(auto item, scan());
    if (!item) {
      break;
    }
    result.push_back(std::move(*item));
  }
  contexts_.pop_back();
  space_pending_ = space_pending_outside;
  --depth_;
  return result;
}

Token MacroExpander::special(MacroKind kind, const Token& name) {
  Token token = name;
  token.kind = TokenKind::number;
  if (kind == MacroKind::line) {
    token.text = fmt::format("{}", name.line);
  } else if (kind == MacroKind::counter) {
    token.text = fmt::format("{}", counter_++);
  } else {
    token.kind = TokenKind::string;
    token.text = string_literal(files_[name.file]);
  }
  return token;
}

Result<std::optional<Token>> MacroExpander::next() {
  TIDEGATE_TRY(auto item, scan());
  return item ? std::optional(std::move(item->token)) : std::nullopt;
}

Result<std::vector<Token>> MacroExpander::expand(std::vector<Token> tokens, bool evaluate_defined) {
  push(std::move(tokens), true);
  std::vector<Token> result;
  const bool outside = std::exchange(in_condition_, evaluate_defined);
  while (true) {
    auto token = next();
    if (token && *token && evaluate_defined && (*token)->is("defined")) {
      token = read_defined(**token);
    }
    if (!token) {
      return tl::unexpected(std::move(token.error()));
    }
    if (!*token) {
      break;
    }
    result.push_back(std::move(**token));
  }
  in_condition_ = outside;
  contexts_.pop_back();
  return result;
}

// Reads NAME or (NAME) after "defined".
Result<std::optional<Token>> MacroExpander::read_defined(const Token& defined) {
  std::vector<Token> operand;
  do {
    TIDEGATE_TRY(auto item, read());
    if (!item) {
      break;
    }
    operand.push_back(std::move(item->token));
  } while (operand[0].is("(") && operand.size() < 3);
  const bool enclosed = operand.size() == 3 && operand[2].is(")");
  const std::size_t name = enclosed ? 1 : 0;
  if ((operand.size() != 1 && !enclosed) || operand[name].kind != TokenKind::identifier) {
    return tl::unexpected(
        error(defined, "\"defined\" needs the name of a macro", "write defined(NAME) or defined NAME"));
  }
  Token answer = defined;
  answer.kind = TokenKind::number;
  answer.text = is_defined(operand[name].text) ? "1" : "0";
  return answer;
}

} // namespace tidegate::opencl_c
