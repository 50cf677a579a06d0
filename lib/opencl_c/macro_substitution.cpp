#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/lexer.hpp>
#include <tidegate/opencl_c/macro_substitution.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidegate::opencl_c {
namespace {

Token stringized(const MacroArgument& argument) {
  Token result{.kind = TokenKind::string, .text = "\""};
  for (const auto& [token, painted] : argument.items) {
    if (token.space_before && result.text.size() > 1) {
      result.text += ' ';
    }
    const bool literal = token.kind == TokenKind::string || token.kind == TokenKind::character;
    const std::string text = literal ? opencl_c::quoted(token.text) : token.text;
    result.text += literal ? std::string_view(text).substr(1, text.size() - 2) : std::string_view(text);
  }
  // A backslash that stood alone, at the end, would take the closing quote away.
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
    return tl::unexpected(source_error(
        path, place,
        fmt::format("## joins {} and {} to what is no token", in_quotes(left.text), in_quotes(right.text)),
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

} // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + '"';
}

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

Result<MacroExpansion> substitute(const Macro& macro, std::span<const MacroArgument> arguments,
                                  const Token& name, std::string_view path) {
  std::vector<MacroItem> result, operand;
  bool joining = false;       // the token before this one has a ## behind it,
  bool left_is_empty = false; // and stands for nothing
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
    // A GNU extension: ", ## __VA_ARGS__" joins nothing, but takes the comma away where no argument is given.
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
      auto token = joined(result.back().token, operand.front().token, name, path);
      if (!token) {
        return tl::unexpected(std::move(token.error()));
      }
      result.pop_back();
      operand.front() = {.token = std::move(*token)};
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
    item.token.file = name.file;
    item.token.line = name.line;
    item.token.column = name.column;
  }
  return MacroExpansion{.items = std::move(result), .space_behind = space_pending};
}

} // namespace tidegate::opencl_c
