// The preprocessor: macros against the examples of the C99 standard, directives, positions, errors, limits.
#include "../test_scale.hpp"
#include "opencl_c/preprocessor.hpp"
#include "source_support.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::opencl_c;
using tidegate::opencl_c::test::repeated;

namespace {

using Files = std::map<std::string, std::string>;

Result<TokenStream> run(const Files& files, PreprocessorOptions options = {}) {
  options.read = [&files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) {
      return tl::unexpected(Error{.code = ErrorCode::cannot_read, .message = "no " + path});
    }
    return found->second;
  };
  return preprocess("k.cl", options);
}

// The tokens, separated by blanks.
std::string text_of(const Files& files, const PreprocessorOptions& options = {}) {
  const auto stream = run(files, options);
  if (!stream) {
    return describe(stream.error());
  }
  std::string text;
  for (const Token& token : stream->tokens) {
    text += (text.empty() ? "" : " ") + token.text;
  }
  return text;
}

std::string text_of(const std::string& source, const PreprocessorOptions& options = {}) {
  return text_of(Files{{"k.cl", source}}, options);
}

// True if #if accepts the condition.
bool holds(const std::string& condition) {
  const std::string text =
      text_of("#define YES 1\n#define NO 0\n#if " + condition + "\nyes\n#else\nno\n#endif\n");
  INFO(condition);
  REQUIRE((text == "yes" || text == "no"));
  return text == "yes";
}

// Every token as FILE:LINE:COLUMN:TEXT.
std::string places_of(const Files& files, const PreprocessorOptions& options = {}) {
  const auto stream = run(files, options);
  REQUIRE(stream);
  std::string text;
  for (const Token& token : stream->tokens) {
    text += fmt::format("{}{}:{}:{}:{}", text.empty() ? "" : " ", stream->files[token.file], token.line,
                        token.column, token.text);
  }
  return text;
}

// The error, which must be in k.cl.
std::string refusal(const std::string& source, const PreprocessorOptions& options = {}) {
  const auto stream = run({{"k.cl", source}}, options);
  REQUIRE_FALSE(stream);
  CHECK(stream.error().code == ErrorCode::kernel_source);
  CHECK(stream.error().source == "k.cl");
  return fmt::format("{}:{}: {}; {}", stream.error().line.value_or(0), stream.error().column.value_or(0),
                     stream.error().message, stream.error().fix);
}

} // namespace

