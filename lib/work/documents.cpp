// JSON fields of wave programs: one table drives decoder, encoder, schema and reference.
#include "work/resolve.hpp"
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

using namespace engine;

constexpr Field iota_fields[] = {
    defaulted<&Iota::start>("the first element"),
    defaulted<&Iota::step>("added from one element to the next"),
};
TIDEGATE_RECORD(Iota, iota_fields);

constexpr std::string_view raw_meaning =
    "whether files that are named neither .npy (images: .png) nor .raw, .bin, .dat or like an element type "
    "hold raw bytes";

constexpr Field random_fields[] = {
    required<&Random::seed>("equal seeds give equal contents"),
    optional<&Random::low>("lowest value; left out 0, for integers the lowest of the type"),
    optional<&Random::high>("exclusive upper bound; left out 1, for integers all of the type"),
};
TIDEGATE_RECORD(Random, random_fields);

constexpr Field init_fields[] = {
    optional<&BufferInit::fill>("one value for all elements"),
    optional<&BufferInit::iota>("an arithmetic progression"),
    optional<&BufferInit::random>("uniform random values"),
    optional<&BufferInit::file>(
        "file relative to the program: .npy, .safetensors, raw bytes, or an image's .png"),
    optional<&BufferInit::tensor>(
        "name of a tensor in a .safetensors file; unsigned buffers take bytes of any type, such as BF16, as they are"),
    defaulted<&BufferInit::convert>(
        "whether elements of an array or a tensor are rounded to the buffer's type; integers have to fit"),
};
constexpr Rule init_rules[] = {exactly_one(init_fields, "fill iota random file"),
                               needs(init_fields, "tensor convert", "file")};
TIDEGATE_RECORD(BufferInit, init_fields, init_rules);

constexpr Field expect_fields[] = {
    required<&ExpectSpec::file>("array of the buffer's type and size: .npy or raw bytes"),
    defaulted<&ExpectSpec::rtol>("part of the expected value by which an element may differ"),
    defaulted<&ExpectSpec::atol>(
        "difference that is allowed on top of it; NaN equals NaN, and an infinity only itself"),
    defaulted<&ExpectSpec::convert>("as in init"),
};
TIDEGATE_RECORD(ExpectSpec, expect_fields);

constexpr Field program_buffer_fields[] = {
    required<&BufferSpec::type>(
        "type of an element; a vector or structure is several elements, of the type of its members"),
    defaulted<&BufferSpec::count>("elements; left out, those of shape or of the file of init"),
    optional<&BufferSpec::shape>(
        "sizes of its dimensions, the slowest first; left out, that of the file of init, or the count alone"),
    optional<&BufferSpec::init>("first contents: one of fill, iota, random and file"),
    optional<&BufferSpec::output>("file written when the run succeeds: .npy, or else raw bytes"),
    optional<&BufferSpec::expect>("your own reference of the output; a difference ends the run"),
    defaulted<&BufferSpec::raw>(raw_meaning),
    optional<&BufferSpec::note>(note_meaning),
};
constexpr Rule program_buffer_rules[] = {needs(program_buffer_fields, "expect", "output")};
TIDEGATE_RECORD(BufferSpec, program_buffer_fields, program_buffer_rules);

constexpr Field image_fields[] = {
    required<&ImageSpec::format>("order and type of a texel's channels: rgba_unorm8, r_float32, …"),
    defaulted<&ImageSpec::size>("texels: width, height, depth; left out, those of the file"),
    optional<&ImageSpec::layers>("number of layers: makes it an array of images of 1 or 2 dimensions"),
    defaulted<&ImageSpec::texel_buffer>("whether it is an image1d_buffer_t"),
    optional<&ImageSpec::init>("first contents, by channels: one of fill, iota, random and file"),
    optional<&ImageSpec::output>("file written when the run succeeds: .npy, .png, or else raw bytes"),
    defaulted<&ImageSpec::raw>(raw_meaning),
    optional<&ImageSpec::note>(note_meaning),
};
TIDEGATE_RECORD(ImageSpec, image_fields);

