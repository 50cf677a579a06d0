// Lists of words, the table of built-in functions, and one spelling for each type.
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {

namespace {

std::string_view without_underscores(std::string_view word) {
  return word.substr(word.starts_with("__") ? 2 : 0);
}

struct BuiltinRow {
  Builtin::Kind kind;
  std::string_view prefix;
  std::string_view names; // after the prefix; a "*" for all others
  bool of_launch = false;
};

using B = Builtin::Kind;
constexpr BuiltinRow builtin_rows[]{
    // of several families that fit, the first counts
    {B::id, "get_", "global_id local_id local_linear_id work_dim local_size enqueued_local_size"},
    {B::id, "get_", "global_linear_id group_id num_groups global_size global_offset", true},
    {B::barrier, "", "barrier"},
    {B::work_group, "", "async_work_group_copy async_work_group_strided_copy wait_group_events"},
    {B::work_group, "work_group_", "*"},
    {B::sub_group, "", "get_num_sub_groups get_enqueued_num_sub_groups"},
    {B::sub_group, "sub_group_", "*"},
    {B::sub_group, "intel_sub_group_", "*"},
    {B::sub_group, "get_sub_group_", "*"},
    {B::sub_group, "get_max_sub_group_", "*"},
    {B::fence, "", "mem_fence"},
    {B::arithmetic, "", "min max clamp fma mad mad24 mul24"},
    {B::math, "",
     "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf "
     "exp exp2 exp10 expm1 fabs fdim floor fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r log log2 log10 "
     "log1p logb maxmag minmag modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos "
     "sinh sinpi sqrt tan tanh tanpi tgamma trunc abs abs_diff add_sat hadd rhadd clz ctz mad_hi mad_sat mul_hi rotate "
     "sub_sat upsample popcount degrees mix radians step smoothstep sign cross dot distance length normalize "
     "fast_distance fast_length fast_normalize isequal isnotequal isfinite isinf isnan isnormal isordered isunordered "
     "signbit any all bitselect select vec_step shuffle shuffle2 isgreater isgreaterequal isless islessequal "
     "islessgreater"},
    {B::math, "native_", "cos divide exp exp2 exp10 log log2 log10 powr recip rsqrt sin sqrt tan *"},
    {B::math, "half_", "cos divide exp exp2 exp10 log log2 log10 powr recip rsqrt sin sqrt tan *"},
    {B::math, "isgreater", "*"},
    {B::math, "isless", "*"},
    {B::math, "shuffle", "*"},
    {B::conversion, "as_", "*"},
    {B::conversion, "convert_", "*"},
    {B::memory, "", "prefetch"},
    {B::memory, "vload", "*"},
    {B::memory, "vstore", "*"},
    {B::atomic, "atomic_", "add sub xchg inc dec cmpxchg min max and or xor init store load exchange *"},
    {B::atomic, "atom_", "add sub xchg inc dec cmpxchg min max and or xor *"},
    {B::image, "read_image", "f i ui *"},
    {B::image, "write_image", "f i ui *"},
    {B::print, "", "printf"},
    {B::other, "get_image_", "width height depth channel_data_type channel_order dim array_size"},
    {B::other, "get_", "*"},
    {B::other, "read_", "*"},
    {B::other, "write_", "*"},
    {B::other, "prefetch", "*"},
};

} // namespace

bool is_one_of(std::string_view words, std::string_view word) {
  const auto is_edge = [words](std::size_t at) { return at >= words.size() || words[at] == ' '; };
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    if ((at == 0 || is_edge(at - 1)) && is_edge(at + word.size())) {
      return !word.empty();
    }
  }
  return false;
}

bool is_attribute(std::string_view word) {
  return word == "__attribute__" || word == "__attribute";
}

AddressSpace address_space(std::string_view word) {
  word = without_underscores(word);
  return word == "global"     ? AddressSpace::global
         : word == "constant" ? AddressSpace::constant
         : word == "local"    ? AddressSpace::local
                              : AddressSpace::none;
}

bool is_qualifier(std::string_view word) {
  return is_one_of("const volatile restrict __restrict __restrict__ inline __inline static extern register "
                   "kernel __kernel private __private generic __generic",
                   word) ||
         address_space(word) != AddressSpace::none || image_access(word).has_value();
}

bool is_type_word(std::string_view word) {
  return is_one_of("void bool unsigned signed size_t ptrdiff_t intptr_t uintptr_t struct union enum event_t "
                   "sampler_t",
                   word) ||
         is_image_type(word) || arithmetic_type(word).has_value();
}

