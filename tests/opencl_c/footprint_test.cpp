// Elements that a work-item accesses, where the analysis is certain.
#include "../test_scale.hpp"
#include "opencl_c/footprint.hpp"
#include "source_support.hpp"

using namespace tidegate;
using namespace tidegate::opencl_c;
using namespace tidegate::opencl_c::test;

namespace {

// Checks what is claimed of each body; those of one claim have a | between them.
template <class Of>
void check_claims(const Of& of,
                  const std::vector<std::pair<decltype(std::declval<Of>()("")), std::string>>& claims) {
  for (const auto& [claimed, bodies] : claims) {
    for (const std::string& body : split(bodies, " | ")) {
      CHECK_MESSAGE(of(body) == claimed, body);
    }
  }
}

// Of a launch in one dimension.
std::vector<Footprint> of_line(const TranslationUnit& unit, const std::string& kernel = "k") {
  return footprints(unit, *unit.definition(kernel), {.size = {1 << 20, 1, 1}, .local = {64, 1, 1}})
      .parameters;
}

// For each parameter: "0..0 -1..1 -", with the elements of an id before it if there are several.
std::string reach_of(const TranslationUnit& unit) {
  std::string text;
  for (const Footprint& footprint : of_line(unit)) {
    text += text.empty() ? "" : " ";
    if (!footprint.by_id) {
      text += "-";
      continue;
    }
    const std::int64_t per_id = footprint.by_id->per_id[0];
    const auto [low, high] = footprint.by_id->offset[0];
    text += (per_id == 1 ? "" : fmt::format("{}*", per_id)) + fmt::format("{}..{}", low, high);
  }
  return text;
}

// The result for a kernel with parameters a, b and n.
std::string reach(const std::string& body) {
  return reach_of(parse("typedef uint word; void other(global float* p); uint of(float x);"
                        "kernel void k(global const float* a, global float* b, uint n) {" +
                        body + "}"));
}

// The result for `uint i = get_global_id(0);`, these statements and `b[i] = 1;`.
std::string with_id(const std::string& statements) {
  return reach("uint i = get_global_id(0); " + statements + " b[i] = 1;");
}

} // namespace

TEST_CASE("a variable that holds the global id, or the call itself") {
  check_claims(reach,
               {{"0..0 0..0 -", "uint i = get_global_id(0); b[i] = a[i]; | "
                                "const size_t i = get_global_id(0), j = 3; if (i < n) b[i] = a[i] + j; | "
                                "int i = (int)get_global_id(0); b[i] += a[i] * a[i]; | "
                                "word i = get_global_id((0u)); b[(i)] = (a)[(word)i]; | "
                                "b[get_global_id(0)] = a[get_global_id(0)]; | b[get_global_id(0)] = n;"},
                {"2..2 0..0 -", "uint i = get_global_id(0); long j = i + 1; b[i] = a[j + 1];"}});
}

TEST_CASE("statements and expressions of all kinds around it") {
  CHECK(with_id("for (uint k = 0; k < 4; ++k) { float c[2] = {a[i], [1] = 2}; if (c[0] > k) continue; "
                "else break; } while (n < 3) ++n; do { n--; } while (a[i - 1] < 3 && !(n & 1)); ") ==
        "-1..0 0..0 -");
  CHECK(with_id("switch (n) { case 1: b[i] = a[i] * 2; break; default: b[i + 1] = sqrt(a[i + 1]); }") ==
        "0..1 0..1 -");
  CHECK(with_id("float4 v = (float4)(a[i], 1, 2, 3); v.x = v.s1 + (n ? a[i] : 0.5f); n = (uint)(v.y) << 2;"
                "barrier(CLK_LOCAL_MEM_FENCE); n = sizeof(float4) + sizeof n;") == "0..0 0..0 -");
  CHECK(
      with_id("\n#pragma unroll 4\nfor (;;) break;\n __attribute__((opencl_unroll_hint(2))) while (n--) ;") ==
      "0..0 0..0 -");
  CHECK(with_id("struct { float p[2]; } s = {.p = {a[i], 0}}; s.p[1] = of(a[i]); return;") == "0..0 0..0 -");
}

TEST_CASE("constants added") {
  check_claims(
      [](const std::string& body) { return reach("uint i = get_global_id(0); b[i] = " + body + ";"); },
      {{"-1..2 0..0 -", "a[i - 1] + a[i + 2u]"},
       {"16..16 0..0 -", "a[0x10 + i]"},
       {"2..6 0..0 -", "a[i + (1 + 2 * 3) - +1] + a[i - (-2)]"},
       {"- 0..0 -",
        "a[i + n] | a[2 - i] | a[-i] | a[i + 1.0f] | a[i + 99999999999] | a[i + 1073741824 + 1] | "
        "a[(uchar)i] + a[(float)i] | a[(n, i)]"},
       {"2*0..1 0..0 -", "a[i * 2] + a[2 * i + 3]"}});
}

