// The syntax tree: what the parser makes of declarations, statements and expressions.
#include "opencl_c/tree.hpp"
#include "source_support.hpp"

using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

std::string text(const Type& type) {
  constexpr std::array<std::string_view, 4> spaces{"", "global ", "constant ", "local "};
  std::string words = fmt::format("{}{}{}", spaces[static_cast<std::size_t>(type.space)],
                                  type.is_const ? "const " : "", type.is_volatile ? "volatile " : "");
  switch (type.kind) {
  case Type::Kind::opaque: return words + "?";
  case Type::Kind::nothing: return words + "void";
  case Type::Kind::number:
    return words + (type.record != nullptr ? "enum" : type.name.empty() ? "number" : type.name);
  case Type::Kind::vector:
  case Type::Kind::handle: return words + type.name;
  case Type::Kind::record: return words + "record";
  case Type::Kind::pointer: return words + "pointer(" + text(*type.inner) + ")";
  case Type::Kind::array: return words + "array(" + text(*type.inner) + ")";
  case Type::Kind::function: return words + "function(" + text(*type.inner) + ")";
  }
  return words;
}

// "(+ a (* b 2))"
std::string text(const TranslationUnit& unit, const Expr& expr) {
  constexpr std::array<std::string_view, 17> kinds{
      "opaque", "", "",   "",  "call", "[]",       ".",    "",    "post",
      "",       "", "?:", ",", "cast", "compound", "list", "size"};
  const std::string& word = unit.source.tokens[expr.token].text;
  if (expr.kind == Expr::Kind::number || expr.kind == Expr::Kind::name || expr.kind == Expr::Kind::text) {
    return word;
  }
  if (expr.kind == Expr::Kind::opaque) {
    return "<" + text_of(unit, expr.tokens) + ">";
  }
  std::string parts = std::string(kinds[static_cast<std::size_t>(expr.kind)]);
  parts += parts.empty() ? word : parts == "." || parts == "post" ? " " + word : "";
  for (const Expr* const operand : expr.operands) {
    parts += " " + text(unit, *operand);
  }
  return "(" + parts + ")";
}

constexpr std::string_view declared_types = R"(
typedef global const float* reads; typedef float row[4]; enum mode { slow, fast };
typedef struct { float m[4]; float4 v; global float* p; } point; union both { int i; float f; };
float get(global const float* p, int n); global float* drop(global const float* p);
)";

// The value of x in the body of a kernel, and its type.
std::string value(const std::string& expression) {
  const TranslationUnit unit = parse(
      std::string(declared_types) +
      "kernel void k(global const float* a, global float* b, int n, float4 v, global const point* s, constant row* r) {"
      "unknown x = " +
      expression + "; }");
  const Stmt* const body = unit.functions.back().statements;
  REQUIRE(body != nullptr);
  REQUIRE(body->parts.size() == 1);
  REQUIRE(body->parts[0]->declared.size() == 1);
  const Expr& expr = *body->parts[0]->declared[0]->value;
  CHECK(text_of(unit, expr.tokens) == expression);
  return text(unit, expr) + " " + text(*expr.type);
}

// The kinds of the statements of a body.
std::string statements(const TranslationUnit& unit, const Stmt& stmt) {
  constexpr std::array<std::string_view, 17> kinds{
      "opaque", "nothing", "expr",    "decl",  "block", "if",     "while", "do",      "for",
      "switch", "case",    "default", "label", "goto",  "return", "break", "continue"};
  std::string parts(kinds[static_cast<std::size_t>(stmt.kind)]);
  for (const Stmt* const part : stmt.parts) {
    parts += " " + statements(unit, *part);
  }
  return stmt.parts.empty() ? parts : "(" + parts + ")";
}

std::string body_of_kernel(const std::string& statement) {
  const TranslationUnit unit = parse("kernel void k(global float* a, int n) {" + statement + "}");
  const std::string all = statements(unit, *unit.functions.back().statements);
  return all.size() > 8 && all.starts_with("(block ") ? all.substr(7, all.size() - 8) : all;
}

} // namespace

TEST_CASE("expressions and their types") {
  CHECK(value("a[n] + 2 * n") == "(+ ([] a n) (* 2 n)) number");
  CHECK(value("(a + n)[1]") == "([] (+ a n) 1) global const float");
  CHECK(value("1[a]") == "([] 1 a) global const float");
  CHECK(value("&(a[n])") == "(& ([] a n)) pointer(global const float)");
  CHECK(value("&*a") == "(& (* a)) pointer(global const float)");
  CHECK(value("n & *a") == "(& n (* a)) number");
  CHECK(value("(n) & (n) - -n") == "(& n (- n (- n))) number");
  CHECK(value("n ? a : b") == "(?: n a b) pointer(global const float)");
  CHECK(value("n ? b : 0") == "(?: n b 0) pointer(global float)");
  CHECK(value("(reads)b") == "(cast b) pointer(global const float)");
  CHECK(value("(const reads)b") == "(cast b) const pointer(global const float)");
  CHECK(value("(uint)*a") == "(cast (* a)) uint");
  CHECK(value("(unsigned long)a") == "(cast a) ulong");
  CHECK(value("(float4)(1, n, a[0], 2)") == "(cast (, (, (, 1 n) ([] a 0)) 2)) float4");
  CHECK(value("(float4)(n).x") == "(cast (. x n)) float4");
  CHECK(value("v.xyz") == "(. xyz v) number");
  CHECK(value("s->m") == "(. m s) array(global const float)");
  CHECK(value("s[n].v.x") == "(. x (. v ([] s n))) global const number");
  CHECK(value("s->p") == "(. p s) global const pointer(global float)");
  CHECK(value("*r") == "(* r) array(constant const float)");
  CHECK(value("r[1][2]") == "([] ([] r 1) 2) constant const float");
  CHECK(value("((struct { int c; }){n}).c") == "(. c (compound (list n))) int");
  CHECK(value("(point){{1, 2}, .v = n, .m[1] = 2}") == "(compound (list (list 1 2) n 1 2)) record");
  CHECK(value("(enum mode)n") == "(cast n) enum");
  CHECK(value("sizeof(float4) + sizeof n") == "(+ (size) (size n)) number");
  CHECK(value("(n = 2, b)") == "(, (= n 2) b) pointer(global float)");
  CHECK(value("n++ - --n") == "(- (post ++ n) (-- n)) number");
  CHECK(value("(get_global_id)(0)") == "(call get_global_id 0) number");
  CHECK(value("drop(a)") == "(call drop a) pointer(global float)");
  CHECK(value("get(a, 'c') + \"text\"[0]") == "(+ (call get a 'c') ([] \"text\" 0)) number");
  CHECK(value("n < 1 ? 2 : n > 3 ? 4 : 5") == "(?: (< n 1) 2 (?: (> n 3) 4 5)) int");
  CHECK(value("a ? n == 1 || n && 1 : 0") == "(?: a (|| (== n 1) (&& n 1)) 0) number");
}