bool is_image_type(std::string_view word) {
  return is_one_of("image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image2d_depth_t "
                   "image2d_array_depth_t image3d_t",
                   word);
}

std::optional<ImageAccess> image_access(std::string_view word) {
  word = without_underscores(word);
  return word == "read_only"    ? std::optional(ImageAccess::read_only)
         : word == "write_only" ? std::optional(ImageAccess::write_only)
         : word == "read_write" ? std::optional(ImageAccess::read_write)
                                : std::nullopt;
}

std::optional<Builtin> builtin(std::string_view name) {
  static const std::unordered_map<std::string, Builtin> exact = [] {
    std::unordered_map<std::string, Builtin> all;
    for (const BuiltinRow& row : builtin_rows) {
      std::istringstream words{std::string(row.names)};
      for (std::string word; words >> word;) {
        all.emplace(std::string(row.prefix) + word,
                    Builtin{.kind = row.kind, .is_exact = true, .of_launch = row.of_launch});
      }
    }
    return all;
  }();
  if (const auto found = exact.find(std::string(name)); found != exact.end()) {
    return found->second;
  }
  const auto* const family = std::ranges::find_if(builtin_rows, [name](const BuiltinRow& row) {
    return row.names.ends_with('*') && name.starts_with(row.prefix);
  });
  return family == std::end(builtin_rows) ? std::nullopt : std::optional(Builtin{.kind = family->kind});
}

bool is_collective(std::string_view name) {
  return is_builtin(name, B::barrier, B::work_group, B::sub_group);
}

bool orders_nothing(std::string_view name) {
  return is_builtin(name, B::id, B::arithmetic, B::math, B::conversion, B::memory);
}

bool is_unsupported(std::string_view word) {
  return is_one_of(
             "queue_t clk_event_t ndrange_t reserve_id_t pipe __pipe enqueue_kernel enqueue_marker "
             "get_default_queue read_pipe write_pipe reserve_read_pipe reserve_write_pipe create_user_event",
             word) ||
         (word.starts_with("image") && word.ends_with("_t") && !is_image_type(word));
}

std::optional<ArithmeticType> arithmetic_type(std::string_view type) {
  static constexpr std::pair<std::string_view, std::uint32_t> scalars[]{
      {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4}, {"uint", 4},
      {"long", 8}, {"ulong", 8}, {"float", 4}, {"double", 8}, {"half", 2}};
  const std::size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  const std::string_view width = type.substr(digits);
  for (const auto& [scalar, bytes] : scalars) {
    if (scalar == type.substr(0, digits) && (width.empty() || is_one_of("2 3 4 8 16", width))) {
      const bool is_wide = width == "16";
      const std::uint32_t single = width.empty() ? 1 : static_cast<std::uint32_t>(width[0] - '0');
      return ArithmeticType{.scalar = scalar, .width = is_wide ? 16 : single, .scalar_bytes = bytes};
    }
  }
  return {};
}

std::string canonical_type(std::span<const std::string_view> words) {
  bool is_unsigned = false;
  std::string base;
  for (const std::string_view word : words) {
    is_unsigned |= word == "unsigned";
    if (word != "unsigned" && word != "signed" && (word != "int" || base.empty())) { // "long int" is long
      base = word;
    }
  }
  return (is_unsigned ? "u" : "") + (base.empty() && !words.empty() ? "int" : base);
}

bool is_standard_macro(std::string_view name) {
  constexpr std::string_view beginnings[]{"NULL",   "INFINITY", "NAN",     "HUGE_VAL", "MAXFLOAT",   "CLK_",
                                          "M_",     "FLT_",     "DBL_",    "HALF_",    "FP_",        "CHAR_",
                                          "SCHAR_", "UCHAR_",   "SHRT_",   "USHRT_",   "INT_M",      "UINT_M",
                                          "LONG_M", "ULONG_M",  "ATOMIC_", "printf",   "kernel_exec"};
  return std::ranges::any_of(beginnings, [name](std::string_view with) { return name.starts_with(with); });
}

bool may_be_predefined(std::string_view name) {
  return name.starts_with('_') || name.starts_with("cl_") || name.starts_with("CL") ||
         is_standard_macro(name);
}

bool is_condition_operator(std::string_view name) {
  return name.starts_with("__has_") || name == "__is_identifier" || name == "__building_module";
}

} // namespace tidegate::opencl_c