TEST_CASE("a variable that changes, or holds something else") {
  for (const std::string change :
       {"i++;", "++i;", "(i)++;", "--((i));", "i += 4;", "(i) = 3;", "n = (i *= 2);", "uint* p = &i; *p = 3;",
        "uint* p = &(i);", "of((i)--);", "for (; n < 4; (i)++) n++;", "n && i--;", "n ? i++ : 0;",
        "n = sizeof(struct { int i[2]; }) + i++;"}) {
    CAPTURE(change);
    CHECK(with_id(change) == "0..0 - -");
  }
  CHECK(with_id("{ uint i = 3; n = i; } for (uint i = 0; i < 3; ++i) n++;") ==
        "0..0 0..0 -"); // other variables
  CHECK(with_id("\n#define NEXT(x) ((x)++)\nNEXT(i);") == "0..0 - -");
  check_claims(
      reach,
      {{"0..0 - -",
        "for (uint i = get_global_id(0); i < n; i += 64) b[i] = 1; | "
        "uint i = get_global_id(0); uint j = i; i++; b[j] = 1; | "
        "uint i = get_global_id(1); b[i] = 1; | uint i = get_global_id(n); b[i] = 1; | "
        "uint i = get_global_id(0) / 2; b[i] = 1; | uchar i = get_global_id(0); b[i] = 1; | "
        "unsigned char i = get_global_id(0); b[i] = 1; | float i = get_global_id(0); b[(uint)i] = 1; | "
        "uint2 i = get_global_id(0); b[i.x] = 1; | uint i[1] = {get_global_id(0)}; b[*i] = 1; | "
        "volatile uint i = get_global_id(0); b[i] = 1; | uint i; i = get_global_id(0); b[i] = 1; | "
        "uint i = get_global_id(0); { uint i = 3; b[i] = 1; } | "
        "switch (n) { case 1:; uint i = get_global_id(0); default: b[i] = 1; } | "
        "typedef uchar byte; uint i = (byte)get_global_id(0); b[i] = 1;"},
       {"0..0 -1048575..0 -", "uint i = n ? get_global_id(0) : 0; b[i] = 1;"},
       {"- - -", "uint i __attribute__((cleanup(f))) = get_global_id(0); b[i] = 1;"}});
}

TEST_CASE("a pointer that is passed on or stored") {
  for (const std::string& use :
       split("other(b); | global float* p = n ? b : 0; | *b = a[i]; | b += 2; | (b)++; | ++(b); | "
             "other((global float*)b); | vstore4(vload4(i, a), i, b); | i[b] = 1; | b[n] = 1; | b[0] = 1; | "
             "other((0, b)); | global uint* p = (global uint*)&b[i]; | n = b == 0; | "
             "global float* const* p = &b; | struct { global float* p; } s = {b}; | "
             "struct { int x[sizeof(b) / 8]; } s; | async_work_group_copy(b, (local float*)0, 4, 0); | "
             "b[i][n] = 2; | n = (uintptr_t)&b[i]; | prefetch(b, 4);",
             " | ")) {
    CAPTURE(use);
    CHECK(with_id(use).ends_with(" - -"));
  }
  CHECK(reach("uint i = get_global_id(0); b[i] = a[a[i] > 0 ? i : 0];") == "-1048575..0 0..0 -");
  CHECK(reach("uint i = get_global_id(0); b[i] = *&a[i] + b[i];") == "0..0 0..0 -");
  CHECK(with_id("global float* p = &(b[i]); p[5] = 1; *(b + i) = n = sizeof *b; atomic_xchg(&b[i], 1);") ==
        "0..0 0..5 -");
  CHECK(with_id("global float* p = b + 3; { float b[2]; b[0] = p[i]; }") == "0..0 0..3 -");
}

