#include "traversal/own.hpp"

#include "device/kernels.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/preprocessor.hpp"
#include "runtime/memory.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::traversal {

Error refused_at(const OwnCode& code, const opencl_c::Function& function, std::string message,
                 std::string fix) {
  return with_line_of(code.files, opencl_c::error_at(code.unit, function.name_token, ErrorCode::kernel_source,
                                                     std::move(message), std::move(fix)));
}

namespace {

using graphs::FrontierProgram;
using graphs::OwnMerge;
using graphs::OwnValue;

constexpr std::size_t most_source_bytes = std::size_t{64} << 20U;

std::string_view scalar(OwnValue value) {
  return scalar_names[static_cast<std::size_t>(element_type(value))];
}

// A function that the source of an algorithm may have.
struct Hook {
  std::string name, result, parameters; // "weight" stands for uint or float
  bool required = false;
  std::string unused{}; // why it has no use
};

std::vector<Hook> hooks_of(const FrontierProgram& program) {
  const graphs::OwnAlgorithm& own = *program.own;
  const std::string value(scalar(own.value));
  const bool adds = own.merge == OwnMerge::add;
  const bool merges = own.merge == OwnMerge::source;
  const std::string given =
      merges ? ""
             : fmt::format("merge is \"{}\"", graphs::own_merge_names[static_cast<std::size_t>(own.merge)]);
  return {
      {"along", value, adds ? "weight" : value + ", weight", true},
      {"at_source", value, "uint, uint", !program.sources.empty()},
      {"initial", value, "uint, uint", false, own.initial ? "the program has a file of initial values" : ""},
      {"merge", value, value + ", " + value, merges, given},
      {"unreached", value, "", merges, given},
      {"fires", "bool", value, adds, adds ? "" : "nothing is added"},
      {"settled", "bool", value, false, adds ? "sums go on for good" : ""},
  };
}

Result<void> check_hook(const Hook& hook, const std::string& pointer, OwnCode& code) {
  const std::string declaration = fmt::format("{} {}({}); weight is uint or float", hook.result, hook.name,
                                              hook.parameters.empty() ? "void" : hook.parameters);
  const opencl_c::Function* const function = code.unit.definition(hook.name);
  if (function == nullptr) {
    return !hook.required
               ? Result<void>()
               : failure(ErrorCode::kernel_source, fmt::format("the algorithm has no function {}", hook.name),
                         "add " + declaration, pointer);
  }
  if (!hook.unused.empty()) {
    return tl::unexpected(refused_at(code, *function,
                                     fmt::format("{} would not be called: {}", hook.name, hook.unused),
                                     "remove it, or rename it if it is for something else"));
  }
  std::vector<std::string> types;
  for (const opencl_c::Parameter& parameter : function->parameters) {
    types.push_back(parameter.is_pointer ? parameter.type + "*" : parameter.type);
  }
  const std::string taken = fmt::format("{}", fmt::join(types, ", "));
  const auto takes = [&](std::string_view weight) {
    std::string with = hook.parameters;
    const std::size_t at = with.find("weight");
    return taken == (at == std::string::npos ? with : with.replace(at, std::string::npos, weight));
  };
  code.float_weights |= !takes("uint") && takes("float");
  return (takes("uint") || takes("float")) && !function->is_overloadable && !function->is_kernel &&
                 function->result == hook.result
             ? Result<void>()
             : tl::unexpected(refused_at(code, *function,
                                         fmt::format("{} has other types than it is called with", hook.name),
                                         "declare it " + declaration));
}

// A merge as kernels have it: the bits of two values, and by type those of the value that merges into nothing.
struct Merge {
  std::string_view of_a_and_b;
  std::array<std::string_view, 4> nothing;
};
constexpr std::string_view ones = "0xffffffffu", many_ones = "0xfffffffffffffffful",
                           own_nothing = "as_uint(unreached())";
constexpr std::array<Merge, 6> merges{{
    {"(TG_OWN_TYPED(a) < TG_OWN_TYPED(b) ? (a) : (b))", {ones, "0x7fffffffu", "0x7f800000u", many_ones}},
    {"(TG_OWN_TYPED(a) > TG_OWN_TYPED(b) ? (a) : (b))", {"0u", "0x80000000u", "0xff800000u", "0ul"}},
    {"((a) | (b))", {"0u", "0u", "0u", "0ul"}},
    {"((a) & (b))", {ones, ones, ones, many_ones}},
    {"((a) + (b))", {"0u", "0u", "0u", "0ul"}},
    {"TG_OWN_BITS(merge(TG_OWN_TYPED(a), TG_OWN_TYPED(b)))",
     {own_nothing, own_nothing, own_nothing, "as_ulong(unreached())"}},
}};

// Definitions for kernels/frontier/own.cl and own_check.cl.
std::string definitions(const FrontierProgram& program, const OwnCode& code) {
  const graphs::OwnAlgorithm& own = *program.own;
  const auto has = [&code](const char* name) { return code.unit.definition(name) != nullptr ? 1 : 0; };
  const bool wide = own.value == OwnValue::u64;
  const Merge& merge = merges.at(static_cast<std::size_t>(own.merge));
  const std::string_view weight = code.float_weights ? "float" : "uint";
  return fmt::format(
      "\n#define TG_OWN_WORDS {}\n#define tg_bits {}\n#define TG_OWN_BITS {}\n#define TG_OWN_TYPED as_{}\n#define TG_OWN_WEIGHT as_{}\n"
      "#define TG_OWN_WEIGHT_TYPE {}\n#define TG_OWN_MERGED(a, b) {}\n#define TG_OWN_NOTHING {}\n#define TG_OWN_ADDS {}\n"
      "#define TG_OWN_MERGES {}\n#define TG_OWN_INITIAL {}\n#define TG_OWN_SOURCES {}\n#define TG_OWN_SETTLED {}\n",
      wide ? 2 : 1, wide ? "ulong" : "uint", wide ? "as_ulong" : "as_uint", scalar(own.value), weight, weight,
      merge.of_a_and_b, merge.nothing.at(static_cast<std::size_t>(own.value)),
      static_cast<int>(own.merge == OwnMerge::add), has("merge"), own.initial ? 2 : has("initial"),
      has("at_source"), has("settled"));
}

} // namespace

