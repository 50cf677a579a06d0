// Which elements of its buffers a work-item touches, where that is certain: every use of a pointer is a
// subscript by the global id with a constant added or subtracted.
//
//   const uint i = get_global_id(0);
//   if (i + 1 < n) out[i] = in[i - 1] + in[i + 1];      out: 0 to 0, in: -1 to 1
#pragma once

#include <tidegate/opencl_c/translation_unit.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::opencl_c {

// Elements from the one that has the number of the work-item in x.
struct SubscriptRange {
  std::int64_t low = 0;
  std::int64_t high = 0;

  friend bool operator==(const SubscriptRange&, const SubscriptRange&) = default;
};

// By parameter; empty for what is no global pointer and for pointers of which anything else is done: they may
// be handed on, changed, or used with subscripts that are not understood.
std::vector<std::optional<SubscriptRange>> subscripts_by_global_id(const TranslationUnit& unit,
                                                                   const Function& kernel);

// What stands between the brackets, at each use of a pointer parameter that is a subscript.
std::vector<TokenRange> subscript_tokens(const TranslationUnit& unit, const Function& kernel,
                                         const Parameter& parameter);

// Whether every work-item assigns an element before it reads one: the first use is the left side of a
// statement that stands in the body itself, and nothing before it jumps. For parameters whose subscripts are
// all the global id.
bool is_assigned_first(const TranslationUnit& unit, const Function& kernel, const Parameter& parameter);

} // namespace tidegate::opencl_c