constexpr Field hits_fields[] = {
    required<&HitsSpec::type>(
        "type of an element; a vector or structure is several elements, of the type of its members"),
    defaulted<&HitsSpec::width>("elements of a hit").between(1, 4096),
    optional<&HitsSpec::capacity>("hits that have room; left out, what the policy derives")
        .between(1, engine::most_hits),
    optional<&HitsSpec::expected_hits_per_item>(
        "for the policy: hits of a tile (virtual work-group), or of an item of a queue; left out, 1"),
    defaulted<&HitsSpec::on_overflow>(
        "without room for all hits: the run fails, the list is cut, or the program runs again with enough"),
    defaulted<&HitsSpec::sorted>("whether the output is in ascending order, so that runs repeat"),
    optional<&HitsSpec::output>("file written when the run succeeds: .npy, or else raw bytes"),
    defaulted<&HitsSpec::raw>(raw_meaning),
    optional<&HitsSpec::note>(note_meaning),
};
TIDEGATE_RECORD(HitsSpec, hits_fields);

constexpr Field sampler_fields[] = {
    defaulted<&SamplerSpec::address>("what a coordinate outside of the image reads"),
    defaulted<&SamplerSpec::filter>("the nearest texel, or a mixture of those around"),
    defaulted<&SamplerSpec::normalized>("whether coordinates go from 0 to 1, not over texels"),
};
TIDEGATE_RECORD(SamplerSpec, sampler_fields);

constexpr Field op_fields[] = {
    required<&OpSpec::source>("OpenCL C file, relative to the program"),
    optional<&OpSpec::kernel>("the kernel in it; left out, the name of the op"),
    defaulted<&OpSpec::options>("compiler options, as for clBuildProgram"),
    defaulted<&OpSpec::queue>(
        "whether it runs queue items: a function instead of a kernel, uint NAME(global const T* in, global "
        "U* out, uint param); one that publishes items has a fourth parameter, tidegate_publisher publisher"),
    defaulted<&OpSpec::pure>("for a queue op: whether identical items need to run only once"),
    defaulted<&OpSpec::priority>("priority of a queue op's items, 0 is first").between(0, 4),
    optional<&OpSpec::note>(note_meaning),
};
constexpr Rule op_rules[] = {needs(op_fields, "pure priority", "queue")};
TIDEGATE_RECORD(OpSpec, op_fields, op_rules);

template <Progression::Form Form>
constexpr Field step_field(std::string_view key, std::string_view meaning) {
  return keyed<&IterationSpec::step, &IterationStep::form, Form, &IterationStep::by>(key, meaning);
}
constexpr Field iteration_fields[] = {
    step_field<Progression::Form::add>(
        "add", "added in every iteration; a float is first + iterations * add, rounded once"),
    step_field<Progression::Form::multiply>("multiply", "multiplied by in every iteration, integers alone"),
    step_field<Progression::Form::divide>(
        "divide", "divided by in every iteration and rounded down, integers from 0 on alone; 2 or more"),
    defaulted<&IterationSpec::round>("whether rounds of the innermost loop count instead of iterations"),
};
constexpr Rule iteration_rules[] = {exactly_one(iteration_fields, "add multiply divide")};
TIDEGATE_RECORD(IterationSpec, iteration_fields, iteration_rules);

template <ElementType Type>
constexpr Field numbers_field(std::string_view meaning) {
  return keyed<&ArgumentSpec::numbers, &TypedNumbers::type, Type, &TypedNumbers::numbers>(
             element_type_names[static_cast<std::size_t>(Type)], meaning)
      .or_single();
}

