// Compares the claims of the access analysis with the accesses that kernels really make. Clang compiles
// thousands of generated kernels as OpenCL C for this machine. Its thread sanitizer calls a function before
// each memory access; this file defines these functions, which record the accesses of each work-item. They
// share no code with the analysis.
//
// TIDEGATE_CLAIMS=N generates N kernels, TIDEGATE_SEED=S other ones.
#include "opencl_c/footprint.hpp"
#include "opencl_c/source_support.hpp"
#include "temporary_folder.hpp"

#include <dlfcn.h>

namespace {

constexpr std::size_t pointers = 3; // of each kernel
constexpr std::size_t first_id = 1000, ids = 16, local_size = 8;
constexpr std::size_t region = std::size_t{1} << 18U; // bytes that a pointer points into

struct Access {
  std::size_t pointer = 0;
  std::size_t offset = 0; // bytes
  std::size_t bytes = 0;
  bool writes = false;
  bool atomic = false;
};

alignas(64) std::array<std::array<std::byte, region>, pointers> memory; // NOLINT(*-global-*)
std::vector<Access> accesses;                                           // NOLINT(*-global-*)
std::size_t id;                                                         // NOLINT(*-global-*)

void note(const void* at, std::size_t bytes, bool writes, bool atomic = false) {
  const auto offset = static_cast<const std::byte*>(at) - memory[0].data();
  if (offset >= 0 && static_cast<std::size_t>(offset) < pointers * region) {
    const auto place = static_cast<std::size_t>(offset);
    accesses.push_back({.pointer = place / region,
                        .offset = place % region,
                        .bytes = bytes,
                        .writes = writes,
                        .atomic = atomic});
  }
}

using uint2 = unsigned __attribute__((vector_size(8)));

} // namespace

// Functions that the compiled kernels call.
extern "C" {
#define TG_HOOK(kind, bytes, writes)                                                                         \
  void __tsan_##kind##bytes(void* at) {                                                                      \
    note(at, bytes, writes);                                                                                 \
  }
#define TG_HOOKS(bytes)                                                                                      \
  TG_HOOK(read, bytes, false)                                                                                \
  TG_HOOK(write, bytes, true)                                                                                \
  TG_HOOK(unaligned_read, bytes, false)                                                                      \
  TG_HOOK(unaligned_write, bytes, true)                                                                      \
  TG_HOOK(volatile_read, bytes, false)                                                                       \
  TG_HOOK(volatile_write, bytes, true)
TG_HOOKS(1)
TG_HOOKS(2)
TG_HOOKS(4)
TG_HOOKS(8)
TG_HOOKS(16)
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  note(from, bytes, false);
  note(to, bytes, true);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  note(to, bytes, true);
  return std::memset(to, value, bytes);
}
std::size_t tg_global_id(unsigned dimension) __asm__("_Z13get_global_idj");
std::size_t tg_global_id(unsigned dimension) {
  return dimension == 0 ? id : 0;
}
std::size_t tg_local_id(unsigned dimension) __asm__("_Z12get_local_idj");
std::size_t tg_local_id(unsigned dimension) {
  return dimension == 0 ? id % local_size : 0;
}
std::size_t tg_group_id(unsigned dimension) __asm__("_Z12get_group_idj");
std::size_t tg_group_id(unsigned dimension) {
  return dimension == 0 ? id / local_size : 0;
}
unsigned tg_min(unsigned a, unsigned b) __asm__("_Z3minjj");
unsigned tg_min(unsigned a, unsigned b) {
  return std::min(a, b);
}
unsigned tg_atomic_add(unsigned* at, unsigned value) __asm__("_Z10atomic_addPU8CLglobalVjj");
unsigned tg_atomic_add(unsigned* at, unsigned value) {
  note(at, sizeof *at, false, true);
  note(at, sizeof *at, true, true);
  return *at += value;
}
uint2 tg_vload2(std::size_t at, const unsigned* from) __asm__("_Z6vload2mPU8CLglobalKj");
uint2 tg_vload2(std::size_t at, const unsigned* from) {
  note(from + 2 * at, sizeof(uint2), false);
  return uint2{from[2 * at], from[2 * at + 1]};
}
void tg_vstore2(uint2 value, std::size_t at, unsigned* to) __asm__("_Z7vstore2Dv2_jmPU8CLglobalj");
void tg_vstore2(uint2 value, std::size_t at, unsigned* to) {
  note(to + 2 * at, sizeof(uint2), true);
  std::memcpy(to + 2 * at, &value, sizeof value);
}
}

namespace {

using namespace tidegate;
using namespace tidegate::opencl_c;
using tidegate::test::TemporaryFolder;

const std::string common = R"(
typedef uint word;
typedef uint row[4];
typedef uint four __attribute__((ext_vector_type(4)));
typedef struct { uint x; uint v[3]; } point;
typedef global uint* uints;
enum { ONE = 1, TWO };
#define K 3
#define NEXT(x) ((x)++)
#define SET(x, y) do { (x) = (y); } while (0)
#define AT(p, i) ((p)[(i)])
#define HERE get_global_id(0)
void bump(private uint* v) { *v += 1; }
uint shifted(uint v) { return v + 1; }
uint get(global const uint* p, uint i) { return p[i] + p[i + 1]; }
void put(global uint* p, uint i, uint v) { p[i] = v; }
enum cell { EMPTY, FULL };
typedef struct { uint x, y; } pair;
typedef union { uint u; float f; uint2 both; } word_of;
#define REF(x) (&(x))
#define PTR(t, p) ((global t*)(p))
uint inner(global const uint* p, uint i) { return i > 1000 ? p[i] : 0; }
uint nested(global const uint* p, uint i) { return inner(p + 1, i) + get(p, shifted(i)); }
void put_near(global uint* p, uint i) { if (i > 1002) { put(p, i - 1, 2); return; } put(p, shifted(i), 3); }
void add(global uint* p, uint i) { atomic_add(&p[i], 1); }
global uint* moved(global uint* p, uint i) { return p + i; }
uint clamped(int i, int low, int high) { if (i < low) return low; return i > high ? high : i; }
)";

