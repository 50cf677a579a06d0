#include <tidegate/compiler/program_error.hpp>
#include <tidegate/compiler/resolve_ops.hpp>
#include <tidegate/compiler/source_unit.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>

#include <fmt/format.h>

#include <utility>

namespace tidegate::compiler {
namespace {

// The source with these options, read once.
Result<std::uint32_t> find_unit(const ResolveInput& input, const OpSpec& spec, const std::string& pointer,
                                std::vector<ProgramUnit>& units, NameIndex& units_by_key) {
  const std::string key = spec.source + '\n' + spec.options;
  if (units_by_key.contains(key)) {
    return find_name("source", key, units_by_key, pointer);
  }
  auto unit = read_unit(spec, input.folder, input.answer, input.scope, pointer);
  units_by_key[key] = unit ? static_cast<std::uint32_t>(units.size()) : unsound;
  if (!unit) {
    return tl::unexpected(std::move(unit.error()));
  }
  units.push_back(std::move(*unit));
  return units_by_key[key];
}

Result<ProgramOp> resolve_op(const ResolveInput& input, const std::string& name, const OpSpec& spec,
                             ProgramOps& ops, NameIndex& units_by_key) {
  const std::string pointer = "/ops/" + pointer_token(name);
  TIDEGATE_CHECK(input.wholly_read(pointer + "/source"));
  TIDEGATE_CHECK(input.wholly_read(pointer + "/options"));
  TIDEGATE_TRY(const std::uint32_t unit, find_unit(input, spec, pointer, ops.units, units_by_key));
  TIDEGATE_CHECK(input.wholly_read(pointer));
  const std::string kernel = spec.kernel.value_or(name);
  const auto& functions = ops.units[unit].unit.functions;
  NameIndex kernels;
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].is_kernel && functions[i].body) {
      kernels[functions[i].name] = i;
    }
  }
  const auto found = kernels.find(kernel);
  if (found == kernels.end()) {
    if (const opencl_c::Function* const function = ops.units[unit].unit.definition(kernel)) {
      return tl::unexpected(no_kernel(ops.units[unit], *function));
    }
    Error error = unknown_name("kernel", kernel, kernels, spec.kernel ? pointer + "/kernel" : pointer);
    error.message += fmt::format(" in {}", spec.source);
    return tl::unexpected(std::move(error));
  }
  return ProgramOp{.name = name, .unit = unit, .function = found->second};
}

void add_queue_op(const ResolveInput& input, const std::string& name, const OpSpec& spec, ProgramOps& ops,
                  ErrorList& errors) {
  const std::string pointer = "/ops/" + pointer_token(name);
  auto made = input.wholly_read(pointer).and_then(
      [&] { return resolve_queue_op(name, spec, input.folder, input.answer, input.scope, pointer); });
  errors.check(made);
  ops.op_index[name] = unsound;
  ops.queue_ops.emplace(name, made ? std::optional(std::move(*made)) : std::nullopt);
}

Result<void> no_queue_op(const ResolveInput& input, const OpSpec& spec, const std::string& pointer) {
  if ((!spec.pure && !spec.priority) || !input.unread.spare(pointer)) {
    return {};
  }
  const std::string key = spec.pure ? "pure" : "priority";
  return tl::unexpected(invalid_program(key + " is said of an op that is no queue op",
                                        "leave it out, or say \"queue\": true", pointer + "/" + key));
}

} // namespace

ProgramOps resolve_ops(const ResolveInput& input, ErrorList& errors) {
  ProgramOps ops;
  NameIndex units_by_key; // a source with its options is read once
  for (const auto& [name, spec] : input.program.ops) {
    if (spec.queue) {
      add_queue_op(input, name, spec, ops, errors);
      continue;
    }
    errors.check(no_queue_op(input, spec, "/ops/" + pointer_token(name)));
    auto made = resolve_op(input, name, spec, ops, units_by_key);
    const bool sound = errors.check(made);
    ops.op_index[name] = sound ? static_cast<std::uint32_t>(ops.ops.size()) : unsound;
    if (sound) {
      ops.ops.push_back(std::move(*made));
    }
  }
  return ops;
}

} // namespace tidegate::compiler