constexpr Field argument_fields[] = {
    optional<&ArgumentSpec::buffer>("name of a buffer, for a pointer"),
    optional<&ArgumentSpec::access>(
        "what the kernel does with it; with write it reads nothing, and may leave parts unchanged"),
    defaulted<&ArgumentSpec::reinterpret>("whether the kernel is meant to read the elements as another type"),
    optional<&ArgumentSpec::halo>(
        "N: tile t touches only the buffer's elements of tiles t - N to t + N; "
        "or a number for each dimension; left out, it is derived where that is certain. One that is smaller is refused")
        .of(ranged<std::uint32_t, 0, 1048576>)
        .or_single(),
    optional<&ArgumentSpec::rows>(
        "N: work-items i of the outermost dimension touch only rows i - N to i + N, so that ranks share the buffer"),
    optional<&ArgumentSpec::combine>(
        "how the kernel changes integers of 32 or 64 bits by atomics or a store of the largest: ranks combine theirs "
        "after the wave; left out, it is derived where that is certain"),
    optional<&ArgumentSpec::hits>("name of a list of hits, for a pointer that TIDEGATE_HIT appends to"),
    defaulted<&ArgumentSpec::null>("whether it is a null pointer"),
    optional<&ArgumentSpec::image>("name of an image"),
    optional<&ArgumentSpec::sampler>("how an image is read, for a sampler_t"),
    optional<&ArgumentSpec::local_bytes>("local memory, for a local pointer")
        .between(1, std::numeric_limits<std::uint64_t>::max()),
    numbers_field<ElementType::i8>("char value, or several for a vector"),
    numbers_field<ElementType::u8>("uchar value, or several for a vector"),
    numbers_field<ElementType::i16>("short value, or several for a vector"),
    numbers_field<ElementType::u16>("ushort value, or several for a vector"),
    numbers_field<ElementType::i32>("int value, or several for a vector"),
    numbers_field<ElementType::u32>("uint value, or several for a vector"),
    numbers_field<ElementType::i64>("long value, or several for a vector"),
    numbers_field<ElementType::u64>("ulong value, or several for a vector"),
    numbers_field<ElementType::f16>("half value, or several for a vector"),
    numbers_field<ElementType::f32>("float value, or several for a vector"),
    numbers_field<ElementType::f64>("double value, or several for a vector"),
    optional<&ArgumentSpec::structure>(
        "structure by value: members by name; one that changes is {\"i32\": 0, \"iteration\": {\"add\": 1}}")
        .named("struct"),
    optional<&ArgumentSpec::enumeration>("enumeration by value: an enumerator's name, or a number")
        .named("enum"),
    optional<&ArgumentSpec::bytes>("any value as its bytes in memory, two hexadecimal digits each"),
    optional<&ArgumentSpec::iteration>("how a number changes from iteration to iteration"),
    optional<&ArgumentSpec::note>(note_meaning),
};
constexpr std::string_view number_keys = "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64";
constexpr Rule argument_rules[] = {
    exactly_one(
        argument_fields,
        "buffer hits null image sampler local_bytes i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 struct enum bytes",
        true),
    needs(argument_fields, "access reinterpret halo rows combine", "buffer"),
    needs(argument_fields, "iteration", number_keys)};
TIDEGATE_RECORD(ArgumentSpec, argument_fields, argument_rules);

Result<ArgumentSpec> argument_of(const Value& value, const std::string& pointer) {
  static constexpr Document document{
      .kind = "argument", .record = &Description<ArgumentSpec>::record, .has_kind = false};
  static constexpr Field as_value = optional<&ArgumentSpec::structure>("");
  ArgumentSpec argument{.structure = value};
  const std::string json = json_of(as_value, &argument);
  argument.structure.reset();
  if (auto decoded = decode(document, json, &argument); !decoded) {
    const auto place = [&pointer](Error& error) {
      error.pointer = pointer + error.pointer.value_or("");
      error.line.reset(); // of a text that no one sees
      error.column.reset();
    };
    place(decoded.error());
    std::ranges::for_each(decoded.error().others, place);
    return tl::unexpected(std::move(decoded.error()));
  }
  return argument;
}