TEST_CASE("nothing is known of a body that is not understood") {
  for (const std::string statement :
       {"goto end; end:", "n = ({ i; });", "__asm__(\"\");", "unknown(n);", "n = unknown;", "uint f(uint);",
        "void (^block)(void) = ^{};", "__typeof__(n) m = 3;", "n = _Generic(n, default: 1);",
        "n = *(global uint*)(__UINTPTR_TYPE__)&b[i];", "n = n ?: 3;", "uchar uint = 3;", "&b[i];}{",
        "\n#pragma weird\n", "auto m = 3;"}) {
    CAPTURE(statement);
    const auto unit = try_parse("kernel void k(global float* a, global float* b, uint n) { uint i = "
                                "get_global_id(0); " +
                                statement + " b[i] = 1; }");
    CHECK((!unit || reach_of(*unit) == "- - -"));
  }
  const std::string deep(5000, '(');
  CHECK(with_id("n = " + deep + "1" + std::string(5000, ')') + ";") == "- - -");
  CHECK(with_id(std::string(5000, '{') + std::string(5000, '}')) == "- - -");
}

TEST_CASE("the size of an element is that of the type") {
  // Types, @ and the parameter.
  const auto bytes = [](const std::string& text) {
    const auto parts = split(text, "@");
    const TranslationUnit unit = parse(parts[0] + " kernel void k(" + parts[1] +
                                       ") { const uint i = get_global_id(0); t[i] = t[i]; }");
    return std::to_string(of_line(unit).at(0).element_bytes);
  };
  check_claims(
      bytes,
      {{"16", "@global float3* restrict t"},
       {"8", "@global double t[]"},
       {"4", "@global uint* t | typedef uint word; typedef word again; @global again* t | "
             "typedef global uint word; @word* t | typedef global uint* P; @P t"},
       {"2", "@__global volatile unsigned short * const t | @global half t[16]"},
       {"0", "enum mode { A }; @global enum mode* t | typedef struct { uint x; } point; @global point* t | "
             "typedef uint T[4]; @global T* t | typedef uint T[4]; typedef T U; @global U* t | "
             "typedef uint T __attribute__((ext_vector_type(4))); @global T* t | "
             "typedef __attribute__((vector_size(16))) uint T; @global T* t | "
             "typedef uint __attribute__((ext_vector_type(4))) T; @global T* t | "
             "@global uint __attribute__((vector_size(16)))* t | @global uint (*t)[4] | "
             "@global uint t[][4] | @global uint* t[4] | @constant uint* t | @local uint* t"}});
}

TEST_CASE("an element is assigned before it is read") {
  const auto first = [](const std::string& body) {
    std::string text = body; // with $ for the element
    for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
      text.replace(at, 1, "b[get_global_id(0)]");
    }
    const TranslationUnit unit = parse("kernel void k(global float4* b, uint n) {" + text + "}");
    return of_line(unit).at(0).assigned_first;
  };
  check_claims(
      first,
      {{true, "uint i = get_global_id(0); b[i] = 1; | ((b)[(get_global_id(0))] = n = 1); | "
              "if (n > 3) { n = 2; } $ = n; $ += 1; | for (; n < 4; ++n) ; $ = 1;"},
       {false, "(b)[(get_global_id(0))] = 1, 2; | $ += 1; | $.x = 1; | n = $.x; $ = 1; | $ = $ + 1; | "
               "if (n > 3) $ = 1; | if (n > 3) n = 1; else $ = 1; | if (n > 3)\n#pragma unroll\n$ = 1; | "
               "if (n > 3) { $ = 1; } | if (n > 3) return; $ = 1; | for (uint k = 0; k < n; ++k) $ = k; | "
               "for (uint k = 0; k < n; $ = k) ++k; | for ($ = 1; n < 3; ++n) ; | while (n < 3) $ = 1; | "
               "switch (n) case 1: $ = 1; | switch (n) { case 1: $ = 1; } | n > 3 ? ($ = 1) : 2; | "
               "n > 3 && ($ = 1).x; | n += 1;"}});
}

TEST_CASE("an element is added to before any other access") {
  const auto changes = [](const std::string& body) {
    const TranslationUnit unit = parse("void other(global float* p); kernel void k(global float* b, int n) { "
                                       "uint i = get_global_id(0); " +
                                       body + "}");
    return of_line(unit).at(0).changed_first;
  };
  for (const char* const body :
       {"b[i] += 1;", "n = 3; b[i + 1] *= 2; b[i] = 1;", "b[i]++;", "b[n] -= b[0];"}) {
    CAPTURE(body);
    CHECK(changes(body));
  }
  for (const char* const body :
       {"b[i] = 1; b[i] += 1;", "if (n) b[i] += 1;", "if (n) return; b[i] += 1;", "n = b[i]; b[i] += 1;",
        "other(b); b[i] += 1;", "n += 1;", "for (; n < 3; ++n) b[i] += 1;"}) {
    CAPTURE(body);
    CHECK_FALSE(changes(body));
  }
}