ElementType element_type(OwnValue value) {
  constexpr std::array types{ElementType::u32, ElementType::i32, ElementType::f32, ElementType::u64};
  return types.at(static_cast<std::size_t>(value));
}

Result<OwnCode> read_own(const FrontierProgram& program, const std::string& folder, PathScope scope) {
  const graphs::OwnAlgorithm& own = *program.own;
  const std::string pointer = "/algorithm/source";
  auto options = opencl_c::parse_compiler_options(own.options);
  if (options && !options->others.empty()) {
    options = tl::unexpected(
        Error{.code = ErrorCode::kernel_options,
              .message = in_quotes(options->others.front()) + " is not an option of an algorithm",
              .fix = "give -D and -I alone"});
  }
  if (!options) {
    options.error().pointer = "/algorithm/options";
    return tl::unexpected(std::move(options.error()));
  }
  OwnCode code;
  opencl_c::PredefinedMacros macros;
  opencl_c::PreprocessorOptions preprocessor{.definitions = options->definitions,
                                             .undefinitions = options->undefinitions};
  for (const std::string& include : options->include_folders) {
    preprocessor.include_folders.push_back(path_in(folder, include));
  }
  preprocessor.predefined = &macros;
  preprocessor.read = [&](const std::string& file) -> Result<std::string> {
    std::error_code none;
    if (auto allowed = check_scope(file, folder, scope); !allowed && std::filesystem::exists(file, none)) {
      return tl::unexpected(std::move(allowed.error()));
    }
    auto read = read_all(file, most_source_bytes, FileKinds::regular);
    if (read && std::ranges::find(code.files, file) == code.files.end()) {
      code.files.push_back(file);
    }
    return read;
  };
  auto unit = opencl_c::preprocess(path_in(folder, own.source), preprocessor)
                  .and_then(opencl_c::parse_translation_unit);
  if (unit && !macros.is_complete()) {
    const auto& asked = macros.unknown_names.empty() ? macros.unknown_conditions : macros.unknown_names;
    unit = tl::unexpected(Error{.code = ErrorCode::kernel_source,
                                .message = "the algorithm depends on " + in_quotes(*asked.begin()) +
                                           ", which each device's compiler defines in its own way",
                                .fix = "leave it out of #if, or define it with -D"});
  }
  if (!unit) {
    Error error = with_line_of(code.files, std::move(unit.error()));
    if (!error.line) {
      error.pointer = pointer;
    }
    return tl::unexpected(std::move(error));
  }
  code.unit = std::move(*unit);
  ErrorList errors;
  for (const Hook& hook : hooks_of(program)) {
    errors.check(check_hook(hook, pointer, code));
  }
  const bool starts = !program.sources.empty() || own.initial || code.unit.definition("initial") != nullptr;
  if (!starts) {
    errors.add({.code = ErrorCode::invalid_program,
                .message = "no vertex starts with a value",
                .fix = "give sources, a file of initial values, or the function initial",
                .pointer = "/sources"});
  }
  TIDEGATE_CHECK(errors.result());
  // All kernels round alike.
  code.text = "#pragma OPENCL FP_CONTRACT OFF\n" + opencl_c::preprocessed_text(code.unit);
  code.text += definitions(program, code);
  return code;
}