constexpr Field fill_fields[] = {
    required<&FillSpec::buffer>("name of the buffer"),
    defaulted<&FillSpec::value>("value of every element"),
    defaulted<&FillSpec::offset>("elements before the first one"),
    optional<&FillSpec::count>("elements; left out, up to the end"),
};
TIDEGATE_RECORD(FillSpec, fill_fields);

constexpr Field copy_fields[] = {
    required<&CopySpec::from>("name of the buffer that is read"),
    required<&CopySpec::to>("name of the buffer that is written"),
    defaulted<&CopySpec::from_offset>("elements before the first one that is read"),
    defaulted<&CopySpec::to_offset>("elements before the first one that is written"),
    optional<&CopySpec::count>("elements that are read; left out, up to the end"),
};
TIDEGATE_RECORD(CopySpec, copy_fields);

constexpr Field queue_item_fields[] = {
    optional<&QueueItemSpec::op>("the op that runs it, by its name"),
    optional<&QueueItemSpec::input>("buffer that it reads, by its name"),
    optional<&QueueItemSpec::output>("buffer that it writes, by its name"),
    optional<&QueueItemSpec::op_handle>("instead of op: its place in the queue's list, from 0 on"),
    optional<&QueueItemSpec::input_handle>("instead of input: which of the buffers that the queue lists"),
    optional<&QueueItemSpec::output_handle>("instead of output: likewise"),
    required<&QueueItemSpec::param>("passed to the op"),
};
constexpr Rule queue_item_rules[] = {exactly_one(queue_item_fields, "op op_handle"),
                                     exactly_one(queue_item_fields, "input input_handle"),
                                     exactly_one(queue_item_fields, "output output_handle")};
TIDEGATE_RECORD(QueueItemSpec, queue_item_fields, queue_item_rules);

constexpr Field queue_fields[] = {
    required<&QueueSpec::ops>("names of ops; an item names one of them, or its place in this list"),
    required<&QueueSpec::buffers>(
        "names of buffers, and of lists of hits for outputs; an item names two of them, or their places"),
    optional<&QueueSpec::items>("the items themselves"),
    optional<&QueueSpec::file>("lines of JSON if it ends in .ndjson or .jsonl, else four u32 an item"),
    optional<&QueueSpec::capacity>(
        "how many requeued items may wait at a time; left out, all. If ops publish items: how many may run and wait at a "
        "time, and how many different ones pure ops may have; left out, twice the given ones, at least 1048576")
        .between(0, most_queue_capacity),
    defaulted<&QueueSpec::on_full>(
        "if ops publish more items than have room: the run fails, or runs again with at least twice the capacity"),
    defaulted<&QueueSpec::most_stalled_rounds>(
        "rounds in a row without an item that gets done, after which the run ends")
        .between(1, std::numeric_limits<std::uint32_t>::max()),
    defaulted<&QueueSpec::runs_ahead>(
        "if ops publish items: whether a work-group may run a few of the items that it publishes in the same "
        "round; they may not see what other items of the round write"),
};
constexpr Rule queue_rules[] = {exactly_one(queue_fields, "items file")};
TIDEGATE_RECORD(QueueSpec, queue_fields, queue_rules);

constexpr Field program_dependency_fields[] = {
    required<&ProgramDependency::before>("index or name of the wave that comes first"),
    required<&ProgramDependency::after>("index or name of the wave that waits for it"),
    defaulted<&ProgramDependency::tile_local>(
        "whether tile t of the later wave touches only what tile t of the earlier one wrote"),
    optional<&ProgramDependency::halo>(
        "N: tile t touches only what tiles t - N to t + N of the earlier wave do; or one for each dimension")
        .of(ranged<std::uint32_t, 0, 1048576>)
        .or_single(),
};
TIDEGATE_RECORD(ProgramDependency, program_dependency_fields);