TEST_CASE("work-items that return before others of their work-group come to a barrier") {
  // Of 64 ids in groups of 16, for n = 50: "x 50" for those from 50 on.
  const auto returns = [](const std::string& body) {
    const TranslationUnit unit = parse("kernel void k(global int* a, int n) {\n" + body + "}");
    std::string text;
    for (const EarlyReturn& found :
         footprints(
             unit, *unit.definition("k"),
             {.dimensions = 2, .size = {64, 8, 1}, .local = {16, 2, 1}, .values = {{1, 50}}, .members = {}})
             .returns) {
      CHECK(unit.is(found.token, "return"));
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", "xyz"[found.dimension], found.first);
    }
    return text;
  };
  const std::string x = "const int x = get_global_id(0), y = (int)get_global_id(1); ";
  CHECK(returns("if (get_global_id(0) >= n) return; barrier(1);") == "x 50");
  CHECK(returns(x + "if (x >= n || y >= 3 || a[y] > 2) { return; } a[x] = 1; barrier(1);") == "x 50, y 3");
  CHECK(returns(x + "if (n <= x) { a[0] = 1; return; } if (x > 8) return; work_group_barrier(1);") ==
        "x 50, x 9");
  for (const char* const body :
       {"if (x >= 48) return; barrier(1);", "if (x >= 64) return; barrier(1);", "if (x >= n) return;",
        "barrier(1); if (x >= n) return;", "if (a[0] > x) return; barrier(1);",
        "if (x >= n) a[0] = 1; barrier(1);", "n = 49; if (x >= n) return; barrier(1);",
        "if (y >= 4) return; barrier(1);"}) {
    CAPTURE(body);
    CHECK(returns(x + body) == "");
  }
}

TEST_CASE("a subscript of a small type touches what the type can hold") {
  for (const auto& [type, low, high] :
       {std::tuple("uchar", 0, 255), {"char", -128, 127}, {"ushort", 0, 65535}, {"short", -32768, 32767}}) {
    const std::string source =
        fmt::format("kernel void k(global int* a, global const {}* t) {{ a[t[0]] = 1; }}", type);
    const auto elements = of_line(parse(source)).at(0).elements;
    REQUIRE(elements);
    CHECK(elements->low == low);
    CHECK(elements->high == high);
  }
}

TEST_CASE("a pointer that is used by atomics alone, whose results are not used") {
  // The reduction of `h`.
  const auto reduced = [](const std::string& body) {
    const TranslationUnit unit =
        parse("void other(global int* p) { atomic_inc(p); }"
              "kernel void k(volatile global int* h, global const int* a, global int* b, int n) {"
              "local int own; int i = get_global_id(0);" +
              body + "}");
    const auto reduction = of_line(unit).at(0).reduction;
    constexpr std::array<const char*, 3> names{"sum", "min", "max"};
    return std::string(reduction ? names.at(static_cast<std::size_t>(*reduction)) : "-");
  };
  check_claims(
      reduced,
      {{"sum", "atomic_add(&h[a[i] % 4], a[i]); | "
               "atomic_inc(h); if (i < n) atomic_sub(h + a[i], 3); else { atom_dec(&(h[1])); } | "
               "atomic_fetch_add(h + i, 1); | atomic_inc(h); other(h); | "
               "volatile global int* p = h; atomic_inc(p); | atomic_inc(&own); atomic_inc(h);"},
       {"max", "for (int j = 0; j < n; ++j) atomic_max(&h[j], a[j]);"},
       {"min", "atom_min((h + 1) + i, b[i]); b[i] = 2;"},
       {"-", "b[i] = a[i]; | atomic_add(h, 1); atomic_max(h, 2); | b[i] = atomic_add(&h[i], 1); | "
             "int slot = atomic_inc(h); b[slot] = i; | if (atomic_inc(h) == n) b[0] = 1; | "
             "n = 1, atomic_inc(h); | (void)atomic_inc(h); | return atomic_inc(h); | "
             "for (; atomic_inc(h);) ; | atomic_add(&h[i], h[0]); | atomic_add(&h[h[i]], 1); | "
             "atomic_inc(h); h[i] = 0; | other(b); | atomic_inc((volatile global int*)b); | "
             "atomic_inc(n ? h : b); | atomic_inc(h + 1 ? b : h); | atomic_inc(*(h + 1) ? h : h); | "
             "atomic_xchg(h, 1); | atomic_cmpxchg(h, 1, 2); | atomic_or(h, 1); | "
             "unknown(); atomic_inc(h); | b[i] = __sync_fetch_and_add(h, 1); | b[i] = (atomic_inc)(h);"}});
}