// A pointer parameter.
struct Pointer {
  enum class Of : std::uint8_t { scalars, vectors, rows, structures };
  std::string name, type; // type of an element
  Of of = Of::scalars;
  bool is_const = false;
  std::string declaration;
};

class Chance : protected tidegate::test::Random {
public:
  using Random::Random;

  // One of the texts between " | ", with $v replaced by `v`, and so on.
  std::string form(std::string_view texts, std::initializer_list<std::pair<char, std::string_view>> values) {
    std::string made;
    const std::string chosen = one_of(opencl_c::test::split(texts, " | "));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto* const value =
          chosen[i] != '$'
              ? values.end()
              : std::ranges::find(values, chosen[i + 1], &std::pair<char, std::string_view>::first);
      made += value == values.end() ? std::string(1, chosen[i]) : std::string(value->second);
      i += value == values.end() ? 0 : 1;
    }
    return made;
  }
};

// Generates one kernel. Subscripts stay near the id and above 0; loops are short.
class Generator : Chance {
public:
  using Chance::Chance;

  std::string kernel(const std::string& name) {
    static constexpr std::array<std::uint32_t, 5> shares{0, 0, 4, 12, 40};
    odd_ = shares[below(shares.size())]; // percent of forms that hide a variable or an id
    names_ = 0;
    variables_.clear();
    pointers_.clear();
    for (std::size_t i = 0; i < pointers; ++i) {
      pointers_.push_back(pointer(std::string(1, static_cast<char>('a' + i))));
    }
    std::string text = "kernel void " + name + "(";
    for (const Pointer& pointer : pointers_) {
      text += pointer.declaration + ", ";
    }
    text += "uint n) {\n  uint acc = 0, z = 1003;\n";
    for (std::size_t i = below(2) + 1; i > 0; --i) {
      text += new_id();
    }
    text += chance(10) ? "  if (n > 1001) return;\n" : "";
    if (const Pointer* const p = writable(); p != nullptr && chance(40)) {
      text += "  " + assignment(*p) + "\n";
    }
    for (std::size_t i = below(6) + 1; i > 0; --i) {
      text += statement(0);
    }
    return text + "}\n";
  }

private:
  bool odd() { return chance(odd_); }
  std::string fresh(const std::string& prefix) { return prefix + std::to_string(names_++); }

  Pointer pointer(const std::string& name) {
    Pointer made{.name = name, .is_const = chance(30)};
    const std::string space =
        one_of({"global ", "__global "}) + (made.is_const ? "const " : "") + (chance(5) ? "volatile " : "");
    const std::uint64_t kind = below(100);
    if (kind < 60) {
      made.type = one_of({"uint", "uint", "uint", "word", "int", "float", "ushort", "uchar", "ulong", "long",
                          "double", "unsigned int", "short"});
    } else if (kind < 75) {
      made.type = one_of({"uint2", "float4", "int3", "uchar4", "ushort8", "float2"});
      made.of = Pointer::Of::vectors;
    } else if (kind < 92) {
      made.type = one_of({"row", "four", "(*)", "[][4]"});
      made.of = made.type == "four" ? Pointer::Of::vectors : Pointer::Of::rows;
    } else if (kind < 97) {
      made.type = "point";
      made.of = Pointer::Of::structures;
    } else {
      made = {.name = name, .type = "uint", .declaration = "uints " + name};
      return made;
    }
    made.declaration = made.type == "(*)"     ? space + "uint (*" + name + ")[4]"
                       : made.type == "[][4]" ? space + "uint " + name + "[][4]"
                       : chance(5)            ? space + made.type + " " + name + "[]"
                                   : space + made.type + "*" + one_of({" ", " restrict ", " const "}) + name;
    return made;
  }

  std::string id() {
    return chance(15) || variables_.empty() ? one_of({"get_global_id(0)", "HERE", "get_global_id((0))"})
                                            : variables_[below(variables_.size())];
  }
  std::string constant() { return one_of({"1", "2u", "(1 + 1)", "0x3", "K", "(2 * 2 - 1)", "5l"}); }

  std::string new_id() {
    const std::string type = one_of({"uint", "const uint", "int", "size_t", "const size_t", "ulong", "word",
                                     "unsigned", "const long", "ptrdiff_t"});
    const std::string value = one_of({"get_global_id(0)", "get_global_id(0)", "HERE", "(int)get_global_id(0)",
                                      "get_global_id(0) + 1", odd() ? subscript() : id()});
    const std::string name = odd() && !variables_.empty() ? "" : fresh("i");
    if (name.empty()) { // hides another variable
      const std::string& hidden = variables_[below(variables_.size())];
      return fmt::format("  {{ uint {} = 1002; {} }}\n", hidden, plain_use());
    }
    const bool changes = type.find("const") == std::string::npos && !odd();
    variables_.push_back(name);
    changing_.resize(variables_.size());
    changing_.back() = !changes && type.find("const") == std::string::npos;
    return fmt::format("  {} {} = {};\n", type, name, value);
  }