constexpr Field loop_fields[] = {
    required<&LoopSpec::first>("index or name of its first wave"),
    optional<&LoopSpec::last>("index or name of its last wave; left out, the first one"),
    required<&LoopSpec::repeat>("rounds: how often these waves run before the next one").between(1, 65536),
};
TIDEGATE_RECORD(LoopSpec, loop_fields);

constexpr Field until_fields[] = {
    required<&Until::buffer>("name of the buffer whose first element is tested"),
    defaulted<&Until::equals>("the value that ends the repetition"),
};
TIDEGATE_RECORD(Until, until_fields);

constexpr Field program_fields[] = {
    defaulted<&WaveProgram::parameters>(documents::parameters_meaning),
    required<&WaveProgram::buffers>("the program's memory, by name"),
    defaulted<&WaveProgram::images>("its images, by name"),
    defaulted<&WaveProgram::hits>("its lists of hits, by name"),
    required<&WaveProgram::ops>("the kernels that it runs, by name"),
    required<&WaveProgram::waves>("each one kernel over one NDRange"),
    defaulted<&WaveProgram::loops>("waves in a row that run several times in an iteration; loops may nest"),
    optional<&WaveProgram::dependencies>(
        "which wave waits for which; left out, it follows from what the kernels read and write in this order")
        .or_word("derive"),
    optional<&WaveProgram::repeat>("how often the waves run; left out, once, or with until without limit")
        .between(1, std::numeric_limits<std::uint32_t>::max()),
    defaulted<&WaveProgram::swap>("pairs of buffers or images that exchange contents after each iteration"),
    optional<&WaveProgram::until>("condition that ends the repetition early, tested after every iteration"),
    defaulted<&WaveProgram::device_memory_budget_bytes>("device memory at most; 0: what the device has"),
    defaulted<&WaveProgram::policy>("overrides of the standard launch policy"),
    optional<&WaveProgram::note>(note_meaning),
};
TIDEGATE_RECORD(WaveProgram, program_fields);

// The only list of unsupported features: errors and the README refer to it.
constexpr std::string_view what_cannot_be_run[] = {
    "What cannot be run, and is refused with its place in the source:",
    "  pipes (pipe, reserve_id_t)",
    "  device-side enqueue (queue_t, ndrange_t, clk_event_t, enqueue_kernel, …)",
    "  multisampled images (image2d_msaa_t, …)",
    "  variables of file scope outside of constant memory",
    "What a program cannot express:",
    "  a fill or copy of an image (init gives its first contents, a kernel writes it), until one of its texels",
    "  images in the memory of a buffer, mipmapped images, shared virtual memory",
    "  sources in anything but OpenCL C (SPIR-V, C++ for OpenCL)",
    "What the device may lack, and is then refused by name:",
    "  images, a format or size of them, read_write images; sub-group functions",
    "Waves that are launched separately (fallbacks in the report gives the reason):",
    "  kernels with sub-group functions, or with other compiler options than most",
    "  kernels with barriers or local memory in work-groups of another size than most (on GPUs, only if work-items",
    "  of a larger one cannot idle: barriers under a condition or in helpers, loops whose length memory decides), or",
    "  where no self-test of the device has found them right as cases of one kernel (`tidegate devices --probe`)",
    "  kernels that cannot become a function, such as one with local variables that another function calls, or with types",
    "  for them in its body, or with constant arguments and the address of a table in constant memory",
};

template <>
constinit const Document DocumentOf<WaveProgram>::document{
    .kind = "wave_program",
    .title = "OpenCL kernels, buffers, and the waves that run kernels on buffers",
    .direction = Direction::input,
    .record = &Description<WaveProgram>::record,
    .notes = what_cannot_be_run};

} // namespace tidegate::documents