TEST_CASE("C99 6.10.3.5 example 3: rescanning") {
  const std::string macros = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n"
                             "#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n"
                             "#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n"
                             "#define str(x) # x\n";
  CHECK(text_of(macros + "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n") ==
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;");
  CHECK(text_of(macros + "g(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n") ==
        "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;");
  CHECK(text_of(macros + "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n") ==
        "int i [ ] = { 1 , 23 , 4 , 5 , } ;");
  CHECK(text_of(macros + "char c[2][6] = { str(hello), str() };\n") ==
        "char c [ 2 ] [ 6 ] = { \"hello\" , \"\" } ;");
}

TEST_CASE("C99 6.10.3.5 example 4: # and ##") {
  const std::string macros =
      "#define str(s) # s\n#define xstr(s) str(s)\n"
      "#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n x ## s, x ## t)\n"
      "#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n"
      "#define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n";
  CHECK(text_of(macros + "debug(1, 2);") == "printf ( \"x\" \"1\" \"= %d, x\" \"2\" \"= %s\" , x1 , x2 ) ;");
  CHECK(text_of(macros +
                "fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') // this goes away\n== 0) str(: @\\n), s);") ==
        R"(fputs ( "strncmp(\"abc\\0d\", \"abc\", '\\4') == 0" ": @\n" , s ) ;)");
  CHECK(text_of(Files{{"k.cl", macros + "#include xstr(INCFILE(2).h)\n"}, {"vers2.h", "included"}}) ==
        "included");
  CHECK(text_of(macros + "xstr(INCFILE(2).h) glue(HIGH, LOW); xglue(HIGH, LOW)") ==
        "\"vers2.h\" \"hello\" ; \"hello\" \", world\"");
}

TEST_CASE("C99 6.10.3.5 example 5 and 6.10.3.3: placemarkers, and ## that is not an operator") {
  CHECK(text_of("#define t(x,y,z) x ## y ## z\nt(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), "
                "t(,,12), t(,,)") == "123 , 45 , 67 , 89 , 10 , 11 , 12 ,");
  CHECK(text_of("#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
                "#define join(c, d) in_between(c hash_hash d)\njoin(x, y)") == "\"x ## y\"");
}

TEST_CASE("C99 6.10.3.5 example 7: variadic macros") {
  const std::string macros = "#define debug(...) fprintf(stderr, __VA_ARGS__)\n"
                             "#define showlist(...) puts(#__VA_ARGS__)\n"
                             "#define report(test, ...) ((test)?puts(#test):\\\nprintf(__VA_ARGS__))\n";
  CHECK(text_of(macros + "debug(\"Flag\"); debug(\"X = %d\\n\", x);") ==
        "fprintf ( stderr , \"Flag\" ) ; fprintf ( stderr , \"X = %d\\n\" , x ) ;");
  CHECK(text_of(macros + "showlist(The first, second, and third items.);") ==
        "puts ( \"The first, second, and third items.\" ) ;");
  CHECK(text_of(macros + "report(x>y, \"x is %d but y is %d\", x, y);") ==
        "( ( x > y ) ? puts ( \"x>y\" ) : printf ( \"x is %d but y is %d\" , x , y ) ) ;");
}

TEST_CASE("GNU variadic macros") {
  const std::string macros = "#define a(f, ...) p(f , ## __VA_ARGS__)\n#define b(f, r...) p(f , ## r)\n"
                             "#define c(...) p(0, ## __VA_ARGS__)\n#define d(r...) [r]\n";
  CHECK(text_of(macros + "a(1) a(1,) a(1,2) a(1,2,a) b(1) b(1,2) c() c(x) c(x,) a() d() d(1,2)") ==
        "p ( 1 ) p ( 1 , ) p ( 1 , 2 ) p ( 1 , 2 , a ) p ( 1 ) p ( 1 , 2 ) p ( 0 ) p ( 0 , x ) p ( 0 , x , ) "
        "p ( ) [ ] [ 1 , 2 ]");
}

TEST_CASE("the later of two definitions counts, and macros do not recurse") {
  CHECK(text_of("#define A 1\n#define A 2\n#define A(x) x 3\nA A(2)") == "A 2 3");
  CHECK(text_of("#define a a b\n#define b a\na b") == "a a a b");
  CHECK(text_of("#define f(x) f(x)\nf(f(1)) f") == "f ( f ( 1 ) ) f");
  CHECK(text_of("#define foo() bar\nfoo()() foo ()") == "bar ( ) bar");
  CHECK(text_of("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)") == "2 * 9 * g");
  CHECK(text_of("#define f(x) x * g\n#define g f\nf(2)(9)") == "2 * f ( 9 )");
  CHECK(text_of("#define NIL(x) x\n#define A(x) NIL(B)(x)\n#define B(x) NIL(x)\nA(42)") == "42");
  // A name painted inside stays painted outside.
  CHECK(text_of("#define f(x) x f\nf(1)(2)") == "1 f ( 2 )");
  CHECK(text_of("#define E\n#define D(x) x E\n#define A() 1\n#define X(...) __VA_ARGS__\nD(A)() X(D(A)())") ==
        "A ( ) 1");
}

TEST_CASE("a call ends where its parentheses do") {
  CHECK(text_of("#define f(x, y) <x|y>\nf((a, b), [c) f\n(\n1\n,\n2\n) f") ==
        "< ( a , b ) | [ c > < 1 | 2 > f");
  CHECK(text_of("#define f(x) <x>\nf /* c */ (1) f\n;") == "< 1 > f ;");
  CHECK(text_of("#define f(x) <x>\nf(1\n#ifdef f\n2\n#else\n3\n#endif\n#undef f\n) f(4)") ==
        "< 1 2 > f ( 4 )");
  CHECK(text_of("#define f(x) <x>\nf\n#define g\n(1)") == "f ( 1 )");
  CHECK(text_of(Files{{"k.cl", "#include \"a\"\n(1)"}, {"a", "#define f(x) <x>\nf\n"}}) == "f ( 1 )");
  CHECK(text_of("#define o() 0\no( ) o()o(\n)") == "0 0 0");
}

TEST_CASE("# keeps the spacing and the spelling of an argument") {
  const std::string macros = "#define s(x) #x\n#define xs(x) s(x)\n#define E\n#define i(x) x\n";
  CHECK(text_of(macros + R"(s(  a   +b /**/ "c\n" '"' L'\\' ))") == R"("a +b \"c\\n\" '\"' L'\\\\'")");
  CHECK(text_of(macros + "s(a\nb) s(\\) s(\\\\)") == R"("a b" "" "\\")");
  CHECK(text_of(macros + "xs(a E(b)) xs(a E b) xs(E a E) xs(i() x) xs(-E-) xs(i( a)i(b)) xs(i(a) b)") ==
        R"x("a (b)" "a b" "a" "x" "--" "ab" "a b")x");
}

TEST_CASE("macros that are always there") {
  CHECK(text_of("__LINE__\n__FILE__ __COUNTER__\n__COUNTER__ __LINE__") == "1 \"k.cl\" 0 1 3");
  CHECK(text_of("#define l __LINE__\n#define two l\n\nl two\n") == "4 4");
  CHECK(text_of("#ifdef __COUNTER__\nyes\n#endif\n#undef __LINE__\n__LINE__ __DATE__ __TIME__") ==
        "yes __LINE__ __DATE__ __TIME__");
  CHECK(text_of("#line 7 \"a\\\\b\\\"c\"\n__FILE__") == R"("a\\b\"c")");
}

TEST_CASE("conditions") { // operators and numbers: constant_expression_test.cpp
  CHECK_FALSE(holds("0"));
  CHECK_FALSE(holds("UNKNOWN || false || bool"));
  CHECK(holds("-8 >> 1 == -4 && 8 >> 62 == 0 && - - 5 == 5 && !!7 == 1"));
  CHECK(holds("(-9223372036854775807 - 1) % -1 == 0 && !0u - 2 < 0 && (1u == 1) - 2 < 0"));
  CHECK(holds("0x1F == 31 && 017 == 15 && 0b101 == 5 && 1ul + 2LLU + 3L + 4llu == 10 && 'a' == 97"));
  CHECK(holds("0 ? 0 : 0 ? 0 : 1"));
}

TEST_CASE("what is not evaluated divides by zero freely") {
  CHECK_FALSE(holds("0 && 1 / 0"));
  CHECK(holds("1 || 1 % 0"));
  CHECK(holds("(0 && (1 ? 1 / 0 : 1)) == 0"));
  CHECK(
      refusal("#if 1 && 1 / 0\n#endif") ==
      "1:2: compilers may differ in the value of this condition; it is `#if 1 && 1 / 0`, with the program's own "
      "macros replaced");
}

TEST_CASE("defined, also out of a macro") {
  CHECK(holds("defined YES && defined(NO) && !defined UNKNOWN && !defined ( UNKNOWN )"));
  CHECK(text_of("#define A 0\n#define HAVE defined(A) && !defined B\n#if HAVE\nyes\n#endif") == "yes");
  for (const std::string wrong :
       {"defined", "defined(", "defined()", "defined(A", "defined 1", "defined(A B)"}) {
    CHECK(refusal("#if " + wrong + "\n#endif") ==
          "1:5: \"defined\" needs the name of a macro; write defined(NAME) or defined NAME");
  }
}

TEST_CASE("conditional groups") {
  const std::string chain = "#if A == 1\none\n#elif A == 2\ntwo\n#elif A == 3\nthree\n#else\nother\n#endif";
  CHECK(text_of("#define A 1\n" + chain) == "one");
  CHECK(text_of("#define A 2\n" + chain) == "two");
  CHECK(text_of("#define A 3\n" + chain) == "three");
  CHECK(text_of(chain) == "other");
  CHECK(text_of("#define A\n#ifdef A\n#ifndef A\n1\n#else\n2\n#endif\n#else\n#ifdef "
                "A\n3\n#else\n4\n#endif\n5\n#endif") == "2");
  CHECK(text_of("#if 0\n#if 1\n1\n#elif 1\n2\n#else\n3\n#endif\n#elif 1\n4\n#endif") == "4");
}

TEST_CASE("skipped groups may hold anything") {
  CHECK(text_of(
            "#if 0\ndon't \"stop\n#nonsense\n#if garbage (\n#elif )\n#endif\n#error no\n#include\n#define 1\n"
            "# 'x\n#else\nyes\n#endif") == "yes");
  CHECK(text_of("#if 1\nyes\n#elif garbage ( 1/0\n#endif") == "yes");
}

TEST_CASE("includes: the folder of the file, then the others") {
  const Files files{{"k.cl", "#include \"lib/a.h\"\n#include <b.h>\n#define N \"lib/b.h\"\n#include N\n"},
                    {"lib/a.h", "a\n#include \"b.h\"\n#include <b.h>\n"},
                    {"lib/b.h", "near"},
                    {"inc/b.h", "far\n"}};
  CHECK(text_of(files, {.include_folders = {"other", "inc"}}) == "a near far far near");
  const auto stream = run(files, {.include_folders = {"inc"}});
  REQUIRE(stream);
  CHECK(stream->files == std::vector<std::string>{"k.cl", "lib/a.h", "lib/b.h", "inc/b.h"});
  CHECK(
      text_of(Files{{"k.cl", "#include \"/abs/a.h\"\n#include \"-\""}, {"/abs/a.h", "a"}, {"./-", "dash"}}) ==
      "a dash");
}

TEST_CASE("a file that is not found") {
  const Files files{{"k.cl", "\n# include \"x.h\""}};
  CHECK(text_of(files, {.include_folders = {"inc", "a b"}}) ==
        "tidegate: k.cl:2:3: error: cannot find the file \"x.h\" to include [kernel_source]\n"
        "  fix: looked in ., inc, a b; name its folder with -I");
  CHECK(refusal("#include <x.h>") == "1:2: cannot find the file \"x.h\" to include; name its folder with -I");
  for (const std::string wrong : {"", " \"\"", " <>", " x", " <x", " L\"x\"", " 1"}) {
    CHECK(refusal("#include" + wrong) ==
          "1:2: #include needs the name of a file; write it as in #include \"file.cl\"");
  }
}

TEST_CASE("other errors of reading are passed on") {
  const auto missing = run({});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::cannot_read);
  CHECK(missing.error().message == "no k.cl");
  PreprocessorOptions options;
  options.read = [](const std::string& path) -> Result<std::string> {
    if (path == "k.cl") {
      return "#include \"big\"";
    }
    return tl::unexpected(Error{.code = ErrorCode::input_too_large, .message = "big"});
  };
  CHECK(preprocess("k.cl", options).error().code == ErrorCode::input_too_large);
}

TEST_CASE("include guards and #pragma once") {
  CHECK(text_of(Files{{"k.cl", "#include \"a\"\n#include \"./x/../a\"\n#include \"a\""},
                      {"a", "#pragma once\na"}}) == "a");
  CHECK(text_of(Files{{"k.cl", "#include \"a\"\n#include \"a\""},
                      {"a", "#ifndef A\n#define A\na\n#endif"}}) == "a");
}

TEST_CASE("macros are replaced in pragmas as compilers replace them") {
  CHECK(text_of("#define N 4\n#define unroll x\n#pragma unroll N\n") == "#pragma unroll 4");
  CHECK(text_of("#define N (2)\n#define full N\n#pragma clang loop unroll_count(N)") ==
        "#pragma clang loop unroll_count((2))");
  CHECK(text_of("#define ON OFF\n#pragma OPENCL FP_CONTRACT ON\n#pragma STDC FP_CONTRACT ON") ==
        "#pragma OPENCL FP_CONTRACT ON #pragma STDC FP_CONTRACT ON");
  CHECK(text_of("#define N 2\n#pragma unroll N\n#undef N\n#pragma unroll N") ==
        "#pragma unroll 2 #pragma unroll N");
}

namespace {

// Preprocesses as for a compiler that predefines these macros; adds the questions to `asked`.
std::string with_predefined(const std::string& source, const std::map<std::string, std::string>& defined,
                            const std::map<std::string, bool>& conditions = {}, std::string* own = nullptr) {
  PredefinedMacros macros;
  while (true) {
    PreprocessorOptions options{.predefined = &macros};
    const auto stream = run({{"k.cl", source}}, options);
    if (macros.is_complete()) {
      REQUIRE(stream);
      if (own != nullptr) {
        *own = stream->own_macros;
      }
      return text_of(source, options);
    }
    for (const std::string& name : std::exchange(macros.unknown_names, {})) {
      const auto found = defined.find(name);
      macros.names[name] = found == defined.end() ? std::nullopt : std::optional(found->second);
    }
    for (const std::string& condition : std::exchange(macros.unknown_conditions, {})) {
      INFO(condition);
      REQUIRE(conditions.contains(condition));
      macros.conditions[condition] = conditions.at(condition);
    }
  }
}

} // namespace

TEST_CASE("what the compiler predefines decides conditions and stays in the text") {
  CHECK(with_predefined("#ifndef M_PI\n#define M_PI 3.0f\n#endif\nM_PI", {{"M_PI", "0x1.9p+1"}}) == "M_PI");
  CHECK(with_predefined("#ifndef M_PI\n#define M_PI 3.0f\n#endif\nM_PI", {}) == "3.0f");
  CHECK(with_predefined("#if __OPENCL_C_VERSION__ >= 200\nnew\n#else\nold\n#endif",
                        {{"__OPENCL_C_VERSION__", "300"}}) == "new");
  CHECK(with_predefined("#if defined FLT_MAX && INT_MAX == 2147483647\nyes\n#endif",
                        {{"FLT_MAX", "0x1p127f"}, {"INT_MAX", "2147483647"}}) == "yes");
  CHECK(with_predefined("#undef NULL\n#ifdef NULL\nyes\n#else\nno\n#endif", {{"NULL", "((void*)0)"}}) ==
        "no");
  CHECK(with_predefined("#ifdef A\n#define B 2\n#endif\n#if defined(B) && !defined(C)\nB\n#endif",
                        {{"A", "1"}}) == "2"); // asked in rounds
  // Macros that depend on options are expanded here: the text may be compiled with others.
  CHECK(with_predefined("__OPENCL_C_VERSION__ __FAST_RELAXED_MATH__ NULL",
                        {{"__OPENCL_C_VERSION__", "120"}}) == "120 __FAST_RELAXED_MATH__ NULL");
  // So are operands of # and ##.
  CHECK(with_predefined("#define TEXT(x) #x\n#define QUOTE(x) TEXT(x)\nQUOTE(M_PI) TEXT(M_PI)",
                        {{"M_PI", "3.14"}}) == "\"3.14\" \"M_PI\"");
  CHECK(with_predefined("#define JOIN(a, b) a##b\n#define CAT(a, b) JOIN(a, b)\nCAT(v, CL_VERSION_1_2)",
                        {{"CL_VERSION_1_2", "120"}}) == "v120");
}

TEST_CASE("the compiler itself answers conditions with macros that take arguments") {
  CHECK(with_predefined("#define NAME sqrt\n#if defined(__has_builtin) && __has_builtin(NAME)\nyes\n#endif",
                        {{"__has_builtin", "__has_builtin"}}, {{"1 && __has_builtin(sqrt)", true}}) == "yes");
  CHECK(with_predefined("#ifdef __has_builtin\n#if __has_builtin(f)\nyes\n#else\nno\n#endif\n#endif",
                        {{"__has_builtin", "__has_builtin"}}, {{"__has_builtin(f)", false}}) == "no");
  PredefinedMacros macros{.names = {{"F", "F"}, {"x", std::nullopt}}, .conditions = {{"F(x)", std::nullopt}}};
  CHECK(text_of("#if F(x)\n#endif", {.predefined = &macros}) ==
        "tidegate: k.cl:1:2: error: the device's compiler refuses this condition [kernel_source]\n"
        "  fix: it is `#if F(x)`, with the program's own macros replaced");
}

// Clang computes conditions of OpenCL C in 128 bits, and `true` is a keyword.
TEST_CASE("where compilers compute conditions differently, the device's compiler decides") {
  for (const std::string condition :
       {"true", "1 << 64", "-1 > 0u", "(0, 4) == 4", "1 ? 2 : 1 / 0", "'\\377' < 0",
        "0x7fffffffffffffff + 1 > 0", "18446744073709551615u != -1", "18446744073709551616", "~0u >> 64",
        "8 >> -1 == 0", "~0xffffffffffffffffu == 0", "0xffffffffffffffffu * 2 > 0xffffffffffffffffu"}) {
    CAPTURE(condition);
    const std::string source = "#if " + condition + "\nyes\n#else\nno\n#endif";
    CHECK(with_predefined(source, {}, {{condition, true}}) == "yes");
    CHECK(with_predefined(source, {}, {{condition, false}}) == "no");
  }
  CHECK(with_predefined("#if 1 || true\nyes\n#endif", {}) == "yes"); // it does not matter
  CHECK(holds("true")); // without a compiler to query: as in clang
}

TEST_CASE("__has_include is not defined, as the compiler does not know the program's folders") {
  CHECK(with_predefined("#ifdef __has_include\nyes\n#else\nno\n#endif",
                        {{"__has_include", "__has_include"}}) == "no");
}

TEST_CASE("a program's own meaning of a macro of the compiler") {
  const auto own = [](const std::string& source) {
    std::string reason;
    with_predefined(source, {{"SCHAR_MAX", "127"}, {"CHAR_MAX", "127"}, {"M_PI", "3.14"}, {"NULL", "0"}}, {},
                    &reason);
    return reason;
  };
  CHECK(own("#define M_PI 3.0f\nM_PI NULL") == ""); // the program's own text has the value
  CHECK(own("#undef M_PI\nfloat M_PI = 3;") ==
        "it defines or undefines \"M_PI\", which the device's compiler defines, too");
  CHECK(own("#define SCHAR_MAX 5\nSCHAR_MAX") == "");
  // What a macro with __VA_OPT__ becomes is not known, even where another one drops it.
  const std::string optional = "#define O(a, ...) F(a, __VA_OPT__(0))\n#define F(a, b) a\n";
  CHECK(own(optional) == "");
  CHECK(own(optional + "O(1, 2)") == "it uses \"__VA_OPT__\", which only the device's compiler replaces");
  CHECK(own("#define P(x) _Pragma(#x)\n") == "");
  CHECK(own("#define P(x) _Pragma(#x)\nP(unroll)") ==
        "it uses \"_Pragma\", which only the device's compiler replaces");
  CHECK(own("#undef SCHAR_MAX\n#define SCHAR_MAX 5\nCHAR_MAX") ==
        "it redefines \"SCHAR_MAX\", and \"CHAR_MAX\" of the device's compiler may depend on it");
}

TEST_CASE("pragmas are separate tokens") {
  CHECK(text_of("#define unroll x\n#  pragma   unroll  4 // four\n#pragma OPENCL EXTENSION cl_khr_fp64 : "
                "enable\n#pragma\n#pragma don't") ==
        "#pragma unroll 4 #pragma OPENCL EXTENSION cl_khr_fp64 : enable #pragma #pragma don't");
  const auto stream = run({{"k.cl", "a\n#pragma unroll\n"}});
  REQUIRE(stream);
  REQUIRE(stream->tokens.size() == 2);
  CHECK(stream->tokens[1].kind == TokenKind::pragma);
  CHECK(stream->tokens[1].line == 2);
}

TEST_CASE("other directives") {
  CHECK(text_of("#\n# /* null */\n#warning don't\n#undef UNKNOWN\na") == "a");
  CHECK(text_of("#define HASH #\nHASH define A\n") == "# define A");
}

TEST_CASE("tokens know where they stand") {
  CHECK(places_of({{"k.cl", "a\n#include \"i.h\"\n  b /*\n*/ c"}, {"i.h", "\n\n  x y"}}) ==
        "k.cl:1:1:a i.h:3:3:x i.h:3:5:y k.cl:3:3:b k.cl:4:4:c");
  // Tokens from macros have the position of the outermost call.
  CHECK(places_of({{"k.cl", "#define f(x) g(x) + 1\n#define g(x) <x>\n\n  f(a\n  b)\n c"}}) ==
        "k.cl:4:3:< k.cl:4:3:a k.cl:4:3:b k.cl:4:3:> k.cl:4:3:+ k.cl:4:3:1 k.cl:6:2:c");
  CHECK(places_of({{"k.cl", "#include \"i.h\"\n A"}, {"i.h", "#define A b\nA"}}) == "i.h:2:1:b k.cl:2:2:b");
  CHECK(places_of({{"k.cl", "A"}}, {.definitions = {{"A", "b"}}}) == "k.cl:1:1:b");
}

TEST_CASE("#line moves the lines that follow") {
  CHECK(places_of({{"k.cl", "a\n#line 100\nb\n\nc\n#line 7 \"x.cl\"\nd\n#define L 3 \"y.cl\"\n#line L\ne\n# "
                            "1 \"z.cl\" 2\nf __LINE__"}}) ==
        "k.cl:1:1:a k.cl:100:1:b k.cl:102:1:c x.cl:7:1:d y.cl:3:1:e z.cl:1:1:f z.cl:1:3:1");
  CHECK(places_of({{"k.cl", "#line 5 \\\n\na"}}) == "k.cl:5:1:a");
  for (const std::string wrong : {"", " x", " 1.5", " 99999999999", " 1 x"}) {
    CHECK(refusal("#line" + wrong) ==
          "1:2: #line needs a number and may name a file; write it as in #line 12 \"file.cl\"");
  }
}

TEST_CASE("what is wrong has a place, a reason and a fix") {
  const std::string name = " needs the name of a macro", end = "the end of the line",
                    out = " is out of place in the condition of #if",
                    list = "the parameters of macro \"f\" are no list of names",
                    call = "#define f(a,b) a ## b\nf", join = " into something that is not a token";
  // Each source with its error.
  const std::vector<std::pair<std::string, std::string>> rows{
      {"a\n #if 1\n", "2:3: #if has no #endif"},
      {"#ifdef A\n#else\n", "1:2: #ifdef has no #endif"},
      {"#endif\n", "1:2: #endif without #if"},
      {"#else\n", "1:2: #else without #if"},
      {"#if 0\n#else\n#else\n#endif", "3:2: #else after #else"},
      {"#if 0\n#else\n#elif 1\n#endif", "3:2: #elif after #else"},
      {"#if\n#endif", "1:2: " + end + out},
      {"#if (1\n#endif", "1:2: " + end + out},
      {"#if 1 +\n#endif", "1:2: " + end + out},
      {"#if 1 ? 2\n#endif", "1:2: " + end + out},
      {"#if 1)\n#endif", "1:6: \")\"" + out},
      {"#if 1 2\n#endif", "1:7: \"2\"" + out},
      {"#if A = 1\n#endif", "1:7: \"=\"" + out},
      {"#if \"a\"\n#endif", "1:5: \"\"a\"\"" + out},
      {"\n#error  don't \"do\" this // ever", "2:2: #error don't \"do\" this // ever"},
      {"#inclde \"x\"", "1:2: there is no directive #inclde"},
      {"#import <x>", "1:2: there is no directive #import"},
      {"#define", "1:2: #define" + name},
      {"#undef 1", "1:8: #undef" + name},
      {"#ifdef\n#endif", "1:2: #ifdef" + name},
      {"#define defined 1", "1:9: #define" + name},
      {"#define f(", "1:9: " + list},
      {"#define f(a,", "1:9: " + list},
      {"#define f(a,) a", "1:13: " + list},
      {"#define f(1)", "1:11: " + list},
      {"#define f(__VA_ARGS__)", "1:11: " + list},
      {"#define f(a", "1:9: " + list},
      {"#define f(a b)", "1:13: " + list},
      {"#define f(..., a)", "1:14: " + list},
      {"#define f(a,a)", "1:13: " + list},
      {"#define a ## b", "1:11: ## has nothing to join on one side"},
      {"#define f(a) a ##", "1:16: ## has nothing to join on one side"},
      {"#define f(a) # b", "1:14: # is not followed by a parameter of the macro"},
      {"#define f(a) #", "1:14: # is not followed by a parameter of the macro"},
      {call + "(1)", "2:1: macro \"f\" takes 2 arguments, but 1 is given"},
      {"#define f(a) a\n f(1,2)", "2:2: macro \"f\" takes 1 argument, but 2 are given"},
      {"#define f() a\nf(1)", "2:1: macro \"f\" takes 0 arguments, but 1 is given"},
      {"#define f(a,b,...) a\nf(1)", "2:1: macro \"f\" takes 3 arguments, but 1 is given"},
      {call + "(1\n2", "2:1: the call of macro \"f\" does not end"},
      {"#define f(a) a\n#if f(1\n)\n#endif", "2:5: the call of macro \"f\" does not end"},
      {call + "(+, /)", "2:1: ## joins \"+\" and \"/\"" + join},
      {call + "(/, /)", "2:1: ## joins \"/\" and \"/\"" + join},
      {"a\nb 'c\n", "2:3: \"'c\" is not closed on its line"},
      {"#define A \"x\n", "1:11: \"\"x\" is not closed on its line"},
      {"#if 0\n/* x", "2:1: this comment does not end"},
      {"#if 0\n?\?=\n#endif\na ?\?= b", "4:3: \"?\?=\" has a trigraph"}};
  for (const auto& [source, error] : rows) {
    CHECK(refusal(source).starts_with(error + (error.find(';') == std::string::npos ? "; " : "")));
  }
  for (const std::string number : {"1.0", "08", "0x", "1uu", "1lL", "18446744073709551616"}) {
    CHECK(refusal("#if " + number + "\n#endif")
              .starts_with("1:2: compilers may differ in the value of this condition; it is `#if " + number));
  }
  CHECK(text_of(Files{{"k.cl", "#if 1\n#include \"a\"\n#endif"}, {"a", "#endif"}}) ==
        "tidegate: a:1:2: error: #endif without #if [kernel_source]\n  fix: remove it, or add the #if");
}

TEST_CASE("definitions of the options") {
  CHECK(text_of("A B f(2) C", {.definitions = {{"A", "1"}, {"B", ""}, {"f(x)", "<x>"}, {"C", "3"}},
                               .undefinitions = {"C"}}) == "1 < 2 > C");
  const auto wrong = run({{"k.cl", ""}}, {.definitions = {{"1x", "2"}}});
  REQUIRE_FALSE(wrong);
  CHECK(describe(wrong.error()) ==
        "tidegate: -D1x: error: #define needs the name of a macro [kernel_source]\n"
        "  fix: put a name after it that is not \"defined\"");
}

TEST_CASE("text without bounds ends in an error") {
  const std::string too_much = "the program takes more than 256 MiB with its macros replaced; "
                               "look for macros that repeat each other, or files that include each other";
  const std::string long_name(4096, 'x'); // fewer words do
  std::string doubling, strings = "#define s(x) #x\n#define d(x) s(x x)\n";
  for (int i = 0; i < 64; ++i) {
    doubling += fmt::format("#define a{} a{} a{} {}\n", i, i + 1, i + 1, long_name);
  }
  CHECK(refusal(doubling + "a0") == "65:1: " + too_much);
  if (tidegate::test::scale == 1) { // a minute under sanitizers
    CHECK(refusal(strings + repeated("d(", 60) + "x" + repeated(")", 60)).ends_with(too_much));
    // One call with many copies of a long argument.
    CHECK(refusal("#define f(x) " + repeated("x ", 100000) + "\nf(" + repeated("y ", 100000) + ")") ==
          "2:1: " + too_much);
  }
}

TEST_CASE("includes without bounds end in an error") {
  CHECK(refusal("\n#include \"k.cl\"") == "2:2: files include each other more than 64 deep; "
                                          "look for a file that includes itself without an include guard");
  Files files{{"k.cl", "#include \"1\"\n#include \"1\"\n"}, {"40", "x"}};
  for (int i = 1; i < 40; ++i) {
    files[std::to_string(i)] = fmt::format("#include \"{}\"\n#include \"{}\"\n", i + 1, i + 1);
  }
  const auto stream = run(files);
  REQUIRE_FALSE(stream);
  CHECK(stream.error().message == "the program takes more than 256 MiB with its macros replaced");
}

TEST_CASE("nesting without bounds ends in an error or is no problem") {
  constexpr int deep = tidegate::test::scale > 1 ? 25'000 : 100'000; // frames are larger under sanitizers
  CHECK(
      refusal("#if " + repeated("(", deep) + "1\n#endif") ==
      "1:261: \"(\" is out of place in the condition of #if; write an expression of integers, names and defined(NAME)");
  CHECK(refusal("#if " + repeated("1 ? 1 : ", deep) + "1\n#endif")
            .find(" is out of place in the condition of #if") != std::string::npos);
  CHECK(holds(repeated("- ", 100) + "1"));
  CHECK(holds(repeated("(", 60) + "1" + repeated(")", 60)));
  CHECK(refusal("#define f(x) x\n" + repeated("f(", 1000) + repeated(")", 1000)) ==
        "2:513: macro calls in arguments are nested more than 256 deep; nest them less deeply");
  CHECK(text_of("#define f(x) x\n" + repeated("f(", 200) + "1" + repeated(")", 200)) == "1");
  CHECK(text_of(repeated("#if 1\n", 10000) + "x\n" + repeated("#endif\n", 10000)) == "x");
  std::string chain;
  constexpr int links = deep / 20; // their time grows with the square
  for (int i = 0; i < links; ++i) {
    chain += fmt::format("#define a{} a{}\n", i, i + 1);
  }
  CHECK(text_of(chain + "a0") == fmt::format("a{}", links));
}