  std::string subscript() {
    const std::string v = id();
    if (!odd()) {
      return form(
          "$v | $v | $v | $v + $c | $v - $c | $c + $v | ($v) | (uint)$v | (int)($v) - $c | $v + 1 - $c | (size_t)$v",
          {{'v', v}, {'c', constant()}});
    }
    return form(
        "n | $v * 1 | $v ^ 1 | $v|1 | ($v & 3) + 1000 | $v % 7 + 1000 | n + ($v & 7) | $w++ | ($w)++ | ++$w | $w-- | "
        "NEXT($w) | ($w += 1) | shifted($v) | (n, $v) | ($v, n) | $v == 1003 ? 1002 : $v | "
        "min((uint)$v, 1004u) | sizeof($v) + $v | -$v + 2010 | ~$v + 2010 | (uchar)$v + 900 | "
        "get_group_id(0) * 8 + get_local_id(0) | get_local_id(0) + 1000 | as_uint((uint)$v) | ONE + $v | "
        "$v + TWO | !$v + $v | *&$w | (*(&($w)))-- | ($w = 1005) | get_global_id(1) + 1001 | "
        "get_global_id(n & 1) + 1001 | $v + acc % 2 | ((uint2)($v, 1002)).y | (ushort)$v | $v << 0 | "
        "$v + (n > 1001) | $v + 'a' - 'a' | (int)1001 | 1002 | (uint)(1003.0f)",
        {{'v', v}, {'w', lvalue_id()}});
  }

