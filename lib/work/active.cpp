// Waves that run only their active tiles: those whose flag in a buffer is not 0. Such a wave runs a copy of its kernel
// that takes the flags as one more argument and returns at once where the work-group's flag is 0, so that the wave is
// right under every strategy and in plain launches.
#include "opencl_c/lexer.hpp"
#include "opencl_c/rewriting.hpp"
#include "work/arguments.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

using opencl_c::Token;

// Returns the tokens of one line of source, at the position of `at`.
Result<std::vector<Token>> tokens_of(std::string_view text, const Token& at) {
  opencl_c::Lexer lexer(text, "");
  TIDEGATE_TRY(std::vector<Token> tokens, lexer.next_line());
  for (Token& token : tokens) {
    token.move_to(at);
  }
  return tokens;
}

// Adds the copy of a kernel to its unit, unless it is there; returns the index of the function.
Result<std::uint32_t> testing_kernel(ProgramUnit& unit, std::uint32_t original, std::string_view flag_type) {
  const opencl_c::TranslationUnit& of = unit.unit;
  const opencl_c::Function& kernel = of.functions[original];
  const std::string name = fmt::format("tg_active_{}_{}", flag_type, kernel.name);
  for (std::uint32_t i = original; i < of.functions.size(); ++i) {
    if (of.functions[i].name == name) {
      return i;
    }
  }
  const auto at = [&](std::size_t token) { return of.source.tokens[token]; };
  opencl_c::TokenStream source = of.source;
  const auto copy = [&](std::size_t begin, std::size_t end) {
    source.tokens.insert(source.tokens.end(), of.source.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                         of.source.tokens.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const auto add = [&](const std::string& text, std::size_t where) -> Result<void> {
    TIDEGATE_TRY(const std::vector<Token> tokens, tokens_of(text, at(where)));
    source.tokens.insert(source.tokens.end(), tokens.begin(), tokens.end());
    return {};
  };
  copy(kernel.begin, kernel.name_token);
  TIDEGATE_CHECK(add(name, kernel.name_token));
  copy(kernel.name_token + 1, kernel.parameter_list.begin);
  if (!kernel.parameters.empty()) { // otherwise the list may have the word void
    copy(kernel.parameter_list.begin, kernel.parameter_list.end);
  }
  TIDEGATE_CHECK(
      add(fmt::format("{}global const {}* tg_flags", kernel.parameters.empty() ? "" : ", ", flag_type),
          kernel.parameter_list.end));
  copy(kernel.parameter_list.end, kernel.body->begin + 1);
  TIDEGATE_CHECK(
      add("if (tg_flags[get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * "
          "get_group_id(2))] == 0) return;",
          kernel.body->begin));
  copy(kernel.body->begin + 1, kernel.end);
  TIDEGATE_TRY(unit.unit, opencl_c::parse_translation_unit(std::move(source)));
  unit.rewritten.clear();
  opencl_c::TokenWriter(unit.unit, unit.rewritten)
      .write({.begin = 0, .end = unit.unit.source.tokens.size()}, {});
  unit.rewritten += '\n';
  return static_cast<std::uint32_t>(unit.unit.functions.size() - 1);
}

} // namespace

Result<void> add_active(const ActiveSpec& spec, std::span<const ProgramBuffer> buffers,
                        const FindBuffer& find_buffer, ProgramOps& ops, ProgramWave& wave,
                        const std::string& pointer) {
  const std::string place = pointer + "/active/buffer";
  TIDEGATE_TRY(const std::uint32_t flags, find_buffer(spec.buffer, place));
  const ProgramBuffer& buffer = buffers[flags];
  if ((buffer.type != ElementType::u8 && buffer.type != ElementType::u32) ||
      buffer.count != wave.range.tiles()) {
    return tl::unexpected(
        invalid_program(fmt::format("{} has {} of {}, the wave has {}", in_quotes(buffer.name),
                                    plural(buffer.count, "element"), name(buffer.type),
                                    plural(wave.range.tiles(), "work-group")),
                        "give it one element of u8 or u32 for each work-group", place));
  }
  for (ProgramArgument& argument : wave.arguments) {
    if (argument.kind != ProgramArgument::Kind::buffer || argument.access == Access::read) {
      continue;
    }
    if (argument.buffer == flags) {
      return tl::unexpected(
          invalid_program(fmt::format("the wave writes its own flags {}", in_quotes(buffer.name)),
                          "write the next flags into another buffer, and swap the two", place));
    }
    argument.access = Access::read_write; // tiles that do not run leave the contents as they were
  }
  ProgramOp op = ops.ops[wave.op];
  TIDEGATE_TRY(op.function, testing_kernel(ops.units[op.unit], op.function,
                                           buffer.type == ElementType::u8 ? "uchar" : "uint"));
  const auto found = std::ranges::find_if(ops.ops, [&](const ProgramOp& other) {
    return other.name == op.name && other.unit == op.unit && other.function == op.function;
  });
  wave.op = static_cast<std::uint32_t>(found - ops.ops.begin());
  if (found == ops.ops.end()) {
    ops.ops.push_back(std::move(op));
  }
  wave.users_kernel = false;
  wave.arguments.push_back({.kind = ProgramArgument::Kind::buffer,
                            .buffer = flags,
                            .access = Access::read,
                            .access_stated = true,
                            .value = {}});
  return {};
}

} // namespace tidegate::engine
