// Finds the pointer parameters whose const a function may drop, which C allows by a cast, by a conversion that compilers
// only warn of, through a union, …: these read and write. A parameter keeps its const if nothing becomes of it but pointers
// to const.
#include "opencl_c/followed_pointer.hpp"

namespace tidegate::opencl_c {
namespace {

// True for a pointer to const numbers, vectors or structures, or arrays of them.
bool points_to_const(const Type& type) {
  const Type* inner = type.is(Type::Kind::pointer) ? type.inner : nullptr;
  while (inner != nullptr && inner->is(Type::Kind::array)) {
    inner = inner->inner;
  }
  return inner != nullptr && inner->is_const &&
         (inner->is_arithmetic() || inner->is(Type::Kind::record) || inner->is(Type::Kind::nothing));
}

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  const FollowRules rules{
      .may_become = points_to_const,
      .may_pass =
          [](const Function& callee, std::size_t index) {
            return callee.parameters[index].is_pointer && callee.parameters[index].is_const;
          },
      .may_take =
          [](std::string_view name, std::size_t index) {
            return (index == 1 && (name.starts_with("vload") || name.starts_with("async_work_group_"))) ||
                   (index == 0 && name == "prefetch");
          },
      .may_compare = true};
  for (bool changed = true;
       changed;) { // a function passes pointers on to those that have kept their const so far
    changed = false;
    for (Function& function : unit.functions) {
      for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        Parameter& parameter = function.parameters[i];
        if (parameter.is_pointer && parameter.is_const && function.body &&
            !only_used_by(rules, unit, function, i)) {
          parameter.is_const = false;
          changed = true;
        }
      }
    }
  }
}

} // namespace tidegate::opencl_c