  std::string lvalue_id() {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (changing_[i]) {
        found.push_back(variables_[i]);
      }
    }
    return found.empty() ? "z" : one_of(found);
  }

  // An assignable scalar in memory.
  std::string element(const Pointer& p) {
    const std::string i = subscript();
    const std::string k = one_of({"0", "1", "3", "n & 3"});
    std::string at =
        form("$p[$i] | $p[$i] | ($p)[$i] | AT($p, $i) | (($p)[($i)])", {{'p', p.name}, {'i', i}});
    if (odd()) {
      at = form("*($p + ($i)) | (*(&$p[$i])) | ($i)[$p] | (&($p[$i]))[1] | ($p + 1)[$i] | "
                "(n & 1 ? $p : $p + 2)[$i] | (0, $p)[$i] | (*&$p)[$i]",
                {{'p', p.name}, {'i', i}});
      at = at.starts_with("*") ? "(" + at + ")" : at;
    }
    switch (p.of) {
    case Pointer::Of::rows: return at + "[" + k + "]";
    case Pointer::Of::vectors: return at + one_of({".x", ".y", ".s1"});
    case Pointer::Of::structures: return at + (chance(50) ? ".x" : ".v[" + one_of({"0", "n % 3"}) + "]");
    default: return at;
    }
  }

  const Pointer& any() { return pointers_[below(pointers_.size())]; }
  const Pointer* writable() {
    std::vector<const Pointer*> found;
    for (const Pointer& pointer : pointers_) {
      if (!pointer.is_const) {
        found.push_back(&pointer);
      }
    }
    return found.empty() ? nullptr : found[below(found.size())];
  }

  std::string value() {
    const std::string e = element(any());
    switch (below(9)) {
    case 0: return "acc";
    case 1: return "n + 1";
    case 2: return "(uint)" + e + " * 2";
    case 3: return "min((uint)" + e + ", 3u)";
    case 4: return "(acc & 1 ? (uint)(" + e + ") : (uint)" + element(any()) + ")";
    case 5: return "(uint)(acc, " + e + ")";
    case 6: return "(uint)sizeof(" + e + ")";
    case 7: return "(uint)(float)" + e + " + " + "(uint)" + element(any());
    default: return "(uint)" + e;
    }
  }

  std::string plain_use() {
    const Pointer* const p = writable();
    return p == nullptr || chance(30) ? "acc += " + value() + ";" : assignment(*p);
  }

  std::string assignment(const Pointer& p) {
    if (p.of == Pointer::Of::vectors && chance(50)) {
      const std::string at = chance(80) ? "[" + subscript() + "]" : "[(" + subscript() + ")]";
      return p.name + at + " = (" + p.type + ")(" + (p.type == "four" ? "acc" : "1") + ");";
    }
    return element(p) + one_of({" = ", " = ", " = ", " += ", " *= "}) + value() + ";";
  }

  std::string block(std::size_t depth) {
    const std::size_t known = variables_.size();
    std::string text = "{\n";
    for (std::size_t i = below(2) + 1; i > 0; --i) {
      text += chance(10) ? new_id() : statement(depth + 1);
    }
    variables_.resize(known); // drops the variables of the block
    changing_.resize(known);
    return text + "  }";
  }

  std::string statement(std::size_t depth) {
    const Pointer* const p = writable();
    const std::string k = fresh("k");
    if (odd()) {
      return "  " + odd_statement(k) + "\n";
    }
    switch (below(depth < 2 ? 16 : 6)) {
    case 0: return "  acc += " + value() + ";\n";
    case 1: return p == nullptr ? "" : "  " + element(*p) + one_of({"++", "--"}) + ";\n";
    case 2: return p == nullptr ? "" : fmt::format("  SET({}, {});\n", element(*p), value());
    case 6: return fmt::format("  if (acc < {}) {}\n", value(), block(depth));
    case 7:
      return chance(50)
                 ? fmt::format("  if (n > 1001) {} else {}\n", plain_use(), block(depth))
                 : fmt::format("  if ({} {} {}) {}{}\n", id(), one_of({"<", "<=", ">", ">=", "==", "!="}),
                               1000 + below(18), depth == 0 && chance(20) ? "return;" : block(depth),
                               chance(30) ? " else " + plain_use() : "");
    case 8: return fmt::format("  for (uint {0} = 0; {0} < 2; ++{0}) {1}\n", k, block(depth));
    case 9: return fmt::format("  for (uint {0} = 0; {0} < 1; ++{0}) {1}\n", k, plain_use());
    case 10:
      return fmt::format("  switch (n & 1) {{ case 0: {} break; default: {} }}\n", plain_use(), block(depth));
    case 11:
      return p == nullptr
                 ? ""
                 : fmt::format("  for (uint {0} = n % 1000; {0} < 2; {1} = {0}) ++{0};\n", k, element(*p));
    case 12:
      return p == nullptr ? ""
                          : fmt::format("  {} ({} = {});\n", one_of({"n > 1001 &&", "(void)", "acc <= 7 ||"}),
                                        element(*p), value());
    case 13: return depth == 0 ? new_id() : "";
    case 14:
      return fmt::format("  {{ uint {0}[2] = {{{1}, [1] = {2}}}; acc += {0}[n & 1]; }}\n", k, value(),
                         value());
    case 15:
      return fmt::format(
          "\n#pragma unroll\n  for (uint {0} = 0; {0} < 2; ++{0}) {{ if ({0} + 1000 == n) continue; {1} }}\n",
          k, plain_use());
    default: return "  " + plain_use() + "\n";
    }
  }

  std::string odd_statement(const std::string& k) {
    const std::string v = lvalue_id();
    const Pointer& a = any();
    const std::string space = a.is_const ? "global const" : "global";
    const bool scalar = a.of == Pointer::Of::scalars;
    const bool uints = a.type == "uint" && a.declaration.find("volatile") == std::string::npos;
    const std::string use =
        a.is_const ? fmt::format("acc += (uint){}[{}];", k, "1") : fmt::format("{}[1] = 2;", k);
    if (uints && chance(40)) {
      return on_uints(a.name, a.is_const, k);
    }
    switch (below(16)) {
    case 0:
      return form(
          "($v)++; | bump(&$v); | bump(REF($v)); | { private uint* $k = REF($v); (*$k)++; } | NEXT($v); | "
          "*(&($v)) += 1; | $v ^= 1; | $v = n + 3; | if (n > 1001) $v = 1003; | for (; acc < 2; ($v)++) acc += 2; | "
          "SET($v, 1004); | acc && $v--; | { acc = ($v -= 1); } | do ($v)--; while (0);",
          {{'v', v}, {'k', k}});
    case 1:
      return fmt::format("{{ uint {0} = {1}; uint* {0}p = &({0}); *{0}p = 1002; acc += (uint){2}[{0}]{3}; }}",
                         k, id(), a.name,
                         scalar                      ? ""
                         : a.of == Pointer::Of::rows ? "[0]"
                                                     : ".x");
    case 2:
      return scalar
                 ? fmt::format("{{ {} {}* {} = &({}[{}]); {} }}", space, a.type, k, a.name, subscript(), use)
                 : ";";
    case 3:
      return scalar
                 ? fmt::format("{{ {} {}* {} = {} + ({}); {} }}", space, a.type, k, a.name, subscript(), use)
                 : ";";
    case 4:
      return scalar ? fmt::format("{{ struct {{ {} {}* p; }} {} = {{{} + 1000}}; acc += (uint){}.p[1]; }}",
                                  space, a.type, k, a.name, k)
                    : ";";
    case 5: return fmt::format("acc += (uint)(({} ulong*){})[{}];", space, a.name, subscript());
    case 6: return fmt::format("acc += (({} uchar*){})[{}];", space, a.name, subscript());
    case 7: return uints ? fmt::format("acc += get({}, {});", a.name, subscript()) : "return;";
    case 8:
      return uints && !a.is_const ? fmt::format("put({}, {}, 3);", a.name, subscript())
                                  : "if (n > 1001) return;";
    case 9: return uints && !a.is_const ? fmt::format("atomic_add(&{}[{}], 3);", a.name, subscript()) : ";";
    case 10: return uints ? fmt::format("acc += vload2({}, {}).y;", subscript(), a.name) : ";";
    case 11:
      return uints && !a.is_const ? fmt::format("vstore2((uint2)(1), {}, {});", subscript(), a.name) : ";";
    case 12: return fmt::format("if (n > 1001) goto {0}; acc += 1; {0}: ;", k);
    case 13: // hides an id
      return fmt::format("for (uint {0} = 1001, {1} = 0; {1} < 2; ++{0}, ++{1}) {{ acc += (uint){2}; }}",
                         variables_.empty() ? "z" : variables_[below(variables_.size())], k, element(any()));
    case 14:
      return fmt::format(
          "switch (n & 1) {{ uint {0} = get_global_id(0); case 0: {0} = 1001; {1} default: break; }}", k,
          plain_use());
    default:
      return scalar ? fmt::format("{{ uint {0} = 1000; while ({0} < 1002) acc += (uint){1}[{0}++]; }}", k,
                                  a.name)
                    : ";";
    }
  }

  // Hides a pointer, an index that is data, or that the pointer was constant.
  std::string on_uints(const std::string& p, bool is_const, const std::string& k) {
    const std::string data = "(uint)" + element(any()) + " % 8";
    std::string forms =
        "{ uint2 $k; ($k).x = $d; acc += $p[$k.x + 1000]; } | "
        "{ word_of $k; $k.f = 0; $k.u = $d; acc += $p[$k.both.x + 1000]; } | "
        "acc += $p[(uint)*(global enum cell*)$p % 8 + 1000]; | acc += $p[((pair){$i, n}).x]; | "
        "{ pair $k = { $i, 1001 }; acc += $p[$k.x] + $p[$k.y]; $k.x++; acc += $p[$k.x]; } | "
        "acc += nested($p, $i); | acc += inner(&$p[1], $i); | acc += $p[clamped((int)$i, 1001, 1005)]; | "
        "{ global $cuint* $k = $p; global $cuint* $kl = $k + 1; acc += $kl[$i]; } | "
        "{ global $cuint* $k = $p; $k += 2; acc += $k[$i]; } | "
        "{ global $cuint* $k[2] = { $p, $p + 1 }; acc += $k[n & 1][$i]; } | "
        "acc += *REF($p[$i]) + (*REF($p))[1001]; | acc += ((n, $p))[$i]; | *(global uint*)REF($p[$i]) = 1; | "
        "*((global uint*)&($p[$i])) = 1; | PTR(uint, n & 1 ? $p : $p)[$i] = 2; | ((uints)$p)[$i] = 3; | "
        "*(__typeof__((global uint*)0))($p + 1003) = 3; | "
        "{ global uint* $k = (global uint*)($p + 1001); $k[1] += 2; } | "
        "{ ulong $k = (ulong)&($p[$i]); *(global uint*)$k = 2; } | put((global uint*)$p, $i, 3); | "
        "vstore2((uint2)(1), 500, (global uint*)$p); | ((global word_of*)$p)[501].u = 4; | "
        "*(global enum cell*)&$p[$i] = FULL;";
    if (!is_const) {
      forms += " | put_near($p, $i); | add($p, $i); | add($p + 1, $i); | moved($p, $i)[1] = 2; | "
               "atomic_add($p + ($i), 3); | acc += atomic_add(&$p[$i], 3);";
    }
    return form(forms,
                {{'p', p}, {'i', subscript()}, {'k', k}, {'d', data}, {'c', is_const ? "const " : ""}});
  }

  std::uint32_t odd_ = 0;
  std::size_t names_ = 0;
  std::vector<std::string> variables_; // that hold or held an id
  std::vector<bool> changing_;         // by variable: a statement may change it
  std::vector<Pointer> pointers_;
};

