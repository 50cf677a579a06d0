#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/lexer.hpp>
#include <tidegate/opencl_c/macro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate::opencl_c {
namespace {

constexpr const char* variadic_name = "__VA_ARGS__";

// Reads "a, b, ...)" and returns how many tokens that is.
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
        macro.variadic = true; // a GNU extension: the rest of the arguments under a name of their own
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
                                         "name a parameter behind it"));
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
                                       "put a name behind it that is not \"defined\""));
  }
  return line[2];
}

Result<Macro> parse_macro(std::span<const Token> line, std::string_view path) {
  const auto name = macro_name(line, path);
  if (!name) {
    return tl::unexpected(name.error());
  }
  Macro macro{.name = name->text};
  std::span<const Token> rest = line.subspan(3);
  if (!rest.empty() && rest[0].is("(") && !rest[0].space_before) {
    macro.kind = MacroKind::function;
    const auto count = parse_parameters(rest.subspan(1), *name, path, macro);
    if (!count) {
      return tl::unexpected(count.error());
    }
    rest = rest.subspan(1 + *count);
  }
  if (const auto body = parse_body(rest, path, macro); !body) {
    return tl::unexpected(body.error());
  }
  return macro;
}

} // namespace tidegate::opencl_c