namespace {

// Of `a` in a kernel over `width` x `height` ids with int parameters w and h: "per_id low high", and the rows of a torus.
std::string rows_of(const std::string& body, std::int64_t width = 8, std::int64_t height = 6) {
  const TranslationUnit unit = parse("float of(float x);"
                                     "kernel void k(global float* a, global float* b, int w, int h) {"
                                     "const int x = get_global_id(0), y = get_global_id(1);" +
                                     body + "}");
  const auto rows =
      footprints(unit, *unit.definition("k"),
                 {.dimensions = 2, .size = {width, height, 1}, .values = {{2, 8}, {3, 6}}, .members = {}})
          .parameters.at(0)
          .rows;
  return !rows ? "-"
               : fmt::format("{} {} {}{}", rows->per_id, rows->low, rows->high,
                             rows->wraps == 0 ? "" : fmt::format(" of {}", rows->wraps));
}

} // namespace

TEST_CASE("rows of elements that work-items of two dimensions access") {

  CHECK(rows_of("b[0] = a[(y + 1) % h * w + x];", 8, 7) == "-"); // ids beyond the torus
  CHECK(rows_of("if (y < h) b[0] = a[(y + 1) % h * w + x];", 8, 7) == "8 8 15 of 6");

  check_claims(
      [](const std::string& body) { return rows_of(body); },
      {{"8 0 7", "a[y * w + x] = 1; | "
                 "size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0); a[i] = 1; | "
                 "for (int k = 0; k < w; ++k) b[0] += a[y * w + k]; | "
                 "b[0] = a[y * w + max(x - 1, 0)] + a[y * w + min(x + 1, w - 1)];"},
       {"8 -8 15", "const int i = y * 8 + x; b[i] = a[i - 1] + a[i + 1] + a[i - w] + a[i + w]; | "
                   "for (int d = -1; d <= 1; ++d) b[0] += a[(y + d) * w + x];"},
       {"16 0 15", "a[2 * (y * w + x)] = 1; a[1 + 2 * (w * y + x)] = 2;"},
       {"8 0 6", "if (x > 0) a[y * w + x - 1] = 1;"},
       {"8 -3 4", "b[0] = a[-y * -w + (x - 3) * 1];"},
       {"8 -2 8", "for (int d = -2; d < 2; d++) b[0] += a[y * w + x + d];"},
       {"-", "for (int d = 0; d < 3; ++d) { b[0] += a[y * w + x + d]; ++d; } | "
             "for (int d = 0; d < b[0]; ++d) b[0] += a[y * w + x + d]; | "
             "for (int d = 0; d < 1 + 3 * d - d * d; ++d) b[0] += a[(y + d) * w + x]; | "
             "b[0] = a[(uint)(y - 1) % h * w + x]; | b[0] = a[(y + 1) % h * w + x - 1]; | "
             "b[0] = a[(y + 1) % h * w + x] + a[(y + 1) % 5 * w + x]; | "
             "global const float* p = a + y * w; p += 1; b[0] = p[x]; | "
             "global const float* p = a + y * w; b[0] = of(p[x]); other(p); | "
             "global const float4* p = (global const float4*)a; b[0] = p[x].x; | "
             "global const int* p = a + y * w; b[0] = p[x]; | "
             "global const float* p = y ? a : b; b[0] = p[x]; | a[x] = 1; | a[y * w + (int)b[x]] = 1; | "
             "w = 4; a[y * w + x] = 1; | int i = x; if (b[0] > 0) i = 7; a[y * w + i] = 1; | "
             "a[y * w + x] = 1; a[y * 4 + x] = 2; | a[y * 1000000000 + x] = 1;"},
       {"8 -6 7", "b[0] = a[clamp(y - 1, 0, h - 1) * w + clamp(x + 2, 0, w - 1)];"},
       {"8 -8 15 of 6", "b[0] = a[(y + h - 1) % h * w + (x + 1) % w] + a[(y + 1) % h * w + x] + a[y * w];"},
       {"8 -8 -1 of 6", "b[0] = a[(y - 1 + h) % h * w + x];"},
       {"8 -1 7", "global const float* here = a + y * w; b[0] = here[x] + *(here + 1) + here[x - 1];"},
       {"8 8 8", "global float* const next = a + (y + 1) * w; *next = 1;"},
       {"1 0 42", "a[x * h + y] = 1;"},
       {"32 0 31", "vstore4((float4)(0), y * w + x, a);"}});
  // Work-items beyond the width are left out, or touch the next row.
  check_claims(
      [](const std::string& body) { return rows_of(body, 10); },
      {{"8 0 9", "a[y * w + x] = 1; | if (x < w || y < h) a[y * w + x] = 1; | "
                 "if (x < w) b[0] = 1; a[y * w + x] = 1; | "
                 "if (b[0] > 1) { if (x >= w) return; } a[y * w + x] = 1; | "
                 "for (;;) { if (x >= w) break; } a[y * w + x] = 1; | "
                 "for (int k = 0; k < b[0]; ++k) if (x >= w) return; a[y * w + x] = 1; | "
                 "while (b[0] > 5) if (x >= w) return; else b[0] = 1; a[y * w + x] = 1; | "
                 "do if (x >= w) { break; return; } while (b[0] > 5); a[y * w + x] = 1; | "
                 "switch (y) { case 0: if (x >= w) return; case 1: a[y * w + x] = 1; }"},
       {"8 0 7", "if (x >= w || y >= h) return; a[y * w + x] = 1; | "
                 "if (x >= w) { b[0] = 1; return; } else { b[1] = 2; } a[y * w + x] = 1; | "
                 "if (!(x < w && y < h)) return; a[y * w + x] = 1; | if (x < w && y < h) a[y * w + x] = 1; | "
                 "if (w > x) { a[y * w + x] = 1; } | b[0] = x < w ? a[y * w + x] : 0; | "
                 "b[0] = x < w && a[y * w + x] > 0; | b[0] = x >= w || a[y * w + x] > 0; | "
                 "{ if (x >= w) return; } a[y * w + x] = 1;"},
       {"8 0 6", "if (x <= w - 2) a[y * w + x] = 1; | if (x + 1 >= w) return; a[y * w + x] = 1;"}});
}