// Compiles the text and returns the file to load.
std::string compiled(const TemporaryFolder& folder, const std::string& text, const std::string& name) {
  const std::string source = folder.write(name + ".cl", text);
  const std::string object = folder.file(name + ".o");
  const std::string library = folder.file(name + ".so");
  const std::string command = fmt::format(
      "{} -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Xclang -fdeclare-opencl-builtins -w -O0 "
      "-fPIC "
      "-fsanitize=thread -mllvm -tsan-instrument-read-before-write -c {} -o {} && {} -shared {} -o {}",
      TIDEGATE_CLANG, source, object, TIDEGATE_CLANG, object, library);
  REQUIRE(std::system(command.c_str()) == 0); // NOLINT(cert-env33-c)
  return library;
}

// What is claimed of the kernel's pointers, and what its work-items have done.
struct Claims {
  const Function& kernel;
  std::vector<Footprint> footprints;
  std::array<Interval, pointers> touched{Interval{1, 0}, Interval{1, 0},
                                         Interval{1, 0}}; // bytes, by all work-items

  // Returns the first access of a work-item that no claim covers, or an empty string.
  std::string violation() {
    std::array<bool, pointers> before{};
    for (const Access& access : accesses) {
      const std::size_t p = access.pointer;
      const Footprint& claimed = footprints[p];
      const std::string text =
          fmt::format("work-item {} {} {} bytes at {} of pointer {}", id, access.writes ? "writes" : "reads",
                      access.bytes, access.offset, p);
      const auto begin = static_cast<std::int64_t>(access.offset);
      const Interval bytes{begin, begin + static_cast<std::int64_t>(access.bytes) - 1};
      touched.at(p) = touched.at(p).low > touched.at(p).high ? bytes : hull(touched.at(p), bytes);
      if (kernel.parameters[p].is_const && access.writes) {
        return text + ", which was claimed to be constant";
      }
      if (claimed.reduction && !access.atomic) {
        return text + ", which was claimed to be reduced";
      }
      const std::int64_t element = claimed.element_bytes;
      const auto here = static_cast<std::int64_t>(id);
      const auto within = [&](std::int64_t low, std::int64_t high) {
        return bytes.low >= low * element && bytes.high < (high + 1) * element;
      };
      if (claimed.elements && !within(claimed.elements->low, claimed.elements->high)) {
        return fmt::format("{}, claimed are elements of {} bytes from {} to {}", text, element,
                           claimed.elements->low, claimed.elements->high);
      }
      if (claimed.by_id) {
        const std::int64_t per_id = claimed.by_id->per_id[0];
        const auto [low, high] = claimed.by_id->offset[0];
        if (!within((here + low) * per_id, (here + high + 1) * per_id - 1)) {
          return fmt::format("{}, claimed are {} elements for each id from {} to {}", text, per_id, low,
                             high);
        }
      }
      if (claimed.rows && !within(here * claimed.rows->per_id + claimed.rows->low,
                                  here * claimed.rows->per_id + claimed.rows->high)) {
        return text + ", which is not in its rows";
      }
      if (claimed.assigned_first && !before.at(p) && !access.writes) {
        return text + ", which was claimed to be assigned first";
      }
      before.at(p) = true;
    }
    for (std::size_t p = 0; p < pointers; ++p) {
      if (footprints[p].assigned_first && !before.at(p)) {
        return fmt::format("work-item {} never touches pointer {}, which was claimed to be assigned", id, p);
      }
    }
    return {};
  }

  // After all work-items: the same of what some of them must have done.
  [[nodiscard]] std::string missing() const {
    for (std::size_t p = 0; p < pointers; ++p) {
      const std::int64_t element = footprints[p].element_bytes;
      const auto& certain = footprints[p].certain;
      const bool seen =
          !kernel.parameters[p].type.ends_with('3'); // the sanitizer reports no loads of 12 bytes
      if (certain && seen &&
          (touched.at(p).low >= (certain->low + 1) * element ||
           touched.at(p).high < certain->high * element || touched.at(p).low > touched.at(p).high)) {
        return fmt::format("pointer {}: elements {} to {} were claimed, touched are bytes {} to {}", p,
                           certain->low, certain->high, touched.at(p).low, touched.at(p).high);
      }
    }
    return {};
  }
};

} // namespace

