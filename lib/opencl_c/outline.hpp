// Turns kernels into functions of one virtual work-group, which a persistent kernel can call.
//
//   kernel void blur(global const float* in, global float* out) {       the user's source
//     local float tile[66];
//     tile[get_local_id(0) + 1] = in[get_global_id(0)];
//
//   typedef struct { float tile[66]; } tg_locals_blur;                  called once per tile
//   static void blur(tg_item tg_self, global const float* in, global float* out,
//                    local tg_locals_blur* tg_locals) {
//     tg_locals->tile[tg_get_local_id(tg_self, 0) + 1] = in[tg_get_global_id(tg_self, 0)];
//
// A tg_item (kernels/common/virtual_ndrange.cl) is the position of a work-item in the NDRange of the wave. It is
// passed to every helper function that needs it, directly or through callees, and to every barrier: several
// virtual work-groups may share a real one. Only tokens are edited; the rest reaches the compiler unchanged,
// with #line directives that name the user's file and line.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

struct OutlinedKernel {
  std::string function; // its name; the first argument is a tg_item
  std::string locals;   // type that the last argument points to: its local variables; empty without
  bool rounds = false;  // floating-point division or functions: constant folding may round differently
  std::set<std::string> sub_group_functions; // called directly or indirectly
  bool needs_whole_group = false;            // work-items meet at a barrier or another collective function
  std::uint32_t loop_depth = 0;              // nested loops
  double accesses = 0;                       // memory accesses per work-item, as Facts counts them
  std::uint64_t local_bytes = 0;             // bytes of its local variables, if `packs`
  bool waits = false; // TG_PASS is in its body: there it may wait for other work-groups
  bool packs = true;  // several of its work-groups fit into a larger one: barrier() is their only meeting
};

// Parameters, by kernel, that point to memory that stays as it is while the kernel may run.
using SteadyParameters = std::map<std::string, std::set<std::size_t>>;

struct OutlinedUnit {
  std::string text;                              // the file's declarations, with the kernels as functions
  std::map<std::string, OutlinedKernel> kernels; // by function
  std::map<std::string, Error> fallbacks; // kernels that must be compiled in a separate program, and why
};

struct OutlineRequest {
  std::set<std::string> kernels; // with what they call
  // Names of file scope: sources compiled together may use one for two things.
  std::map<std::string, std::string> renamed;
  // Kernels whose pointers never alias: they are marked TG_RESTRICT, which the caller's program defines, unless others may
  // write what is read through them.
  std::set<std::string> distinct;
  // Kernels that get a TG_PASS after the statements that use no pointers but these, if their work-items meet at barriers.
  SteadyParameters steady;
};

// Outlines the kernels. Effects of pragmas end with the text. Error: unsupported_kernel at the place of anything that no
// program of tidegate may use.
Result<OutlinedUnit> outline(const TranslationUnit& unit, const OutlineRequest& request);

// Returns the first token of the body that may read memory that changes; the closing brace if none does. Statements
// before it use only the pointers among the parameters `steady`; no work-item returns or waits at a barrier there.
//
//   const uint i = get_local_id(0);
//   const uint4 weight = weights[i];           steady: weights
//   out[i] = f(weight, in[i]);                 the result is this statement
std::size_t end_of_early_statements(const TranslationUnit& unit, const Function& kernel,
                                    const std::set<std::size_t>& steady);

// A #line directive, with its end of line.
std::string line_directive(std::uint32_t line, std::string_view path);

// Lets a kernel run where only a part of its buffer is in memory: the pointer to that part, which starts at byte
// tg_begin of the buffer, is moved back to where byte 0 would be.
//
//   kernel void k(global float* a) { a[get_global_id(0)] = 0; }
//   kernel void k(global float* a, ulong tg_begin0) {
//     a = (global void*)((uintptr_t)a - (uintptr_t)tg_begin0); a[get_global_id(0)] = 0; }

// Returns why this pointer cannot be moved (the kernel compares, stores or passes it on); empty if the kernel only
// accesses elements.
std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter);

using MovedPointers = std::map<std::string, std::set<std::size_t>>; // parameters by kernel

// Returns the source with one more parameter for each of these, after all others and in their order.
std::string move_pointers(const TranslationUnit& unit, const MovedPointers& moved);

// --- The parts that outline() is made of: edits of tokens, pointers that move from constant to global memory, and variables
// that leave their kernel. ---

// Text that replaces or surrounds a token.
struct Edit {
  std::string before;
  std::optional<std::string> text; // in place of the token
  std::string after;
};
using Edits = std::map<std::size_t, Edit>; // by token

// Puts the text, or nothing, in place of the tokens and of their edits.
void replace(Edits& edits, TokenRange range, std::string text = "");

// All of the file after its preprocessor, each token on its line.
std::string preprocessed_text(const TranslationUnit& unit, const Edits& edits = {});

class TokenWriter {
public:
  TokenWriter(const TranslationUnit& unit, std::string& out) : unit_(unit), out_(out) {}

  // Writes each token on its original line, so that compilers report the user's file and line.
  void write(TokenRange range, const Edits& edits);

  // Writes generated text on the current line.
  void text(std::string_view text);

private:
  void go_to(const Token& token);

  const TranslationUnit& unit_;
  std::string& out_;
  bool started_ = false;
  std::uint32_t file_ = 0;
  std::uint32_t line_ = 0;
};

// The arguments of an outlined kernel are in global memory, so pointers move there from constant memory.

inline bool is_constant_pointer(const Parameter& parameter) {
  return parameter.is_pointer && parameter.space == AddressSpace::constant;
}

struct MovedConstants {
  std::set<std::size_t> words;     // tokens `constant` of types of pointers
  std::set<std::size_t> obstacles; // tokens where an address of what stays in constant memory may be used
};
MovedConstants constants_to_global(const TranslationUnit& unit);

// Kernels may declare variables in local and in constant memory, and functions may not: these variables move, and get numbers
// where the kernel declares several of a name. Their pointers are private and stay in the kernel.
struct HoistedVariable {
  TokenRange declaration; // without the semicolon
  bool is_local = false;  // it becomes a member of a structure; constants move to file scope
  Edits edits;            // for its new place
};
struct HoistedVariables {
  std::vector<HoistedVariable> declarations;
  std::optional<std::uint64_t> local_bytes = 0; // upper bound; empty if a type or bound is not known
};

// Adds to the edits of the kernel's body that the declarations are gone, and how their names are used: as members of
// tg_locals, or with the prefix. Error: unsupported_kernel for a declaration that needs more of the kernel than constants
// for the sizes of arrays.
Result<HoistedVariables> hoist_variables(const TranslationUnit& unit, const Function& kernel,
                                         const std::string& prefix, Edits& body);

} // namespace tidegate::opencl_c
