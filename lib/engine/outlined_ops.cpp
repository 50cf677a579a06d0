// The kernels of a program as functions that a generated kernel calls.
#include "engine/schedule.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using Words = std::set<std::string, std::less<>>;

// True for a name that means something else where generated code uses it: a built-in function that it may call, or what it
// declares where it calls a kernel or names a type (generate.cpp). All else of it has reserved names.
bool is_generated(const std::string& name) {
  static const std::set<std::string_view> declared{
      "arena", "code",   "descriptor", "dynamic", "gate", "item",  "iteration", "lane", "lanes",
      "list",  "locals", "range",      "side",    "tile", "value", "w",         "words"};
  const auto known = opencl_c::builtin(name);
  return (known && known->is_exact) || declared.contains(name);
}

bool is_reserved(std::string_view name) {
  return name.starts_with("tg_") || name.starts_with("TG_") || name.starts_with("tidegate_");
}

// Renames all identifiers of a unit that start like generated ones; `names` maps the unit's file-scope names.
Result<opencl_c::TranslationUnit> without_reserved_names(const opencl_c::TranslationUnit& unit,
                                                         std::map<std::string, std::string>& names) {
  const Words words = opencl_c::identifiers(unit.source);
  const bool any = std::ranges::any_of(words, is_reserved);
  std::string prefix = any ? "own_" : "";
  while (any && words.lower_bound(prefix) != words.end() && words.lower_bound(prefix)->starts_with(prefix)) {
    prefix += '_';
  }
  for (const std::string& name : unit.file_scope_names) {
    names[name] = (is_reserved(name) ? prefix : "") + name;
  }
  return any ? opencl_c::with_prefix(unit, prefix, is_reserved) : unit;
}

// Returns new names for file-scope names that another text also uses; words[unit] are the unit's identifiers.
std::map<std::string, std::string> renamed(const opencl_c::TranslationUnit& source, std::size_t unit,
                                           const std::vector<Words>& words) {
  std::map<std::string, std::string> result;
  for (const std::string& name : source.file_scope_names) {
    bool used = is_generated(name);
    for (std::size_t other = 0; other < words.size(); ++other) {
      used |= other != unit && words[other].contains(name);
    }
    // An overload of a built-in function must keep its name.
    const bool overload = std::ranges::any_of(source.functions, [&](const opencl_c::Function& function) {
      return function.is_overloadable && function.name == name && opencl_c::builtin(name);
    });
    if (used && !overload) {
      std::string fresh = fmt::format("u{}_{}", unit, name);
      while (std::ranges::any_of(words, [&](const Words& of) { return of.contains(fresh); })) {
        fresh += '_';
      }
      result[name] = std::move(fresh);
    }
  }
  return result;
}

// Returns a built-in function that the unit overloads and another unit calls, or an empty string. Generated
// code calls built-in functions only with built-in types.
std::string shared_overload(const opencl_c::TranslationUnit& source, std::size_t unit,
                            const std::vector<Words>& words) {
  for (const opencl_c::Function& function : source.functions) {
    for (std::size_t other = 0; other < words.size() && function.is_overloadable; ++other) {
      if (other != unit && words[other].contains(function.name) && opencl_c::builtin(function.name)) {
        return function.name;
      }
    }
  }
  return {};
}

std::string reason_of(const Error& error) {
  return error.line
             ? fmt::format("{} ({}:{})", error.message, printable(error.source.value_or("")), *error.line)
             : error.message;
}

// Returns true if every wave passes distinct buffers to the op's pointers. Buffers of one wave never share
// memory.
bool has_distinct_buffers(const Job& program, std::uint32_t op) {
  return std::ranges::all_of(program.waves, [op](const ProgramWave& wave) {
    std::set<std::uint32_t> buffers;
    return wave.op != op || std::ranges::all_of(wave.arguments, [&buffers](const ProgramArgument& argument) {
             return argument.kind != ProgramArgument::Kind::buffer || buffers.insert(argument.buffer).second;
           });
  });
}

// Returns true if no other op is the same kernel.
bool uses_alone(const Job& program, std::uint32_t op) {
  return std::ranges::count_if(program.ops, [&](const ProgramOp& other) {
           return other.unit == program.ops[op].unit && other.function == program.ops[op].function;
         }) == 1;
}