namespace {

// Generates a kernel whose subscripts are sums, products, conditions and loops over the ids, for reach_of(). A subscript of pointer
// p is written «p|e»: the analysis reads p[e], and the compiled program calls at_p(e), which records e and returns any number.
class ReachGenerator : Chance {
public:
  using Chance::Chance;

  std::string kernel(const std::string& name) {
    names_ = 0;
    variables_ = {"n"};
    std::string text = "kernel void " + name + "(«P», const int n) {\n  int acc = 0, c«Z»; int t[12];\n";
    for (std::size_t i = below(3) + 1; i > 0; --i) {
      text += declaration();
    }
    for (std::size_t i = below(4) + 1; i > 0; --i) {
      text += statement(0);
    }
    return text + "}\n";
  }

private:
  std::string atom() {
    return chance(60) ? one_of(variables_)
                      : one_of({"0", "1", "2", "3u", "5", "11", "get_global_id(0)", "get_global_id(1)",
                                "get_local_id(0)", "get_group_id(0)", "get_local_size(0)",
                                "get_num_groups(0)", "get_global_size(0)", "-1", "acc", "c"});
  }
  std::string index(int depth = 0) {
    const auto inner = [&] { return depth > 1 || chance(50) ? atom() : "(" + index(depth + 1) + ")"; };
    const std::string a = inner();
    const std::string b = inner();
    switch (below(16)) {
    case 0: return a + " - " + b;
    case 1: return a + " * " + one_of({"2", "3", "n", b});
    case 2: return a + " / " + one_of({"2", "3u", "n"});
    case 3: return a + " % " + one_of({"4", "7u", "n"});
    case 4: return a + one_of({" << 1", " >> 1", " >> 2"});
    case 5: return a + one_of({" & 3", " & 7u", " | 1", " ^ 1", " & " + b, " | " + b, " ^ " + b});
    case 6: return fmt::format("{}((int)({}), (int)({}))", one_of({"min", "max"}), a, b);
    case 7: return fmt::format("clamp((int)({}), 0, {})", a, one_of({"3", "n - 1", "(int)(" + b + ")"}));
    case 8: return fmt::format("({} ? {} : {})", condition(), a, b);
    case 9:
      return fmt::format("({})({})", one_of({"int", "uint", "uchar", "char", "ushort", "size_t", "long"}), a);
    case 10: return chance(80) ? fmt::format("row({}, {})", a, b) : "cell(" + a + ")";
    case 11: return fmt::format("wrap({}, {})", a, one_of({"n", "4"}));
    case 12: return one_of({"«a|", "«b|", "«u|"}) + a + "»";
    case 13: return "get_group_id(0) * get_local_size(0) + get_local_id(0)";
    case 14: return a;
    default: return a + " + " + b;
    }
  }
  std::string condition() {
    const std::string one = "(" + atom() + one_of({" < ", " <= ", " > ", " >= ", " == ", " != "}) +
                            (chance(70) ? atom() : "(" + index(1) + ")") + ")";
    return chance(40)   ? one
           : chance(10) ? "(!" + one + ")"
                        : fmt::format("({} {} {})", one, one_of({"&&", "&&", "||"}), condition());
  }
  std::string declaration() {
    const std::string text = fmt::format(
        "  {} v{} = {};\n", one_of({"int", "int", "uint", "size_t", "uchar", "long", "short", "unsigned"}),
        names_, index());
    variables_.push_back(fmt::format("v{}", names_++));
    return text;
  }
  std::string access() {
    const std::string at = chance(50) ? atom() : index();
    if (chance(30)) {
      return fmt::format(
          "  {{ int x = (int)get_global_id(0) + {}, y = get_global_id(1); if (x >= 0 && x < 24) acc += "
          "«{}|flat(x, y - {})»; }}\n",
          one_of({"1", "-1", "2"}), one_of({"b", "b", "u"}), one_of({"0", "1", "n"}));
    }
    return one_of({"  acc += «a|" + at + "»;\n", "  acc += «b|" + at + "»;\n", "  acc += «u|" + at + "»;\n",
                   "  acc += second(«A», " + at + ");\n", "  «t|" + at + "»;\n"});
  }
  std::string block(int depth, bool in_loop = false) {
    const std::size_t known = variables_.size();
    std::string text = chance(20) ? declaration() : "";
    for (std::size_t i = below(2) + 1; i > 0; --i) {
      text += in_loop && chance(20) ? "  if " + condition() + one_of({" break;\n", " continue;\n"}) : "";
      text += statement(depth + 1);
    }
    variables_.resize(known);
    return "{\n" + text + "  }\n";
  }
  std::string loop(int depth) {
    const bool outside = chance(30);
    const std::string k = outside ? "c" : fmt::format("k{}", names_++);
    const std::string first = outside ? "" : one_of({"int ", "uint ", "size_t "});
    const std::string head =
        chance(60) ? fmt::format("{}{} = {}; «F»{} {} {}{}; {}", first, k, one_of({"0", "1", atom()}), k,
                                 one_of({"<", "<="}), atom(), chance(20) ? " && " + condition() : "",
                                 one_of({k + "++", "++" + k, k + " += 2", k + " += " + atom(), k + " *= 2",
                                         k + " <<= 1"}))
                   : fmt::format("{}{} = {}; «F»{} {} {}; {}", first, k, atom(), k, one_of({">", ">="}),
                                 one_of({"0", "1", atom()}),
                                 one_of({k + "--", "--" + k, k + " -= 2", k + " /= 2", k + " >>= 1"}));
    variables_.push_back(k);
    std::string text = "  for (" + head + ") " + block(depth, true);
    variables_.pop_back();
    return text;
  }
  std::string statement(int depth) {
    switch (depth > 2 ? 9 : below(12)) {
    case 0:
    case 1: return "  if " + condition() + " " + block(depth);
    case 2: return "  if " + condition() + " " + block(depth) + "  else " + block(depth);
    case 3: return "  if " + condition() + " return;\n";
    case 4:
    case 5: return loop(depth);
    case 6: return depth == 0 ? declaration() : "";
    case 7: {
      const std::string& v = variables_.back();
      return chance(60) || v == "n" ? "" : "  " + v + one_of({"++", " += 2", " = " + atom(), "--"}) + ";\n";
    }
    case 8: return depth == 0 ? "" : "  if " + condition() + one_of({" return;\n", " { acc++; return; }\n"});
    default: return access();
    }
  }

