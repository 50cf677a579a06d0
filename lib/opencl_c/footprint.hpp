// The elements that each work-item of a launch may access through a kernel's parameters, by its ids.
//
//   const int i = get_global_id(1) * w + get_global_id(0);
//   if (i + 1 < n) out[i] = in[i - 1] + in[i + 1];      out: element i; in: elements i - 1 to i + 1
//
// The reader of a body has a list of the statements and expressions that it knows, follows calls of the file's functions,
// and gives every occurrence of a pointer a meaning. What is not on the list means "any element", with the reason.
#pragma once
#include "opencl_c/linear.hpp"
#include "opencl_c/translation_unit.hpp"

namespace tidegate::opencl_c {

// The range of a launch, and the numbers that are known before it.
struct LaunchSetting {
  std::uint32_t dimensions = 1;
  std::array<std::int64_t, 3> begin{}; // first global id in each dimension
  std::array<std::int64_t, 3> size{1, 1, 1};
  std::array<std::int64_t, 3> local{1, 1, 1};
  std::map<std::size_t, std::int64_t> values;                          // by parameter
  std::map<std::pair<std::size_t, std::string>, std::int64_t> members; // of structures passed by value

  friend auto operator<=>(const LaunchSetting&,
                          const LaunchSetting&) = default; // NOLINT(modernize-use-nullptr)
};

// The change of an element by an atomic function, which does not depend on the order of the calls.
enum class Reduction : std::uint8_t { sum, min, max };

// An access of which nothing more is known.
struct Obstacle {
  std::string reason; // "the pointer is stored"
  std::size_t token = 0;
};

// Holds for ids below 2^31 and buffers of at most 2^31 elements: in larger buffers a 32-bit subscript wraps around to an
// existing element.
struct Footprint {
  std::optional<Obstacle> obstacle; // why not all of it is known
  std::uint32_t element_bytes = 0;  // of a number or vector; 0: elements are not known
  std::optional<ElementsById> by_id;
  std::optional<RowElements> rows;
  std::optional<Interval> elements; // that may be accessed, if known: from 1 to 0 if none is
  std::optional<Interval> certain;  // these two are accessed, whatever memory holds
  bool only_accessed = false;       // nothing but elements is used, also unknown ones
  bool assigned_first = false;      // each work-item assigns its element before any other access
  bool changed_first = false;       // each work-item adds to an element, or the like, before any other access
  std::optional<Reduction> reduction; // that every use is
};

// Work-items from `first` on, in a dimension, return where others of their work-group come to a barrier later.
struct EarlyReturn {
  std::size_t token = 0;
  std::uint32_t dimension = 0;
  std::int64_t first = 0;
};

struct Footprints {
  std::vector<Footprint> parameters;
  std::vector<EarlyReturn> returns;
};

Footprints footprints(const TranslationUnit& unit, const Function& kernel, const LaunchSetting& setting);

} // namespace tidegate::opencl_c