// Returns the parameters of an op whose memory no wave writes once the repetition has begun, or ever, if the op
// runs before it; nothing for an op that runs items or has no wave.
std::optional<std::set<std::size_t>>
steady_parameters(const Job& program, const std::vector<std::vector<MemoryUse>>& uses, std::uint32_t op) {
  std::vector<const ProgramWave*> waves;
  bool before = false;
  for (const ProgramWave& wave : program.waves) {
    if (wave.op == op) {
      waves.push_back(&wave);
      before |= wave.section == Section::before;
    }
  }
  const auto waits_first = [](const ProgramWave* wave) { // counts say which tiles run
    return wave->listed_items || wave->prepared;
  };
  if (waves.empty() || std::ranges::any_of(waves, waits_first)) {
    return {};
  }
  const auto is_written = [&](std::uint32_t buffer) {
    return std::ranges::any_of(uses[buffer], [&](const MemoryUse& use) {
      return use.writes && (before || program.waves[use.wave].section != Section::before);
    });
  };
  std::set<std::size_t> steady;
  const std::vector<opencl_c::Parameter>& parameters = program.function(op).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_pointer && parameters[i].is_const &&
        std::ranges::all_of(waves, [&](const ProgramWave* wave) {
          const ProgramArgument& argument = wave->arguments[i];
          return argument.kind == ProgramArgument::Kind::buffer && argument.access == Access::read &&
                 !program.buffers[argument.buffer].swapped && !is_written(argument.buffer);
        })) {
      steady.insert(i);
    }
  }
  return steady;
}

} // namespace

Result<OutlinedOps> outline_ops(const Job& program) {
  std::vector<std::set<std::string>> kernels(program.units.size());
  for (const ProgramWave& wave : program.waves) {
    kernels[program.ops[wave.op].unit].insert(program.function(wave.op).name);
    if (wave.in_rounds()) {
      kernels[program.ops[wave.op].unit].insert(program.function(turn_op(wave)).name);
    }
  }
  std::vector<Words> words; // by unit
  std::vector<opencl_c::TranslationUnit> units;
  std::vector<std::map<std::string, std::string>> names(program.units.size());
  for (std::size_t unit = 0; unit < program.units.size(); ++unit) {
    auto source = without_reserved_names(program.units[unit].unit, names[unit]);
    if (!source) {
      return tl::unexpected(with_line_of(program.units[unit].files, std::move(source.error())));
    }
    units.push_back(std::move(*source));
    words.push_back(opencl_c::identifiers(units.back().source));
  }
  OutlinedOps outlined{.texts = std::vector<std::string>(program.units.size()),
                       .order = {},
                       .kernels = std::vector<opencl_c::OutlinedKernel>(program.ops.size()),
                       .alone = std::vector<std::string>(program.ops.size()),
                       .renamed = std::vector<std::map<std::string, std::string>>(program.units.size())};
  const auto uses = uses_by_buffer(program);
  ErrorList errors;
  for (std::size_t unit = 0; unit < program.units.size(); ++unit) {
    if (kernels[unit].empty()) {
      continue;
    }
    opencl_c::OutlineRequest request{.renamed = renamed(units[unit], unit, words)};
    for (const std::string& kernel : kernels[unit]) {
      request.distinct.insert(names[unit].at(kernel));
    }
    const std::string overload = shared_overload(units[unit], unit, words);
    request.kernels = overload.empty() ? request.distinct : std::set<std::string>();
    for (const auto& [own, kept] : names[unit]) {
      const auto found = request.renamed.find(kept);
      outlined.renamed[unit][own] = found == request.renamed.end() ? kept : found->second;
    }
    std::vector<std::pair<std::uint32_t, std::string>> ops; // of the unit, with their kernels
    for (std::uint32_t op = 0; op < program.ops.size(); ++op) {
      if (program.ops[op].unit == unit) {
        ops.emplace_back(op, names[unit].at(program.function(op).name));
      }
    }
    for (const auto& [op, name] : ops) {
      if (!has_distinct_buffers(program, op)) {
        request.distinct.erase(name);
      }
      if (uses_alone(program, op)) {
        if (auto parameters = steady_parameters(program, uses, op)) {
          request.steady[name] = *std::move(parameters);
        }
      }
    }
    auto result = opencl_c::outline(units[unit], request);
    if (!result) {
      errors.add(with_line_of(program.units[unit].files, std::move(result.error())));
      continue;
    }
    outlined.texts[unit] = std::move(result->text);
    outlined.order.push_back(static_cast<std::uint32_t>(unit));
    for (const auto& [op, name] : ops) {
      if (const auto found = result->fallbacks.find(name); found != result->fallbacks.end()) {
        outlined.alone[op] = reason_of(found->second);
      } else if (!overload.empty()) {
        outlined.alone[op] =
            fmt::format("its source overloads {}, which other sources use, too", in_quotes(overload));
      } else {
        outlined.kernels[op] = result->kernels[name];
      }
    }
  }
  TIDEGATE_CHECK(errors.result());
  // Some old compilers take 1.0 for a double in all that follows a pragma which enables doubles.
  std::stable_partition(outlined.order.begin(), outlined.order.end(), [&](std::uint32_t unit) {
    return outlined.texts[unit].find("#pragma OPENCL EXTENSION") == std::string::npos;
  });
  return outlined;
}

} // namespace tidegate::engine