  std::size_t names_ = 0;
  std::vector<std::string> variables_;
};

// Replaces marks: for the analysis, or for the compiler.
std::string marked(std::string text, bool compiled) {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace("«P»", compiled ? "int a, int b, int u" : "global int* a, global uint* b, global const uchar* u");
  replace("«Q»", compiled ? "int a" : "global int* a");
  replace("«A»", compiled ? "0" : "a");
  replace("«Z»", compiled ? " = 0" : "");
  replace("«F»", compiled ? "fuel() && " : "");
  for (const std::string name : {"a", "b", "u", "t"}) {
    replace("«" + name + "|", compiled ? "at_" + name + "(" : name + "[");
  }
  replace("»", compiled ? ")" : "]");
  return text;
}

// True if the claims allow the element to the work-item.
bool covers(const Footprint& claim, std::int64_t element, const std::array<std::int64_t, 2>& at) {
  bool covered = !claim.elements || (element >= claim.elements->low && element <= claim.elements->high);
  if (claim.rows) {
    const std::int64_t relative = element - at[1] * claim.rows->per_id;
    const std::int64_t around = claim.rows->wraps * claim.rows->per_id; // of a torus
    const auto within = [&](std::int64_t e) { return e >= claim.rows->low && e <= claim.rows->high; };
    covered = covered &&
              (within(relative) || (around != 0 && (within(relative + around) || within(relative - around))));
  }
  if (claim.by_id) {
    const auto& [per_id, offset] = *claim.by_id;
    for (const std::size_t d :
         per_id[0] > per_id[1] ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{1, 0}) {
      if (per_id.at(d) != 0) {
        const std::int64_t id = element / per_id.at(d) - (element % per_id.at(d) < 0 ? 1 : 0);
        element -= id * per_id.at(d);
        covered = covered && id >= at.at(d) + offset.at(d).low && id <= at.at(d) + offset.at(d).high;
      }
    }
  }
  return covered;
}

} // namespace

TEST_CASE("generated kernels of two dimensions stay within what was claimed") {
  const std::uint64_t start = opencl_c::test::seed();
  const char* const wanted = std::getenv("TIDEGATE_CLAIMS");
  const std::size_t count = wanted == nullptr ? 1000 : std::strtoul(wanted, nullptr, 10);
  const std::string functions =
      "int row(int x, int y) { return y * 3 + x; }\n"
      "int cell(float x) { return (int)x; }\n"
      "int flat(int x, int y) { return y * 24 + x; }\n"
      "int wrap(int x, int m) { return (x + m) % m; }\n"
      "int second(«Q», int i) { int k = i + 1; if (k > 40) return 1; return «a|k»; }\n";
  const std::string header = R"(
#define kernel
typedef unsigned uint; typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned long size_t;
struct { int seen[4][1024]; uint count[4]; size_t id[2]; uint random; int fuel; } tg;
static int fuel(void) { return tg.fuel-- > 0; }
static uint next(void) { tg.random = tg.random * 1664525u + 1013904223u; return tg.random >> 9; }
static int number(void) { uint r = next(); return r % 8 == 0 ? (int)(r * 4099u) : (int)(r % 29) - 3; }
static void note(int p, long i) { if (tg.count[p] < 1024) tg.seen[p][tg.count[p]++] = (int)i; }
static int at_a(long i) { note(0, i); return number(); }
static uint at_b(long i) { note(1, i); return (uint)number(); }
static uchar at_u(long i) { note(2, i); return (uchar)number(); }
static void at_t(long i) { note(3, i); }
static int min(int x, int y) { return x < y ? x : y; }
static int max(int x, int y) { return x > y ? x : y; }
static int clamp(int x, int l, int h) { return min(max(x, l), h); }
static size_t get_global_id(uint d) { return tg.id[d]; }
static size_t get_local_id(uint d) { return d == 0 ? tg.id[0] % 8 : 0; }
static size_t get_group_id(uint d) { return d == 0 ? tg.id[0] / 8 : tg.id[1]; }
static size_t get_local_size(uint d) { return d == 0 ? 8 : 1; }
static size_t get_num_groups(uint d) { return 3; }
static size_t get_global_size(uint d) { return d == 0 ? 24 : 3; }
)";
  struct Recorded {
    std::array<std::array<int, 1024>, 4> seen;
    std::array<unsigned, 4> count;
    std::array<std::size_t, 2> at;
    unsigned random;
    int fuel;
  };
  const TemporaryFolder folder;
  std::vector<std::string> sources;
  std::string text = functions;
  for (std::size_t i = 0; i < count; ++i) {
    sources.push_back(ReachGenerator(start + i).kernel(fmt::format("k{}", i)));
    text += sources.back();
  }
  const std::string source = folder.write("reach.c", header + marked(text, true));
  const std::string path = folder.file("reach.so");
  const std::string command =
      fmt::format("{} -w -O0 -fwrapv -fPIC -shared {} -o {}", TIDEGATE_CLANG, source, path);
  REQUIRE(std::system(command.c_str()) == 0); // NOLINT(cert-env33-c)
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* const recorded = static_cast<Recorded*>(::dlsym(library, "tg"));
  REQUIRE(recorded != nullptr);
  std::size_t known = 0, in_ids = 0, certain = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const TranslationUnit unit = opencl_c::test::parse(marked(functions + sources[i], false));
    const Function& kernel = *unit.definition(fmt::format("k{}", i));
    using Compiled = void (*)(int, int, int, int);
    const auto call = reinterpret_cast<Compiled>(::dlsym(library, kernel.name.c_str())); // NOLINT
    REQUIRE((call != nullptr));
    for (const int n : {24, 5}) {
      const auto claimed =
          footprints(
              unit, kernel,
              {.dimensions = 2, .size = {24, 3, 1}, .local = {8, 1, 1}, .values = {{3, n}}, .members = {}})
              .parameters;
      std::array<Interval, 3> all{Interval{1, 0}, Interval{1, 0}, Interval{1, 0}};
      std::string found;
      recorded->random = static_cast<unsigned>(i);
      for (std::int64_t item = 0; item < 72 * 4 && found.empty(); ++item) {
        const std::array<std::int64_t, 2> at{item % 24, item / 24 % 3};
        recorded->at = {static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1])};
        recorded->fuel = 40;
        recorded->count = {};
        call(0, 1, 2, n);
        for (std::size_t p = 0; p < 3; ++p) {
          for (std::size_t k = 0; k < recorded->count[p]; ++k) {
            const std::int64_t element = recorded->seen[p][k];
            all[p] = all[p].low > all[p].high ? Interval{element, element} : hull(all[p], {element, element});
            found = found.empty() && !covers(claimed[p], element, at)
                        ? fmt::format("n {}: pointer {}: id {}, {} touches {}", n, p, at[0], at[1], element)
                        : found;
          }
        }
      }
      for (std::size_t p = 0; p < 3; ++p) {
        const Footprint& claim = claimed[p];
        known += claim.elements && claim.elements->low <= claim.elements->high ? 1 : 0;
        in_ids += claim.by_id && claim.by_id->per_id[0] != 0 ? 1 : 0;
        certain += claim.certain ? 1 : 0;
        if (found.empty() && claim.certain &&
            (all[p].low > claim.certain->low || all[p].high < claim.certain->high ||
             all[p].low > all[p].high)) {
          found = fmt::format("n {}: pointer {}: {} to {} are not touched", n, p, claim.certain->low,
                              claim.certain->high);
        }
      }
      if (!found.empty()) {
        FAIL_CHECK(marked(sources[i], false) << found);
      }
    }
  }
  ::dlclose(library);
  MESSAGE(count << " kernels, twice: " << known << " pointers with known elements, " << in_ids << " by ids, "
                << certain << " with elements that are touched for sure");
  CHECK(known > count / 4);
  CHECK(in_ids > count / 50);
  CHECK(certain > count / 20);
}