FrontierProgram with_wide_distances(FrontierProgram program) {
  program.algorithm = graphs::Algorithm::own;
  program.own =
      graphs::OwnAlgorithm{.source = "", .value = OwnValue::u64, .merge = OwnMerge::min, .initial = {}};
  return program;
}

OwnCode wide_distances(const FrontierProgram& program) {
  const std::string text = device::kernel_source("frontier/sssp64.cl");
  opencl_c::PredefinedMacros macros;
  opencl_c::PreprocessorOptions preprocessor;
  preprocessor.predefined = &macros;
  preprocessor.read = [&text](const std::string&) { return Result<std::string>(text); };
  OwnCode code{.text = text, .unit = {}, .files = {}};
  code.unit =
      opencl_c::preprocess("sssp64.cl", preprocessor).and_then(opencl_c::parse_translation_unit).value();
  code.text += definitions(program, code);
  return code;
}

Error at_own_source(const OwnCode& code, Error error) {
  const bool names_it = error.code == ErrorCode::build_failure && error.source && error.line &&
                        std::ranges::find(code.files, *error.source) != code.files.end();
  if (!names_it) {
    return error; // the fault is not the user's
  }
  error.code = ErrorCode::kernel_source;
  error.fix = "correct the algorithm";
  return with_line_of(code.files, std::move(error), ColumnCounts::bytes);
}

Result<void> check_weights(const OwnCode& code, const graphs::Graph& graph) {
  const graphs::WeightType type = graph.out.weight_type;
  if (type == graphs::WeightType::none || (type == graphs::WeightType::f32) == code.float_weights) {
    return {};
  }
  return tl::unexpected(refused_at(
      code, *code.unit.definition("along"),
      fmt::format("along takes a {} weight, and those of the graph are {}",
                  code.float_weights ? "float" : "uint", code.float_weights ? "u32" : "f32"),
      code.float_weights ? "take a uint, or give the graph \"weights\": \"f32\"" : "take a float"));
}

Result<std::vector<std::byte>> read_initial(const FrontierProgram& program, const std::string& folder,
                                            std::uint32_t vertices) {
  if (!program.own || !program.own->initial) {
    return std::vector<std::byte>();
  }
  const auto refuse = [](Error error) {
    error.pointer = "/algorithm/initial";
    return error;
  };
  const std::string path = path_in(folder, *program.own->initial);
  constexpr std::size_t room = 4096; // for the header
  const ElementType type = element_type(program.own->value);
  TIDEGATE_TRY(const std::string bytes,
               read_all(path, vertices * element_bytes(type) + room, FileKinds::regular).map_error(refuse));
  TIDEGATE_TRY(NpyArray array, parse_npy(bytes).map_error(refuse));
  if (array.type != type || array.shape.size() != 1 || array.shape.front() != vertices) {
    return tl::unexpected(
        refuse({.code = ErrorCode::bad_array,
                .message = fmt::format("{} holds {} of shape {}", in_quotes(*program.own->initial),
                                       name(array.type), shape_text(array.shape)),
                .fix = fmt::format("give {} of shape ({},): one for each vertex", name(type), vertices)}));
  }
  return std::move(array.bytes);
}

} // namespace tidegate::traversal
