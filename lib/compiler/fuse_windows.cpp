#include <tidegate/compiler/windows.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tidegate::compiler {
namespace {

// A wave of a window as its code sees it: which parameters are pointers to a register, and to which.
struct Part {
  std::uint32_t op = 0;
  bool meets = false;
  std::map<std::size_t, std::size_t> registers; // by parameter, the number of the register in the window

  friend bool operator<(const Part& a, const Part& b) {
    return std::tie(a.op, a.meets, a.registers) < std::tie(b.op, b.meets, b.registers);
  }
};
using Parts = std::vector<Part>; // windows of equal parts share their code

Parts parts_of(const ResolvedProgram& program, const Window& window) {
  Parts parts;
  for (std::size_t i = 0; i < window.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[window.waves[i]];
    Part part{.op = wave.op, .meets = window.meets[i], .registers = {}};
    for (std::size_t a = 0; a < wave.arguments.size(); ++a) {
      const auto found = std::ranges::find(window.registers, wave.arguments[a].buffer);
      if (wave.arguments[a].kind == ProgramArgument::Kind::buffer && found != window.registers.end()) {
        part.registers[a] = static_cast<std::size_t>(found - window.registers.begin());
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::set<std::size_t> parameters(const Part& part) {
  std::set<std::size_t> result;
  for (const auto& [parameter, number] : part.registers) {
    result.insert(parameter);
  }
  return result;
}

class Fuser {
public:
  Fuser(const ResolvedProgram& program, const OutlinedOps& ops, const std::vector<Window>& windows)
      : program_(program), ops_(ops), windows_(windows) {}

  Result<FusedProgram> run() {
    std::vector<Parts> parts;
    for (const Window& window : windows_) {
      parts.push_back(parts_of(program_, window));
      for (const Part& part : parts.back()) {
        name_copy(part);
      }
    }
    FusedProgram fused{.program = program_, .ops = ops_, .parts = {}};
    if (!copies_.empty()) {
      TIDEGATE_TRY(fused.ops, outline_ops(program_, copies_));
    }
    fused.program.waves.clear();

    std::map<std::uint32_t, std::size_t> window_of; // by its first wave
    std::set<std::uint32_t> others;                 // waves behind a first one
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const auto& waves = windows_[i].waves;
      window_of[*std::ranges::min_element(waves)] = i;
      others.insert(waves.begin(), waves.end());
      for (const std::uint32_t buffer : windows_[i].registers) {
        fused.program.buffers[buffer].in_registers = true;
      }
    }
    for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
      if (const auto found = window_of.find(wave); found != window_of.end()) {
        const Window& window = windows_[found->second];
        fused.program.waves.push_back(fused_wave(window, op_of(parts[found->second], fused)));
        fused.parts.push_back(window.waves);
      } else if (!others.contains(wave)) {
        fused.program.waves.push_back(program_.waves[wave]);
        fused.program.waves.back().title = program_.wave_text(wave);
        fused.parts.push_back({wave});
      }
    }
    fused.program.dependencies = dependencies_between(program_, fused.parts);
    return fused;
  }

private:
  // Kernels are copied once for each set of parameters.
  void name_copy(const Part& part) {
    const std::set<std::size_t> wanted = parameters(part);
    const std::uint32_t unit = program_.ops[part.op].unit;
    const std::string& kernel = program_.function(part.op).name;
    if (wanted.empty() || copy_names_.contains({unit, kernel, wanted})) {
      return;
    }
    std::string name = fmt::format("tg_registers{}_{}", copy_names_.size(), ops_.kernels[part.op].function);
    copies_[unit].push_back({.kernel = kernel, .parameters = wanted, .function = name});
    copy_names_[{unit, kernel, wanted}] = std::move(name);
  }

  [[nodiscard]] std::string function_of(const Part& part) const {
    const auto found =
        copy_names_.find({program_.ops[part.op].unit, program_.function(part.op).name, parameters(part)});
    return found == copy_names_.end() ? ops_.kernels[part.op].function : found->second;
  }

  [[nodiscard]] ProgramWave fused_wave(const Window& window, std::uint32_t op) const {
    ProgramWave wave = program_.waves[window.waves.front()];
    wave.name.clear();
    wave.op = op;
    wave.arguments.clear();
    wave.rules = 0;
    wave.window = window.waves;
    std::map<std::uint32_t, bool> written; // by buffer
    planning::Wave stated;                 // the largest of what the program says
    for (const std::uint32_t part : window.waves) {
      const ProgramWave& spec = program_.waves[part];
      wave.rules |= spec.rules;
      wave.title += (wave.title.empty() ? "" : ", ") + program_.wave_text(part);
      for (const ProgramArgument& argument : spec.arguments) {
        const bool kept = argument.kind == ProgramArgument::Kind::buffer &&
                          std::ranges::find(window.registers, argument.buffer) != window.registers.end();
        if (!kept) {
          wave.arguments.push_back(argument);
        }
        if (!kept && argument.is_memory()) {
          written[argument.buffer] |= argument.access != Access::read;
        }
      }
      stated.scratch_bytes = std::max(stated.scratch_bytes, spec.bytes.scratch_bytes);
    }
    wave.bytes = {.frontier_bytes = 0, .scratch_bytes = stated.scratch_bytes, .output_bytes = 0};
    for (const auto& [buffer, is_written] : written) {
      (is_written ? wave.bytes.output_bytes : wave.bytes.frontier_bytes) += program_.buffers[buffer].bytes;
    }
    return wave;
  }

  // The op that runs such parts; a new one has a unit of its own, for what the parts' unit says of compilers.
  std::uint32_t op_of(const Parts& parts, FusedProgram& fused) {
    const auto [found, is_new] =
        op_by_parts_.emplace(parts, static_cast<std::uint32_t>(fused.program.ops.size()));
    if (!is_new) {
      return found->second;
    }
    const ProgramUnit& like = program_.units[program_.ops[parts.front().op].unit];
    ProgramUnit unit{.path = like.path,
                     .files = {},
                     .options = like.options,
                     .parsed_options = like.parsed_options,
                     .unit = {}};
    opencl_c::Function function{.name = fmt::format("tg_window{}", op_by_parts_.size() - 1),
                                .is_kernel = true};
    ProgramOp op{.name = {}, .unit = static_cast<std::uint32_t>(fused.program.units.size())};
    opencl_c::OutlinedKernel kernel{.function = function.name};
    for (const Part& part : parts) {
      const opencl_c::OutlinedKernel& own = fused.ops.kernels[part.op];
      op.name += (op.name.empty() ? "" : ", ") + program_.ops[part.op].name;
      kernel.rounds |= own.rounds;
      kernel.loop_depth = std::max(kernel.loop_depth, own.loop_depth);
      kernel.accesses += own.accesses;
      kernel.needs_whole_group |= own.needs_whole_group || part.meets;
      kernel.local_bytes = std::max(kernel.local_bytes, own.local_bytes);
      kernel.packs &= own.packs;
      if (!own.locals.empty()) {
        kernel.locals = "tg_locals_" + function.name;
      }
    }
    fused.ops.texts.push_back(text_of(parts, kernel, op, function));
    fused.ops.order.push_back(static_cast<std::uint32_t>(fused.ops.texts.size() - 1));
    fused.ops.kernels.push_back(std::move(kernel));
    fused.ops.alone.emplace_back();
    fused.ops.renamed.emplace_back();
    unit.unit.functions.push_back(std::move(function));
    fused.program.units.push_back(std::move(unit));
    fused.program.ops.push_back(std::move(op));
    return found->second;
  }

  // The function of a window; its parameters are those of its parts, one behind the other.
  std::string text_of(const Parts& parts, const opencl_c::OutlinedKernel& kernel, const ProgramOp& op,
                      opencl_c::Function& function) const {
    std::string unions;
    std::string parameters;
    std::string calls;
    std::map<std::size_t, std::string> registers;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      const std::string name = function_of(part);
      calls += part.meets ? "  tg_barrier(tg_self, CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);\n" : "";
      calls += fmt::format("  {}(tg_self", name);
      const auto& own = program_.function(part.op).parameters;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (const auto kept = part.registers.find(i); kept != part.registers.end()) {
          registers[kept->second] = own[i].type;
          calls += fmt::format(", &tg_register{}", kept->second);
          continue;
        }
        opencl_c::Parameter parameter = own[i];
        parameter.type = type_text(part.op, parameter.type);
        calls += fmt::format(", tg_{}_{}", p, i);
        parameters += fmt::format(",\n    {} tg_{}_{}", parameter_text(parameter), p, i);
        function.parameters.push_back(std::move(parameter));
      }
      if (!ops_.kernels[part.op].locals.empty()) {
        unions += fmt::format("  tg_locals_{} of_{};\n", name, p);
        calls += fmt::format(", &tg_locals->of_{}", p);
      }
      calls += ");\n";
    }
    std::string text = "\n#line 1 \"tidegate/windows.cl\"\n";
    if (!kernel.locals.empty()) {
      text += fmt::format("typedef union {{\n{}}} {};\n", unions, kernel.locals);
    }
    text += fmt::format("// {}: a tile from the first to the last.\n"
                        "__attribute__((always_inline)) static void {}(tg_item tg_self{}{}) {{\n",
                        in_quotes(op.name), function.name, parameters,
                        kernel.locals.empty() ? "" : fmt::format(", local {}* tg_locals", kernel.locals));
    for (const auto& [number, type] : registers) {
      text += fmt::format("  {0} tg_register{1} = ({0})(0);\n", type, number);
    }
    return text + calls + "}\n";
  }

  // A type's name as the outlined sources have it.
  [[nodiscard]] std::string type_text(std::uint32_t op, const std::string& type) const {
    const auto& renamed = ops_.renamed[program_.ops[op].unit];
    const std::size_t tag = type.rfind(' ') + 1; // "struct point"
    const auto found = renamed.find(type.substr(tag));
    return found == renamed.end() ? type : type.substr(0, tag) + found->second;
  }

  static std::string parameter_text(const opencl_c::Parameter& parameter) {
    return parameter.space == opencl_c::AddressSpace::local ? "local void*"
           : parameter.is_pointer                           ? "global void*"
                                                            : parameter.type;
  }

  const ResolvedProgram& program_;
  const OutlinedOps& ops_;
  const std::vector<Window>& windows_;
  RegisterCopies copies_;
  std::map<std::tuple<std::uint32_t, std::string, std::set<std::size_t>>, std::string> copy_names_;
  std::map<Parts, std::uint32_t> op_by_parts_;
};

} // namespace

Result<FusedProgram> fuse(const ResolvedProgram& program, const OutlinedOps& ops,
                          const std::vector<Window>& windows) {
  return Fuser(program, ops, windows).run();
}

} // namespace tidegate::compiler