namespace {

// Of `a` in a kernel over 32 x 16 x 4 ids with w = 32, h = 16 and a structure with both: the elements of an id and the
// offsets in each dimension, then the certain elements.
std::string by_id(const std::string& body, std::uint32_t dimensions = 2, std::int64_t width = 32) {
  const TranslationUnit unit =
      parse("struct grid { int w, h; float share; };"
            "float at(global const float* p, int x, int y, int w, int h) {"
            "  if (x < 0) return 1; if (x >= w || y < 0 || y >= h) return 0; return p[y * w + x]; }"
            "float around(global const float* p, struct grid g, int x, int y) {"
            "  return at(p, x - 1, y, g.w, g.h) + at(p, x + 1, y, g.w, g.h) + at(p, x, y - 1, g.w, g.h); }"
            "int inside(struct grid g, int x, int y) { return x > 0 && y > 0 && x < g.w - 1 && y < g.h - 1; }"
            "int clamped(int i, int end) { if (i < 0) return 0; return i < end ? i : end - 1; }"
            "void leap(global float* p) { goto end; end: p[0] = 1; }"
            "int deep(global float* p, int n) { return n == 0 ? 0 : deep(p + 1, n - 1); }"
            "kernel void k(global float* a, global float* b, int w, int h, struct grid g) {"
            "const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);" +
            body + "}");
  const Footprint found = footprints(unit, *unit.definition("k"),
                                     {.dimensions = dimensions,
                                      .size = {width, dimensions > 1 ? 16 : 1, dimensions > 2 ? 4 : 1},
                                      .local = {8, dimensions > 1 ? 4 : 1, 1},
                                      .values = {{2, 32}, {3, 16}},
                                      .members = {{{4, "w"}, 32}, {{4, "h"}, 16}}})
                              .parameters.at(0);
  std::string text;
  for (std::uint32_t d = 0; found.by_id && d < dimensions; ++d) {
    text += fmt::format("{}{}*{}..{}", d == 0 ? "" : " ", found.by_id->per_id.at(d),
                        found.by_id->offset.at(d).low, found.by_id->offset.at(d).high);
  }
  text += found.by_id ? "" : found.obstacle ? found.obstacle->reason : "-";
  return text + (found.certain ? fmt::format(", {} to {}", found.certain->low, found.certain->high) : "");
}

} // namespace