TEST_CASE("what is not known is opaque, with its tokens") {
  CHECK(value("({ a; })") == "<({ a; })> ?");
  CHECK(value("(unknown_t)n") == "<(unknown_t)n> ?");
  CHECK(value("_Generic(n, int: a, default: b)") == "<_Generic(n, int: a, default: b)> ?");
  CHECK(value("(__typeof__(b))a") == "<(__typeof__(b))a> ?");
  CHECK(value("n + @ 2") == "(+ n <@ 2>) ?");
  CHECK(value("undeclared") == "undeclared ?");
  CHECK(value("s->q") == "(. q s) ?");
}

TEST_CASE("statements") {
  CHECK(body_of_kernel("if (n) a[0] = 1; else if (n > 1) {} else return;") == "(if expr (if block return))");
  CHECK(body_of_kernel("for (int i = 0; i < n; ++i) { continue; } for (;;) break;") ==
        "(for decl (block continue)) (for nothing break)");
  CHECK(body_of_kernel("do n--; while (n); while (n) ;") == "(do expr) (while nothing)");
  CHECK(body_of_kernel("switch (n) { case 1: case 2: n = 1; break; default: }") ==
        "(switch (block (case (case expr)) break default))");
  CHECK(body_of_kernel("again: goto again; int b, *c = &b;") == "(label goto) decl");
  CHECK(body_of_kernel("__attribute__((opencl_unroll_hint(4))) for (;;) n = 1;") == "(for nothing expr)");
  CHECK(body_of_kernel("asm(\"nop\"); foreach (n) { n = 1; } n = 2;") == "opaque opaque");
  CHECK(body_of_kernel("if n; n = 1;") == "opaque expr");
  CHECK(body_of_kernel("typedef int t; t b = (t)n; struct s { int x; } c; enum { d } e;") ==
        "decl decl decl decl");
}

TEST_CASE("types of declarations") {
  const auto declared = [](const std::string& declaration, const std::string& name) {
    const TranslationUnit unit = parse(std::string(declared_types) + "kernel void k() {" + declaration + "}");
    for (const Decl* const found : unit.names) {
      if (unit.source.tokens[found->token].text == name && !found->is_file_scope) {
        return text(*found->type);
      }
    }
    return std::string("none");
  };
  CHECK(declared("local float x[4][2];", "x") == "array(array(local float))");
  CHECK(declared("local int (*x)[2];", "x") == "pointer(array(local int))");
  CHECK(declared("const int a = 1, *x = &a;", "x") == "pointer(const int)");
  CHECK(declared("int* const restrict x;", "x") == "const pointer(int)");
  CHECK(declared("const row x;", "x") == "array(const float)");
  CHECK(declared("global float* const* x;", "x") == "pointer(const pointer(global float))");
  CHECK(declared("float (*x)(float, int);", "x") == "pointer(function(float))");
  CHECK(declared("int x(int a);", "x") == "function(int)");
  CHECK(declared("typedef int x __attribute__((vector_size(16)));", "x") == "?");
  CHECK(declared("__attribute__((aligned(16))) float x[4];", "x") == "array(float)");
  CHECK(declared("unknown_t* x;", "x") == "pointer(?)");
  CHECK(declared("struct { int x : 3; } s;", "x") == "int");
  CHECK(declared("read_only image2d_t x;", "x") == "image2d_t");
  CHECK(declared("size_t x;", "x") == "size_t");
}

TEST_CASE("nothing in the corpus is opaque") {
  for (const CorpusUnit& found : corpus()) {
    INFO(found.name);
    const TranslationUnit& unit = found.unit;
    for (const Function& function : unit.functions) {
      const Stmt* const whole = function.statements;
      if (whole == nullptr) {
        CHECK_FALSE(function.body);
        continue;
      }
      each_statement(*whole, [&](const Stmt& stmt) {
        CAPTURE(text_of(unit, stmt.tokens));
        CHECK(stmt.kind != Stmt::Kind::opaque);
        each_value(stmt, [&](const Expr& value) {
          each_expression(value, [&](const Expr& expr) {
            CAPTURE(text_of(unit, expr.tokens));
            CHECK(expr.kind != Expr::Kind::opaque);
            const bool has_type = expr.kind != Expr::Kind::list && expr.kind != Expr::Kind::name;
            CHECK_FALSE((has_type && expr.type->is(Type::Kind::opaque)));
          });
        });
      });
    }
  }
}