TEST_CASE("generated kernels touch nothing that was not claimed") {
  const std::uint64_t start = opencl_c::test::seed();
  const char* const wanted = std::getenv("TIDEGATE_CLAIMS");
  const std::size_t count = wanted == nullptr ? 1500 : std::strtoul(wanted, nullptr, 10);
  constexpr std::size_t batch = 500;
  const TemporaryFolder folder;
  std::size_t kernels = 0, claimed = 0, understood = 0, first = 0, constant = 0, reduced = 0;
  for (std::size_t done = 0; done < count; done += batch) {
    std::string text = common;
    std::vector<std::string> sources;
    for (std::size_t i = done; i < std::min(done + batch, count); ++i) {
      sources.push_back(Generator(start + i).kernel(fmt::format("k{}", i)));
      text += sources.back();
    }
    const TranslationUnit unit = opencl_c::test::parse(text);
    const std::string path = compiled(folder, text, fmt::format("batch{}", done));
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO(::dlerror());
    REQUIRE(library != nullptr);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Function& kernel = *unit.definition(fmt::format("k{}", done + i));
      Claims claims{.kernel = kernel,
                    .footprints = footprints(unit, kernel,
                                             {.begin = {first_id, 0, 0},
                                              .size = {ids, 1, 1},
                                              .local = {local_size, 1, 1},
                                              .values = {},
                                              .members = {}})
                                      .parameters};
      ++kernels;
      for (std::size_t p = 0; p < pointers; ++p) {
        const Footprint& claim = claims.footprints[p];
        understood += claim.elements ? 1 : 0;
        claimed += claim.by_id && claim.elements->low <= claim.elements->high ? 1 : 0;
        first += claim.assigned_first ? 1 : 0;
        constant += kernel.parameters[p].is_const ? 1 : 0;
        reduced += claim.reduction ? 1 : 0;
      }
      using Compiled = void (*)(void*, void*, void*, unsigned);
      const auto call = reinterpret_cast<Compiled>(::dlsym(library, kernel.name.c_str())); // NOLINT
      REQUIRE((call != nullptr));
      for (std::size_t item = 0; item < 2 * ids; ++item) { // twice, with different arguments
        id = first_id + item % ids;
        accesses.clear();
        call(memory[0].data(), memory[1].data(), memory[2].data(), item < ids ? 1000 : 1003);
        std::string found = claims.violation();
        found = found.empty() && item % ids == ids - 1 ? claims.missing() : found;
        if (!found.empty()) {
          FAIL_CHECK(sources[i] << found);
          break;
        }
        if (item == ids - 1) {
          claims.touched.fill({1, 0});
        }
      }
    }
    ::dlclose(library);
  }
  MESSAGE(kernels << " kernels: of " << pointers * kernels << " pointers " << understood << " known, "
                  << claimed << " by ids, " << first << " assigned first, " << constant << " constant, "
                  << reduced << " reduced");
  CHECK(claimed > kernels / 2); // of three pointers per kernel
  CHECK(first > kernels / 20);
}
