// Tokens written as text: reading it again yields the same tokens on the same lines.
#include "opencl_c/outline.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

TranslationUnit unit_of(std::vector<Token> tokens) {
  return {.source = {.files = {"a.cl", "b.h"}, .tokens = std::move(tokens)}};
}

std::string write(const TranslationUnit& unit, const Edits& edits = {}) {
  std::string text;
  TokenWriter(unit, text).write({.begin = 0, .end = unit.source.tokens.size()}, edits);
  return text;
}

// No backslash and no number sign: they would form directives and spliced lines, which the preprocessor never
// leaves in a program.
const std::vector<std::string>& pool() {
  static const std::vector<std::string> texts{
      "a",  "L",  "e5",  "x_1", "_",  "a$",  "$",    "\xc3\xa4", "u8",     "0", "1u", "0x1e", "1e",  "3.",
      ".5", "1p", "0xE", "2.f", "1$", "'c'", "L'c'", "\"s\"",    "L\"s\"", "(", ")",  "[",    "]",   "{",
      "}",  ";",  ",",   "~",   "?",  ":",   "+",    "++",       "+=",     "-", "--", "-=",   "->",  "*",
      "*=", "/",  "/=",  "%",   "%=", "<",   "<=",   "<<",       "<<=",    ">", ">=", ">>",   ">>=", "=",
      "==", "!",  "!=",  "&",   "&&", "&=",  "|",    "||",       "|=",     "^", "^=", ".",    "...", "@"};
  return texts;
}

// The single token of the text.
Token token_of(const std::string& text) {
  Lexer lexer(text, "pool");
  const auto tokens = lexer.next_line();
  REQUIRE(tokens);
  REQUIRE(tokens->size() == 1);
  Token token = tokens->front();
  token.space_before = false;
  return token;
}

// Compares the tokens read again with the originals and their lines. A #pragma may move to a separate line.
std::string first_difference(const TranslationUnit& unit, const std::string& text) {
  const auto placed = placed_tokens(text);
  for (std::size_t i = 0; i < unit.source.tokens.size(); ++i) {
    const Token& token = unit.source.tokens[i];
    if (i == placed.size()) {
      return fmt::format("token {} {} is missing", i, token.text);
    }
    const bool pragma = token.kind == TokenKind::pragma;
    if (placed[i].text != token.text) {
      return fmt::format("token {} {} is {}", i, token.text, placed[i].text);
    }
    if (!pragma && (placed[i].file != unit.source.files[token.file] || placed[i].line != token.line)) {
      return fmt::format("token {} {} of {}:{} is at {}:{}", i, token.text, unit.source.files[token.file],
                         token.line, placed[i].file, placed[i].line);
    }
  }
  return placed.size() == unit.source.tokens.size() ? std::string() : "there are more tokens";
}

} // namespace

TEST_CASE("the corpus, written and read again") {
  for (const CorpusUnit& found : corpus()) {
    INFO(found.name);
    CHECK(first_difference(found.unit, write(found.unit)).empty());
  }
}

TEST_CASE("two tokens that touch never become one") {
  std::string joined;
  for (const std::string& first : pool()) {
    for (const std::string& second : pool()) {
      const TranslationUnit unit = unit_of({token_of(first), token_of(second)});
      if (spaced(write(unit)) != first + " " + second) {
        joined += fmt::format("{} and {}; ", first, second);
      }
    }
  }
  CHECK(joined == "");
}

TEST_CASE("random tokens, written and read again") {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 400; ++round) {
    std::vector<Token> tokens;
    std::uint32_t line = 1 + static_cast<std::uint32_t>(random() % 3);
    std::uint32_t file = 0;
    for (auto count = random() % 60; count > 0; --count) {
      Token token = token_of(pool()[random() % pool().size()]);
      if (random() % 30 == 0) {
        token.kind = TokenKind::pragma;
        token.text = "#pragma unroll";
      }
      switch (random() % 16) {
      case 0: line += static_cast<std::uint32_t>(random() % 10); break;
      case 1: line = 1 + static_cast<std::uint32_t>(random() % 40); break; // a macro of an earlier line
      case 2: file ^= 1U; break;
      case 3: ++line; break;
      default: break;
      }
      token.line = line;
      token.file = file;
      // Mostly spaced as in sources, so that other failures show too.
      token.space_before = random() % 8 != 0;
      tokens.push_back(std::move(token));
    }
    const TranslationUnit unit = unit_of(std::move(tokens));
    const std::string text = write(unit);
    INFO("round ", round, ": ", text);
    CHECK(first_difference(unit, text) == "");
  }
}

TEST_CASE("near lines are reached by empty ones, far ones by a directive, and spaces stay") {
  CHECK(write(parse("int f(int a,\n\n  int b);\n\n\n\n\n\n\n\nint g(int c);")) ==
        "\n#line 1 \"k.cl\"\nint f(int a,\n\nint b);\n#line 11 \"k.cl\"\nint g(int c);");
  CHECK(write(parse("int f(int a , int  b){return a+b - -a;}")) ==
        "\n#line 1 \"k.cl\"\nint f(int a , int b){return a+b - -a;}");
}

TEST_CASE("a path in a directive is escaped") {
  Token token = token_of("a");
  TranslationUnit unit = unit_of({token});
  unit.source.files[0] = "odd \"name\"\\k.cl";
  const std::string text = write(unit);
  CHECK(text == "\n#line 1 \"odd \\\"name\\\"\\\\k.cl\"\na");
  CHECK(placed_tokens(text).at(0).file == unit.source.files[0]);
}

TEST_CASE("edits before, in place of and after a token") {
  const TranslationUnit unit = parse("int f(int a, int b);");
  const auto& tokens = unit.source.tokens;
  Edits edits;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("f")) {
      edits[i] = {.before = "before ", .text = "g", .after = ""};
      edits[i + 1].after = "first, ";
    } else if (tokens[i].is("a")) {
      edits[i].after = "second";
    } else if (tokens[i].is("b")) {
      edits[i] = {.text = ""};
    }
  }
  CHECK(spaced(write(unit, edits)) == "int before g ( first , int a second , int ) ;");
}

TEST_CASE("what an edit puts in never joins what is around it") {
  std::string joined;
  const std::vector<std::string> inserted{"tg_self", "const global", "tg_locals->", "u0_name", "x.y"};
  for (const std::string_view first : {"a", "1u", ";", "("}) {
    for (const std::string_view second : {"a", "1u", ";", "."}) {
      for (const std::string& text : inserted) {
        const TranslationUnit unit =
            unit_of({token_of(std::string(first)), token_of("x"), token_of(std::string(second))});
        const std::string expected = fmt::format("{} {} {}", first, spaced(text), second);
        if (spaced(write(unit, {{1, {.text = text}}})) != expected) {
          joined += expected + "; ";
        }
      }
    }
  }
  CHECK(joined == "");
}
