// Compares constant expressions with clang: generated conditions and expressions.
#include "../temporary_folder.hpp"
#include "opencl_c/tree.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using tidegate::test::TemporaryFolder;

namespace {

std::vector<Token> line_of(const std::string& text) {
  return Lexer(text, "k.cl").next_line().value();
}

class ExpressionGenerator : tidegate::test::Random {
public:
  using Random::Random;

  // With casts and sizes it is for a declaration, otherwise for a condition.
  std::string expression(bool declaration, std::size_t depth = 0) {
    const auto operand = [&] { return expression(declaration, depth + 1); };
    switch (below(depth < 4 ? 12 : 2)) {
    case 0:
    case 1: return number(declaration);
    case 2: return "(" + operand() + ")";
    case 3: return one_of({"-", "~", "!", "+"}) + " " + operand();
    case 4: return "(" + operand() + " ? " + operand() + " : " + operand() + ")";
    case 5:
      return declaration
                 ? one_of({"(uchar)", "(short)", "(int)", "(uint)", "(long)", "(unsigned long)"}) + operand()
                 : operand() + one_of({" && ", " || "}) + operand();
    case 6:
      return operand() + one_of({" << ", " >> "}) +
             (declaration ? one_of({"1", "2", "3", "31", "32", "-1", "7u"})
                          : one_of({"1", "3", "31", "63", "64", "65", "130", "-1", "7u"}));
    default:
      return operand() +
             one_of({" + ", " - ", " * ", " / ", " % ", " & ", " | ", " ^ ", " < ", " > ",
                     " <= ", " == ", " != "}) +
             operand();
    }
  }

private:
  std::string number(bool declaration) {
    static const std::vector<std::string> declared =
        opencl_c::test::split("0 1 2 7 100 2147483647 0x7fffffff 0x80000000 4294967296u "
                              "1u 3l 5ul 0777 'a' '\\377' sizeof(uint4) sizeof(char) ONE MINUS BIG",
                              " ");
    static const std::vector<std::string> in_conditions = opencl_c::test::split(
        "0 1 2 7 true false name 2147483647 0xffffffff 1u 5ull 9223372036854775807 9223372036854775808 "
        "0x8000000000000000 18446744073709551615u 18446744073709551616 0xffffffffffffffffu 'a' '\\377' "
        "0x1ffffffffffffffff",
        " ");
    return one_of(declaration ? declared : in_conditions);
  }
};

struct Written {
  int status = 0;
  std::string text, errors;
};

Written written_by(const std::string& command, const TemporaryFolder& folder) {
  const int status = std::system( // NOLINT(cert-env33-c)
      fmt::format("{} >{} 2>{}", command, folder.file("text"), folder.file("errors")).c_str());
  return {.status = status,
          .text = tidegate::test::contents(folder.file("text")),
          .errors = tidegate::test::contents(folder.file("errors"))};
}

std::set<std::size_t> numbers_after(const std::string& text, const std::string& prefix) {
  std::set<std::size_t> found;
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    found.insert(std::strtoul(text.c_str() + at + prefix.size(), nullptr, 10));
  }
  return found;
}

} // namespace

TEST_CASE("random conditions mean what they mean in clang's OpenCL C, and what is certain, in C99 too") {
  ExpressionGenerator generator(tidegate::test::seed());
  std::vector<std::string> conditions;
  std::string source;
  for (std::size_t i = 0; i < 1000; ++i) { // the first on line 1, the second on line 5
    conditions.push_back(generator.expression(false));
    source += fmt::format("#if {}\nholds_{}\n#endif\n\n", conditions.back(), i);
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("k.cl", source);
  const Written of_clang = written_by(
      fmt::format("{} -E -x cl -cl-no-stdinc -Wno-everything -ferror-limit=0 {}", TIDEGATE_CLANG, path),
      folder);
  const Written of_c99 = written_by(fmt::format("{} -E -x c -w {}", TIDEGATE_CC, path), folder);
  const auto holds_in_clang = numbers_after(of_clang.text, "holds_");
  const auto holds_in_c99 = numbers_after(of_c99.text, "holds_");
  const auto refused = numbers_after(of_clang.errors, "k.cl:"); // lines
  std::size_t certain = 0;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    CAPTURE(conditions[i]);
    const auto tokens = line_of(conditions[i]);
    for (const bool assumes_clang : {false, true}) {
      const auto value = evaluate_condition(tokens, {}, "k.cl", assumes_clang);
      REQUIRE(value);
      if (*value) {
        ++certain;
        CHECK_FALSE(refused.contains(4 * i + 1));
        CHECK(**value == holds_in_clang.contains(i));
        CHECK((assumes_clang || **value == holds_in_c99.contains(i)));
      }
    }
  }
  CHECK(certain > conditions.size() / 3);
}