TEST_CASE("elements by the ids of several dimensions, through helper functions") {
  CHECK(by_id("a[(z * h + y) * w + x] = b[0];", 3) == "1*0..0 32*0..0 512*0..0, 0 to 2047");
  CHECK(
      by_id(
          "const int i = y * g.w + x; if (!inside(g, x, y)) { a[i] = 0; return; } b[i] = a[i - g.w] + a[i + 1];") ==
      "1*0..1 32*-1..0, 1 to 479");
  CHECK(
      by_id("for (int dy = -1; dy <= 1; ++dy) b[0] += a[clamped(y + dy, h) * w + clamp(x + 2, 0, w - 1)];") ==
      "1*0..2 32*-1..1");
  CHECK(by_id("b[0] = a[y * w + x - 1];").starts_with("its index does not follow the ids of all dimensions"));
  CHECK(by_id("b[0] = a[y * w + x];", 2, 40).starts_with("its index does not follow"));
  CHECK(by_id("if (x < w) b[0] = a[y * w + x];", 2, 40) == "1*0..0 32*0..0, 0 to 511");
  CHECK(by_id("b[0] = a[x];").starts_with("its index does not follow"));
  CHECK(by_id("b[0] = a[y * w + (x + 1) % w];").starts_with("its index does not follow"));
  CHECK(by_id("a[y * w + x] = 1; a[y * 64 + x] = 1;").starts_with("its index does not follow"));
  // A dimension of one work-group need not be in the index.
  CHECK(by_id("b[0] = a[y * w + 3];", 2, 8) == "0*0..0 32*0..0, 3 to 483");
  check_claims(
      [](const std::string& body) { return by_id(body); },
      {{"1*0..0 32*0..0, 0 to 511", "a[y * w + x] = 1; | if (w == 31) { b[0] = a[x]; } a[y * w + x] = 1;"},
       {"4*0..0 128*0..0, 0 to 2047", "a[(y * w + x) * 4 + 3] = 1; a[4 * x + y * w * 4] = 2;"},
       {"16*0..0 1*0..0, 0 to 511", "a[x * h + y] = 1;"},
       {"1*0..2 32*-1..0, 0 to 511", "b[0] = at(a, x, y - 1, w, h) + at(a, x + 2, y, w, h);"},
       {"1*-1..1 32*-1..0, 0 to 511", "b[0] = around(a, g, x, y);"},
       {"1*-1..-1 32*0..0, 32 to 477", "const bool in = inside(g, x, y); if (in) b[0] = a[y * w + x - 1];"},
       {"1*-1..1 32*-1..1",
        "for (int dy = -1; dy <= 1; ++dy) for (int dx = -1; dx <= 1; ++dx) {  const int xx = x + dx, yy = y + dy; if (xx < 0 || yy < 0 || xx >= w || yy >= h) continue;  b[0] += a[yy * w + xx]; }"},
       {"1*-1..0 32*0..1", "b[0] = a[y * w + (x > 0 ? x - 1 : 0)] + a[(y < h - 1 ? y + 1 : y) * w + x];"},
       {"1*1..1 34*1..1, 35 to 576", "a[(y + 1) * 34 + x + 1] = 1;"},
       {"its index is no sum of ids with known factors and bounded numbers",
        "w = 31; if (w == 31) { b[0] = a[x]; } a[y * w + x] = 1;"}});
}

TEST_CASE("what is certain does not depend on memory") {
  const auto certain = [](const std::string& body) {
    const std::string text = by_id(body, 1);
    return text.find(", ") == std::string::npos ? "-" : text.substr(text.find(", ") + 2);
  };
  check_claims(certain,
               {{"0 to 31", "a[x] = 1;"},
                {"43 to 70", "if (x > 2 && x + 1 < w) a[x + 40] = 1;"},
                {"-", "if (x > 2 && b[0] > 1) a[x] = 1; | "
                      "if (b[0] > 1) { if (x >= 9) return; } a[x] = 1; | "
                      "if (x < 20) { if (x >= 9) return; } a[x] = 1; | return; a[x] = 1; | "
                      "if (x > 3) return; else return; a[x] = 1; | for (int k = 0; k < 3; ++k) a[x] = 1; | "
                      "for (int k = 0; k < 3; ++k) if (x > k) return; a[x] = 1; | "
                      "switch (x) { default: a[x] = 1; } | b[0] = sizeof(a[x]); | b[0] = &a[x] != 0; | "
                      "a[min(x, 3)] = 1;"},
                {"1 to 2", "if (x > 2 || x == 0) return; a[x] = 1;"},
                {"0 to 8", "if (x >= 9) return; a[x] = 1; | { if (x >= 9) return; } a[x] = 1;"},
                {"-1 to 2", "b[0] = x < 4 ? a[x - 1] : 0;"},
                {"0 to 3", "b[0] = x < 4 && a[x] > 0;"}});
}

