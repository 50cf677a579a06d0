#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/lexer.hpp>
#include <tidegate/opencl_c/macro_expansion.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate::opencl_c {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20U; // of text and tokens in all: macros can double it
constexpr std::size_t most_depth = 256;                     // of calls in arguments, which recurse

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

// Pushes what the compiler's own macro stands for, where it matters before the compiler sees the text: in
// conditions; in arguments, which # and ## look at; and where the kernel that is generated may be compiled
// with other options, which version, extension and feature macros tell of.
Result<bool> MacroExpander::enter_predefined(const Token& name) {
  const bool keyword = is_qualifier(name.text) || is_attribute(name.text) ||
                       name.text.starts_with("__builtin_") || name.text.starts_with("__read_") ||
                       name.is("__write_only");
  const bool tells_of_options = !keyword && (name.text.starts_with("__") || name.text.starts_with("cl_") ||
                                             name.text.starts_with("CL_"));
  if (predefined_ == nullptr || name.is("defined") ||
      !(in_condition_ || (depth_ > 0 && has_operators_) || tells_of_options)) {
    return false;
  }
  const std::string* const text = predefined(name.text);
  if (text == nullptr || *text == name.text) {
    return false;
  }
  auto tokens = Lexer(*text, "the device's compiler").next_line();
  if (!tokens) {
    return tl::unexpected(std::move(tokens.error()));
  }
  const bool number = tokens->size() == 1 && tokens->front().kind == TokenKind::number;
  if (!in_condition_ && depth_ == 0 && !number) {
    return false;
  }
  if (auto spent = spend(text->size() + sizeof(MacroItem) * tokens->size(), name); !spent) {
    return tl::unexpected(std::move(spent.error()));
  }
  Context& context = contexts_.emplace_back();
  for (Token& token : *tokens) {
    token.file = name.file;
    token.line = name.line;
    token.column = name.column;
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

// The next token, whatever it is; none at the end of what may be read now.
Result<std::optional<MacroItem>> MacroExpander::read(bool past_directives) {
  while (true) {
    if (contexts_.empty()) {
      auto line = next_line_();
      if (!line) {
        return tl::unexpected(std::move(line.error()));
      }
      if (!*line || ((*line)->empty() && !past_directives)) {
        return std::nullopt;
      }
      push(std::move(**line), false);
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
    space_pending_ = space_pending_ || top.space_behind;
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

// The next token that is not replaced.
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
      const auto entered = enter_predefined(token);
      if (!entered) {
        return tl::unexpected(entered.error());
      }
      if (*entered) {
        continue;
      }
      return item;
    }
    const std::shared_ptr<Macro> macro = found->second;
    if (macro->disabled) {
      (*item)->painted = true;
      return item;
    }
    const auto entered = enter(macro, token);
    if (!entered) {
      return tl::unexpected(entered.error());
    }
    if (!*entered) {
      return item;
    }
  }
}

// Pushes the expansion of a macro, or answers false when its name stands for itself.
Result<bool> MacroExpander::enter(const std::shared_ptr<Macro>& macro, const Token& name) {
  if (macro->kind > MacroKind::function) {
    push({special(macro->kind, name)}, false);
    return true;
  }
  std::vector<MacroArgument> arguments;
  if (macro->kind == MacroKind::function) {
    auto next = read(false); // a name and a ( that a directive separates are no call
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
    auto given = read_arguments(*macro, name);
    if (!given) {
      return tl::unexpected(std::move(given.error()));
    }
    arguments = std::move(*given);
  }
  if (const auto spent = spend(bytes_of(*macro, arguments), name); !spent) {
    return tl::unexpected(spent.error());
  }
  auto expansion = substitute(*macro, arguments, name, files_[name.file]);
  if (!expansion) {
    return tl::unexpected(std::move(expansion.error()));
  }
  macro->disabled = true;
  contexts_.push_back(
      {.items = std::move(expansion->items), .macro = macro, .space_behind = expansion->space_behind});
  return true;
}

// Reads up to the closing parenthesis, and replaces macros in the arguments that the body takes so.
Result<std::vector<MacroArgument>> MacroExpander::read_arguments(const Macro& macro, const Token& name) {
  const std::size_t wanted = macro.parameters.size();
  std::vector<MacroArgument> arguments(1);
  for (std::size_t open = 1; open > 0;) {
    auto item = read();
    if (!item) {
      return tl::unexpected(std::move(item.error()));
    }
    if (!*item) {
      return tl::unexpected(error(name,
                                  fmt::format("the call of macro {} does not end", in_quotes(name.text)),
                                  "close its parentheses"));
    }
    const Token& token = (*item)->token;
    open += token.is("(") ? 1 : 0;
    open -= token.is(")") ? 1 : 0;
    if (open == 1 && token.is(",") && !(macro.variadic && arguments.size() == wanted)) {
      arguments.emplace_back();
    } else if (open > 0) {
      (*item)->painted = (*item)->painted || is_disabled(token); // it may leave the expansion it stands in
      arguments.back().items.push_back(std::move(**item));
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
    auto expanded = expand_argument(arguments[*body.parameter].items, name);
    if (!expanded) {
      return tl::unexpected(std::move(expanded.error()));
    }
    arguments[*body.parameter].expanded = std::move(*expanded);
  }
  return arguments;
}

// Replaces macros in the argument as if it were the whole text.
Result<std::vector<MacroItem>> MacroExpander::expand_argument(const std::vector<MacroItem>& items,
                                                              const Token& name) {
  if (depth_ == most_depth) {
    return tl::unexpected(error(name,
                                fmt::format("macro calls stand in arguments more than {} deep", most_depth),
                                "nest them less deeply"));
  }
  ++depth_;
  const bool space_pending_outside = std::exchange(space_pending_, false);
  contexts_.push_back({.items = items, .last = true});
  std::vector<MacroItem> result;
  while (true) {
    auto item = scan();
    if (!item) {
      return tl::unexpected(std::move(item.error()));
    }
    if (!*item) {
      break;
    }
    result.push_back(std::move(**item));
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
    token.text = opencl_c::quoted(files_[name.file]);
  }
  return token;
}

Result<std::optional<Token>> MacroExpander::next() {
  auto item = scan();
  if (!item) {
    return tl::unexpected(std::move(item.error()));
  }
  return *item ? std::optional(std::move((*item)->token)) : std::nullopt;
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

// Reads NAME or (NAME) behind "defined".
Result<std::optional<Token>> MacroExpander::read_defined(const Token& defined) {
  std::vector<Token> operand;
  do {
    auto item = read();
    if (!item) {
      return tl::unexpected(std::move(item.error()));
    }
    if (!*item) {
      break;
    }
    operand.push_back(std::move((*item)->token));
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