TEST_CASE("random constant expressions of declarations have the value that clang gives them") {
  ExpressionGenerator generator(tidegate::test::seed());
  const std::string enumerators = "enum { ONE = 1, MINUS = -3, BIG = 0x80000000 };\n";
  std::string all = enumerators;
  constexpr std::size_t count = 1000;
  std::vector<std::string> expressions;
  for (std::size_t i = 0; i < count; ++i) {
    expressions.push_back(generator.expression(true));
    all += fmt::format("enum e{0} {{ v{0} = {1} }};\n", i, expressions.back());
  }
  const TranslationUnit unit = opencl_c::test::parse(all);
  std::string source = enumerators + "constant long values[] = {";
  std::vector<std::pair<std::size_t, std::int64_t>> known;
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto value = value_of(unit, *unit.tree->records.at(i + 1).members.at(0)->value)) {
      known.emplace_back(i, *value);
      source += fmt::format("(long)({}),\n", expressions[i]);
    }
  }
  CHECK(known.size() > count / 3);
  const TemporaryFolder folder;
  const std::string path =
      folder.write("k.cl", source + "};\nkernel void k(global long* a, int i) { a[i] = values[i]; }\n");
  const Written compiled = written_by(
      fmt::format("{} -S -emit-llvm -x cl -Xclang -finclude-default-header -Wno-everything {} -o -",
                  TIDEGATE_CLANG, path),
      folder);
  INFO(compiled.errors);
  REQUIRE(compiled.status == 0);
  const std::string& text = compiled.text;
  std::size_t at = text.find("@values");
  REQUIRE(at != std::string::npos);
  at = text.find('[', text.find(" x i64]", at));
  for (const auto& [i, value] : known) {
    const std::string& expression = expressions[i];
    CAPTURE(expression);
    at = text.find("i64 ", at) + 4;
    CHECK(std::strtoll(text.c_str() + at, nullptr, 10) == value);
  }
}

TEST_CASE("what is not certain has no value") {
  const auto value = [](const std::string& text) {
    const TranslationUnit unit = opencl_c::test::parse("enum { a = (" + text + ") };");
    const Expr* const expr = unit.tree->records.at(0).members.at(0)->value;
    const auto found = expr == nullptr ? std::nullopt : constant_in(unit, *expr);
    return found ? fmt::format("{}{}", found->value, found->is_unsigned ? "u" : "") : "-";
  };
  CHECK(value("2147483647") == "2147483647");
  CHECK(value("2147483648") == "2147483648u");
  CHECK(value("0x80000000 + 0x7fffffff") == "4294967295u");
  CHECK(value("-2147483647 - 1") == "-2147483648");
  CHECK(value("1u << 31") == "2147483648u");
  for (const std::string text : {"0x80000000 + 0x80000000",
                                 "-9223372036854775807 - 1",
                                 "1 << 31",
                                 "1u - 2",
                                 "~0u",
                                 "-1 < 1u",
                                 "(uint)-1",
                                 "-1 << 1",
                                 "4294967296",
                                 "2147483647 + 1",
                                 "-2147483647 * 2",
                                 "1 / 0",
                                 "1 << 32",
                                 "1 << -1",
                                 "-(-9223372036854775807 - 1)",
                                 "name",
                                 "1, 2",
                                 "18446744073709551615",
                                 "0xffffffffffffffff",
                                 "1.0",
                                 "f(1)",
                                 "",
                                 "(-2147483647 - 1) / -1",
                                 "(float)1"}) {
    CAPTURE(text);
    CHECK(value(text) == "-");
  }
  CHECK(value("0 && 1 / 0 || 1") == "1");
}