TEST_CASE("why any element may be touched") {
  const std::string data = "its index is no sum of ids with known factors and bounded numbers";
  CHECK(by_id("b[0] = a[(int)b[x]];") == data);
  CHECK(by_id("int2 at; (at).x = b[x]; b[0] = a[at.x];") == data);
  CHECK(by_id("union { int i; float f; } u; u.f = b[x]; b[0] = a[u.i];") == data);
  CHECK(by_id("enum cell { A }; b[0] = a[*(global enum cell*)b];") == data);
  CHECK(by_id("b[0] = a[b[0] > 0 ? 840 / (x % 8) : 0] + a[w / x];") == data);
  check_claims([](const std::string& body) { return by_id(body); },
               {{"it is passed to leap, where a statement is not known", "leap(a);"},
                {"the pointer is passed to deep", "deep(a, w);"},
                {"the pointer is stored or compared", "global float* p = a; p += 1; p[x] = 1;"},
                {"the pointer is cast to another type", "b[0] = ((global int*)a)[x];"},
                {"a statement is not known", "goto end; end: a[x] = 1;"}});
}

TEST_CASE("random subscripts touch the elements of their rows alone") {
  // An expression of x, y, w and h, and its value.
  struct Term {
    std::string text;
    std::function<std::int64_t(std::int64_t, std::int64_t)> value;
  };
  constexpr std::int64_t w = 7, h = 5;
  std::mt19937 random(20261126);
  const auto below = [&](std::uint32_t end) { return static_cast<std::int64_t>(random() % end); };
  const auto number = [&] {
    const std::int64_t n = below(4);
    return Term{std::to_string(n), [n](std::int64_t, std::int64_t) { return n; }};
  };
  const std::array<Term, 4> names{{{"x", [](std::int64_t x, std::int64_t) { return x; }},
                                   {"y", [](std::int64_t, std::int64_t y) { return y; }},
                                   {"w", [](std::int64_t, std::int64_t) { return w; }},
                                   {"h", [](std::int64_t, std::int64_t) { return h; }}}};
  using Apply = std::int64_t (*)(std::int64_t, std::int64_t);
  static constexpr std::array<std::pair<const char*, Apply>, 7> operations{
      {{"({} + {})", [](std::int64_t a, std::int64_t b) { return a + b; }},
       {"({} + {})", [](std::int64_t a, std::int64_t b) { return a + b; }},
       {"({} - {})", [](std::int64_t a, std::int64_t b) { return a - b; }},
       {"({} * {})", [](std::int64_t a, std::int64_t b) { return a * b; }},
       {"max({}, {})", [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
       {"min({}, {})", [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
       {"({} % {})", [](std::int64_t a, std::int64_t b) { return a % b; }}}};
  const std::function<Term(int)> term = [&](int depth) -> Term {
    const auto kind = static_cast<std::size_t>(below(depth == 0 ? 5 : 12));
    if (kind < 5) {
      return kind < 4 ? names.at(kind) : number();
    }
    const auto [form, apply] = operations.at(kind - 5);
    const Term a = term(depth - 1);
    const Term b = kind < 9 ? term(depth - 1) : kind < 11 ? number() : names.at(2 + (random() & 1U));
    return {fmt::format(fmt::runtime(form), a.text, b.text),
            [of = apply, a, b](auto x, auto y) { return of(a.value(x, y), b.value(x, y)); }};
  };
  std::size_t known = 0;
  for (int i = 0; i < 20000 / tidegate::test::scale; ++i) {
    const Term index = term(2), row = term(1);
    const bool usual = below(2) == 0;
    const std::string text = usual ? row.text + " * w + " + index.text : index.text;
    const auto value = [&](std::int64_t x, std::int64_t y) {
      return usual ? row.value(x, y) * w + index.value(x, y) : index.value(x, y);
    };
    const std::int64_t width = w - 1 + below(3), height = h - 1 + below(3);
    const TranslationUnit unit = parse("kernel void k(global float* a, int w, int h) {"
                                       "const int x = get_global_id(0), y = get_global_id(1); a[" +
                                       text + "] = 1; }");
    const auto rows =
        footprints(unit, *unit.definition("k"),
                   {.dimensions = 2, .size = {width, height, 1}, .values = {{1, w}, {2, h}}, .members = {}})
            .parameters.at(0)
            .rows;
    if (!rows) {
      continue;
    }
    ++known;
    CAPTURE(text);
    CAPTURE(width);
    CAPTURE(height);
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t relative = value(x, y) - y * rows->per_id;
        const std::int64_t around = rows->wraps * rows->per_id; // of a torus
        const auto within = [&](std::int64_t element) {
          return element >= rows->low && element <= rows->high;
        };
        REQUIRE(
            (within(relative) || (around != 0 && (within(relative + around) || within(relative - around)))));
      }
    }
  }
  CHECK(known > 1000 / tidegate::test::scale);
}
