// Kernels rewritten to report the elements that they access.
#include "opencl_c/accesses.hpp"
#include "source_support.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

WatchedUnit watched(const std::string& source) {
  return watch_accesses(parse(source), {{"k", {0, 1}}});
}

// The rewritten body of a kernel with a and b.
std::string body(const std::string& statements) {
  const std::string text = spaced(
      watched("kernel void k(global const float* a, global float4* b, uint n) {" + statements + "}").text);
  const std::string begin =
      "tg_rows , uint tg_row_count , global uint * tg_shadow , global uint * tg_verdict ) {";
  const std::size_t at = text.find(begin);
  REQUIRE(at != std::string::npos);
  return text.substr(at + begin.size());
}

std::string touch(const std::string& argument, const std::string& kind, const std::string& subscript) {
  return fmt::format(
      "tg_touch ( tg_watching ( tg_rows , tg_row_count , tg_shadow , tg_verdict , {}u ) , {} , "
      "sizeof ( * {} ) , ( {} ) )",
      argument, kind, argument == "0" ? "a" : "b", subscript);
}

} // namespace

TEST_CASE("reads, writes, and what may be both") {
  CHECK(body("b[n] = a[n + 1];") ==
        " b [ " + touch("1", "TG_WRITES", "n") + " ] = a [ " + touch("0", "TG_READS", "n + 1") + " ] ; }");
  const std::string both = " b [ " + touch("1", "TG_READS | TG_WRITES", "n") + " ]";
  CHECK(body("b[n] += n;") == both + " += n ; }");
  CHECK(body("b[n].x = n;") == both + " . x = n ; }");
  CHECK(body("b[n]++;") == both + " ++ ; }");
  CHECK(body("(b[n]) = n;") == " ( b [ " + touch("1", "TG_WRITES", "n") + " ] ) = n ; }");
  CHECK(body("if (n) ((b[n])) -= n;") == " if ( n ) ( (" + both + " ) ) -= n ; }");
  CHECK(body("if (n) ; else (b[n])++;") == " if ( n ) ; else (" + both + " ) ++ ; }");
  CHECK(body("++(b[n]);") == " ++ (" + both + " ) ; }");
  CHECK(body("atomic_add(&b[n], 1);") == " atomic_add ( &" + both + " , 1 ) ; }");
  const std::string read = " b [ " + touch("1", "TG_READS", "n") + " ]";
  CHECK(body("n = b[n] == 3;") == " n =" + read + " == 3 ; }");
  CHECK(body("n = n & b[n];") == " n = n &" + read + " ; }");
  CHECK(body("if (b[n]) ++n;") == " if (" + read + " ) ++ n ; }");
}

TEST_CASE("a subscript in a subscript") {
  CHECK(body("b[(uint)a[n]] = 0;") ==
        " b [ " + touch("1", "TG_WRITES", "( uint ) a [ " + touch("0", "TG_READS", "n") + " ]") +
            " ] = 0 ; }");
}

TEST_CASE("a use that is not a subscript is reported") {
  const WatchedUnit unit = watched("kernel void k(global const float* a, global float* b) {\n"
                                   "  global const float* p = a + 1;\n"
                                   "  b[0] = *p + *b;\n"
                                   "}\n");
  REQUIRE(unit.unwatched.size() == 2);
  CHECK(unit.unwatched[0].parameter == "a");
  CHECK(unit.unwatched[0].line == 2);
  CHECK(unit.unwatched[1].parameter == "b");
  CHECK(unit.unwatched[1].kernel == "k");
  CHECK(unit.unwatched[1].line == 3);
}

TEST_CASE("an element whose address is passed on may lead to others") {
  for (const char* const use :
       {"f(&b[n]);", "f(&(b[n]));", "global float4* p = &((b)[n]);", "return &b[n];"}) {
    INFO(use);
    const auto unit =
        watched("kernel void k(global const float* a, global float4* b, uint n) {" + std::string(use) + "}");
    CHECK(unit.unwatched.size() == 1);
    CHECK(unit.text.find("tg_touch") == std::string::npos);
  }
}

TEST_CASE("rows are addresses, and of a body that is not understood nothing is watched") {
  const auto unwatched = [](const std::string& parameter, const std::string& statements) {
    return watched("void f(global uint* p); kernel void k(global const float* a, global " + parameter +
                   ", uint n) {" + statements + "}")
        .unwatched.size();
  };
  CHECK(unwatched("uint b[][4]", "b[n][1] = 2; f(b[n]);") == 1);
  CHECK(unwatched("uint* b", "(b)[n] = 2; f((b) + 1); n[b] = 1;") == 2);
  CHECK(unwatched("uint* b", "b[n] = a[n]; if (n) goto end; b[0] = 1; end:;") == 3);
}

TEST_CASE("functions that a pointer is handed to are watched, too") {
  const WatchedUnit unit =
      watched("float far(int n, global const float* p);\n"
              "float near(global const float* p, int n) { return far(n, p) + p[n]; }\n"
              "float far(int n, global const float* p) { return p[n + 1]; }\n"
              "kernel void k(global const float* a, global float* b) { b[0] = near(a, 2); }\n"
              "kernel void other(global float* c) { c[0] = near(c + 1, 3); }\n");
  CHECK(unit.unwatched.empty());
  const auto read = [](int parameter, const char* subscript) {
    return fmt::format("p [ tg_touch ( tg_watch{} , TG_READS , sizeof ( * p ) , ( {} ) ) ]", parameter,
                       subscript);
  };
  const std::string text = spaced(unit.text);
  CHECK(text.starts_with("float far ( int n , tg_watch tg_watch1 , global const float * p ) ; "
                         "float near ( tg_watch tg_watch0 , global const float * p , int n ) "
                         "{ return far ( n , tg_watch0 , p ) + " +
                         read(0, "n") +
                         " ; } float far ( int n , tg_watch tg_watch1 , global const float * p ) "
                         "{ return " +
                         read(1, "n + 1") + " ; } kernel void k"));
  CHECK(text.find("near ( tg_watching ( tg_rows , tg_row_count , tg_shadow , tg_verdict , 0u ) , a , 2 )") !=
        std::string::npos);
  CHECK(text.ends_with("{ c [ 0 ] = near ( tg_unwatched ( ) , c + 1 , 3 ) ; }"));
}

TEST_CASE("a kernel that another one calls stays as it is") {
  const WatchedUnit unit =
      watched("kernel void k(global const float* a, global float* b) { b[0] = a[0]; }\n"
              "kernel void outer(global const float* a, global float* b) { k(a, b); }\n");
  CHECK(unit.kernels.empty());
  CHECK(unit.unwatched.size() == 2);
  CHECK(unit.text.find("tg_touch") == std::string::npos);
}
