// The lexer: tokens, positions, splices and comments.
#include "opencl_c/lexer.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;

namespace {

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  Lexer lexer(text, "k.cl");
  while (true) {
    const auto line = lexer.next_line();
    REQUIRE(line);
    if (line->empty()) {
      return tokens;
    }
    tokens.insert(tokens.end(), line->begin(), line->end());
  }
}

// The tokens, separated by bars.
std::string split(std::string_view text) {
  std::string result;
  for (const Token& token : tokens_of(text)) {
    result += (result.empty() ? "" : "|") + token.text;
  }
  return result;
}

} // namespace

TEST_CASE("tokens have their kinds") {
  using Kind = TokenKind;
  for (const auto& [text, expected] : std::map<std::string, Kind>{{"kernel", Kind::identifier},
                                                                  {"_a$1\xc3\xa4", Kind::identifier},
                                                                  {"0x1p-3f", Kind::number},
                                                                  {".5e+3", Kind::number},
                                                                  {"1..e+2.x_y", Kind::number},
                                                                  {"'\\''", Kind::character},
                                                                  {"L'x'", Kind::character},
                                                                  {"\"a\\\"b\\\\\"", Kind::string},
                                                                  {"L\"x\"", Kind::string},
                                                                  {"->", Kind::punctuator},
                                                                  {"@", Kind::punctuator}}) {
    const auto tokens = tokens_of(text);
    REQUIRE(tokens.size() == 1);
    CHECK(tokens[0].kind == expected);
  }
}

TEST_CASE("the longest punctuator wins") {
  CHECK(split("a<<=b>>=c...d->e+++f---g") == "a|<<=|b|>>=|c|...|d|->|e|++|+|f|--|-|g");
  CHECK(split("..#####.") == ".|.|##|##|#|.");
  CHECK(split("a<=b>=c==d!=e&&f||g^=h|=i&=j%=k*=l/=m") ==
        "a|<=|b|>=|c|==|d|!=|e|&&|f||||g|^=|h||=|i|&=|j|%=|k|*=|l|/=|m");
  CHECK(split("x-1+2 0x1e+3 0x1f+3") == "x|-|1|+|2|0x1e+3|0x1f|+|3");
}

TEST_CASE("trigraphs are no tokens") {
  for (const std::string_view text : {"?\?=", "?\?/", "\"?\?/\""}) {
    CHECK(is_unterminated(tokens_of(text)[0]));
  }
  CHECK(split("\"?\?!\" ?? ??x") == "\"?\?!\"|?|?|?|?|x"); // the compiler replaces that in a string
}

TEST_CASE("comments and splices separate or join") {
  CHECK(split("a/**/b/***/c/* * / */d//e\nf") == "a|b|c|d|f");
  CHECK(split("in\\\nt x = 1\\\r\n2 +\\ \t\n= 'a\\\nb'") == "int|x|=|12|+=|'ab'");
  CHECK(split("a // b \\\n c\nd") == "a|d");
  CHECK(split("/\\\n* x *\\\n/ a /\\\n/ b") == "a");
  CHECK(split("\"/* no */ // comment\"") == "\"/* no */ // comment\"");
  CHECK(split("a\\ b\\") == "a|\\|b|\\");
}

TEST_CASE("positions are those of the text") {
  const auto tokens = tokens_of("\xef\xbb\xbf"
                                "a  b\n\n\tc /* \n */ d\\\n  e");
  REQUIRE(tokens.size() == 5);
  const auto check = [](const Token& token, std::uint32_t line, std::uint32_t column, bool space) {
    CHECK(token.line == line);
    CHECK(token.column == column);
    CHECK(token.space_before == space);
  };
  check(tokens[0], 1, 1, true);
  check(tokens[1], 1, 4, true);
  check(tokens[2], 3, 2, true);
  check(tokens[3], 4, 5, true);
  check(tokens[4], 5, 3, true);
  CHECK_FALSE(tokens_of("a+b")[1].space_before);
  CHECK(tokens_of("a/**/+b")[1].space_before);
}

TEST_CASE("a line is one call") {
  Lexer lexer("a b\n\n// nothing\nc /*\n*/ d \\\n e\nf", "k.cl");
  for (const auto& [size, last] : {std::pair(2U, 1U), std::pair(3U, 6U), std::pair(1U, 7U)}) {
    const std::vector<Token> line = lexer.next_line().value();
    CHECK(line.size() == size);
    CHECK(line.back().line == last);
  }
  CHECK(lexer.next_line()->empty());
  CHECK(lexer.next_line()->empty());
}

TEST_CASE("the name of an include is one token") {
  CHECK(split("#include <a//b'c.h> x") == "#|include|<a//b'c.h>|x");
  CHECK(split("# include \"a\\b.h\"") == "#|include|\"a\\b.h\"");
  CHECK(split("#include <a\n>") == "#|include|<|a|>");
  CHECK(split("x include <a>") == "x|include|<|a|>");
}

TEST_CASE("an open quote holds the rest of its line") {
  for (const std::string_view text : {"don't /* stop\nx", "don\"t \\\" \nx", "L'a\nx"}) {
    const auto tokens = tokens_of(text);
    REQUIRE(tokens.size() >= 2);
    CHECK(is_unterminated(tokens[tokens.size() - 2]));
    CHECK(tokens.back().is("x"));
    CHECK_FALSE(is_unterminated(tokens.back()));
  }
  CHECK(split("'\\") == "'\\");
}

TEST_CASE("any bytes are tokens") {
  std::mt19937 random(20240611);
  const std::string_view alphabet("a0.'\"\\\n/*#<>%: L\0\xff\r", 20);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto length = random() % 40; length > 0; --length) {
      text += alphabet[random() % alphabet.size()];
    }
    INFO("text ", text);
    Lexer lexer(text, "k.cl");
    for (auto line = lexer.next_line(); line && !line->empty(); line = lexer.next_line()) {
      for (const Token& token : *line) {
        CHECK_FALSE(token.text.empty());
        CHECK(token.line <= std::ranges::count(text, '\n') + 1);
      }
    }
  }
}
