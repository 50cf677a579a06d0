// The ops of a queue: functions of the user's source, and whether they fit the buffers that items name.
#include "opencl_c/facts.hpp"
#include "opencl_c/words.hpp"
#include "work/program.hpp"
#include "work/queue.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using opencl_c::AddressSpace;
using opencl_c::Parameter;

constexpr std::string_view op_signature = "uint {}(global const T* in, global U* out, uint param)";

constexpr std::string_view publisher_type =
    "tidegate_publisher"; // of the fourth parameter of an op that publishes

bool has_signature(const opencl_c::TranslationUnit& unit, const opencl_c::Function& function) {
  const auto& parameters = function.parameters;
  const auto is_buffer = [](const Parameter& parameter) {
    return parameter.is_pointer && parameter.space == AddressSpace::global;
  };
  const bool publishes = parameters.size() == 4 && unit.contains(parameters[3].tokens, publisher_type);
  return !function.is_kernel && (parameters.size() == 3 || publishes) && is_buffer(parameters[0]) &&
         is_buffer(parameters[1]) && !parameters[1].is_const && !parameters[2].is_pointer &&
         parameters[2].type == "uint" && function.result == "uint";
}

std::string item_text(std::uint64_t index) {
  return fmt::format("item {}", index);
}

// Checks that the op's parameter accepts the elements of the buffer.
void check_elements(const QueueOp& op, const Parameter& parameter, const ProgramBuffer& buffer,
                    const RefuseItem& refuse) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  if (!type) { // structures and void accept any elements
    return;
  }
  const ElementType wanted = *element_type_of(type->scalar);
  if (element_bytes(wanted) != element_bytes(buffer.type) || is_float(wanted) != is_float(buffer.type)) {
    refuse(ErrorCode::argument_mismatch,
           fmt::format("runs {} on the buffer {} of {}, its parameter {} points to {}", in_quotes(op.name),
                       in_quotes(buffer.name), name(buffer.type), in_quotes(parameter.name), parameter.type),
           fmt::format("give a buffer of {}, or change the op's parameter", name(wanted)));
  }
}

// Checks an op that appends to a list of hits.
void check_appending(const QueueOp& op, const ProgramBuffer& list, const RefuseItem& refuse) {
  const std::string why = hits_output_refused(list, op.output);
  if (!why.empty()) {
    refuse(ErrorCode::argument_mismatch, fmt::format("runs {}, which {}", in_quotes(op.name), why),
           "give the list the type of the parameter, and its width");
  } else if (op.traits.pure) { // of identical items only one would append
    refuse(ErrorCode::invalid_item,
           fmt::format("runs {}, which is pure, on the list of hits {}", in_quotes(op.name),
                       in_quotes(list.name)),
           "leave pure out: an op that appends to a list is not");
  }
}

} // namespace

bool say_requeue(const opencl_c::TranslationUnit& unit, const std::set<std::string>& functions) {
  const std::set<std::string> reached = unit.facts->reachable(functions);
  return std::ranges::any_of(unit.functions, [&](const opencl_c::Function& function) {
    return function.body && reached.contains(function.name) &&
           unit.contains(*function.body, "TIDEGATE_REQUEUE");
  });
}

void check_fit(const QueueOp& op, const ProgramBuffer& input, const ProgramBuffer& output,
               const RefuseItem& refuse) {
  if (input.hits) {
    refuse(ErrorCode::invalid_item, fmt::format("reads the list of hits {}", in_quotes(input.name)),
           "give lists of hits as outputs only");
    return;
  }
  if (output.hits) {
    check_appending(op, output, refuse);
  }
  check_elements(op, op.input, input, refuse);
  check_elements(op, op.output, output, refuse);
}

Result<void> check_handles(const std::vector<QueueCombination>& combinations,
                           std::span<const QueueOpHandle> ops, std::span<const ProgramBuffer> buffers,
                           const std::string& pointer) {
  ErrorList errors;
  for (const QueueCombination& items : combinations) {
    const auto refuse = [&](ErrorCode code, const std::string& what, std::string fix) {
      errors.add({.code = code,
                  .message = item_text(items.first_item) + " " + what,
                  .fix = std::move(fix),
                  .pointer = pointer});
    };
    if (items.op >= ops.size()) {
      refuse(ErrorCode::invalid_item,
             fmt::format("has the op_handle {}, the queue lists {}", items.op, plural(ops.size(), "op")),
             "handles count the ops that the queue lists, from 0 on");
    } else if (ops[items.op].op == nullptr) {
      refuse(ErrorCode::not_a_queue_op,
             fmt::format("has the op_handle {}, and {} is not a queue op", items.op,
                         in_quotes(ops[items.op].name)),
             "give the handle of an op with \"queue\": true");
    }
    bool there = true;
    for (const auto& [key, handle] :
         {std::pair("input_handle", items.input), {"output_handle", items.output}}) {
      if (handle >= buffers.size()) {
        there = false;
        refuse(
            ErrorCode::invalid_item,
            fmt::format("has the {} {}, the queue lists {}", key, handle, plural(buffers.size(), "buffer")),
            "handles count the buffers that the queue lists, from 0 on");
      }
    }
    if (there && items.op < ops.size() && ops[items.op].op != nullptr) {
      check_fit(*ops[items.op].op, buffers[items.input], buffers[items.output], refuse);
    }
    if (errors.full()) {
      break;
    }
  }
  return errors.result();
}

Result<void> check_sources(const std::vector<const QueueOp*>& ops, const std::string& pointer) {
  for (const QueueOp* const op : ops) {
    if (op->spec->source != ops.front()->spec->source || op->spec->options != ops.front()->spec->options) {
      return invalid_program(fmt::format("the queue runs {} and {}, which differ in their source or options",
                                         in_quotes(ops.front()->name), in_quotes(op->name)),
                             "include both in one source, or give each a wave", pointer);
    }
  }
  return {};
}

Result<QueueOp> resolve_queue_op(const ProgramUnit& read, std::uint32_t unit, const std::string& name,
                                 const OpSpec& spec, const std::string& pointer) {
  const std::string function_name = spec.kernel.value_or(name);
  const opencl_c::Function* const function = read.unit.definition(function_name);
  if (function == nullptr) {
    return failure(ErrorCode::unknown_name,
                   fmt::format("there is no function {} in {}", in_quotes(function_name), spec.source),
                   fmt::format("write {}", fmt::format(op_signature, function_name)),
                   spec.kernel ? pointer + "/kernel" : pointer);
  }
  if (!has_signature(read.unit, *function)) {
    return error_at(
        read, function->begin, ErrorCode::argument_mismatch,
        fmt::format("{} is not a function that runs one item of a queue", in_quotes(function_name)),
        fmt::format("write {}", fmt::format(op_signature, function_name)));
  }
  return QueueOp{.name = name,
                 .function = function_name,
                 .spec = &spec,
                 .unit = unit,
                 .traits = {.pure = spec.pure, .priority = spec.priority.value_or(default_queue_priority)},
                 .input = function->parameters[0],
                 .output = function->parameters[1],
                 .publishes = function->parameters.size() == 4};
}

} // namespace tidegate::engine
