#include "device/documents.hpp"

namespace tidegate::documents {

using device::BrokenDriver;
using device::CostParts;
using device::DeviceCosts;
using device::DeviceInfo;
using device::DeviceList;
using device::DeviceProfile;
using device::Megakernel;
using device::OrderingTrial;
using device::TraversalProfile;
using device::Tuning;

template <>
struct Description<Megakernel> {
  static const Record record;
};
template <>
struct Description<OrderingTrial> {
  static const Record record;
};
template <>
struct Description<TraversalProfile> {
  static const Record record;
};
template <>
struct Description<DeviceCosts> {
  static const Record record;
};
template <>
struct Description<Tuning> {
  static const Record record;
};
template <>
struct Description<DeviceInfo> {
  static const Record record;
};
template <>
struct Description<BrokenDriver> {
  static const Record record;
};
template <>
struct Description<DeviceList> {
  static const Record record;
};

namespace {

constexpr Field megakernel_fields[] = {
    required<&Megakernel::supported>("supported", "whether the device's limits allow one"),
    optional<&Megakernel::max_worker_count>("max_worker_count",
                                            "work-groups that are resident together, where that is known"),
    required<&Megakernel::reason>("reason", "why, in words"),
};

constexpr Field trial_fields[] = {
    required<&OrderingTrial::ordering>("ordering", "how work-groups publish and see what they write"),
    required<&OrderingTrial::verdict>("verdict", "whether the litmus test passed"),
    optional<&OrderingTrial::barrier_ns>("barrier_ns", "a barrier of all resident work-groups"),
};

constexpr Field traversal_fields[] = {
    optional<&TraversalProfile::strategy>(
        "strategy",
        "launch by launch, or persistent with barriers; left out, launch on a CPU, barrier elsewhere"),
    optional<&TraversalProfile::workers>("workers", "work-groups; left out, by the device's compute units")
        .between(1, ~std::uint32_t{0}),
    optional<&TraversalProfile::alone_up_to>(
        "alone_up_to",
        "vertices of a frontier that one work-group works alone; left out, 2048 on a CPU and 256 elsewhere"),
    optional<&TraversalProfile::switch_rule>("switch_rule", "what changes topologies; left out, edges"),
};

constexpr Field tuning_fields[] = {
    defaulted<&Tuning::strategy>("strategy", "in how many launches programs run; auto: as estimated"),
    defaulted<&Tuning::order>("order", "which work-group runs which tiles; auto: as estimated"),
    defaulted<&Tuning::side_by_side>(
        "side_by_side", "tiles that a work-group of a persistent launch runs at a time; 0: as estimated")
        .between(0, 1024),
    defaulted<&Tuning::workers>("workers", "work-groups of a persistent launch at most; 0: by the tiles"),
    defaulted<&Tuning::open_workgroup_size>(
        "open_workgroup_size", "work-items of a work-group at most, where a program leaves local_size open")
        .between(1, 65'536),
    defaulted<&Tuning::slice_ns>("slice_ns", "that one persistent launch should take at most")
        .between(1, 10'000'000'000),
    defaulted<&Tuning::scales>("scales", "how many times the cost model's figure each part of a run took"),
    defaulted<&Tuning::most_pinned_bytes>(
        "most_pinned_bytes",
        "host memory that is pinned at most for what a GPU gets, and as much for what it gives back"),
    defaulted<&Tuning::queue_lanes>("queue_lanes", "work-items of a work-group that drains a queue")
        .between(1, 1024),
    defaulted<&Tuning::queue_items_per_lane>("queue_items_per_lane",
                                             "items of a queue that a work-item has, where there are many")
        .between(1, 32),
    defaulted<&Tuning::queue_many_items>("queue_many_items", "items of a queue that are many")
        .between(1, ~std::uint32_t{0}),
    defaulted<&Tuning::persistent_margin>(
        "persistent_margin",
        "how many times starting and meeting in a persistent launch count against launches"),
    defaulted<&Tuning::side_by_side_work_items>(
        "side_by_side_work_items", "work-items of a work-group that runs tiles side by side, at most")
        .between(1, 65'536),
};

constexpr Field parts_fields[] = {
    required<&CostParts::start>("start", "beginning, and the host's knowing of the end"),
    required<&CostParts::launches>("launches", "each launch"),
    required<&CostParts::barriers>("barriers", "of all work-groups of a persistent launch"),
    required<&CostParts::waits>("waits", "of its work-groups for few others"),
    required<&CostParts::work>("work", "the tiles, as far as launches do not hide them"),
};

constexpr Field costs_fields[] = {
    defaulted<&DeviceCosts::persistent_start_ns>("persistent_start_ns",
                                                 "a persistent launch and the wait for its end"),
    defaulted<&DeviceCosts::barrier_ns>("barrier_ns", "a barrier of all work-groups, however few they are"),
    defaulted<&DeviceCosts::barrier_group_ns>("barrier_group_ns", "that each of them adds"),
    defaulted<&DeviceCosts::wait_ns>("wait_ns", "a wait for a neighbour that has just come so far"),
    defaulted<&DeviceCosts::tile_ns>("tile_ns", "a tile from its first read to its last write"),
    defaulted<&DeviceCosts::next_tile_ns>("next_tile_ns", "that another tile of the same work-group adds"),
    defaulted<&DeviceCosts::descriptor_ns>("descriptor_ns", "reading a tile's arguments in an interpreter"),
    defaulted<&DeviceCosts::cached_bytes_per_ns>("cached_bytes_per_ns",
                                                 "read and written, of what the caches hold"),
    defaulted<&DeviceCosts::memory_bytes_per_ns>("memory_bytes_per_ns",
                                                 "read and written, of what they do not"),
    defaulted<&DeviceCosts::cache_bytes>("cache_bytes", "that they hold"),
};

constexpr Field profile_fields[] = {
    required<&DeviceProfile::device>("device", "name of the device"),
    required<&DeviceProfile::driver_version>("driver_version", "version of its driver"),
    required<&DeviceProfile::tidegate>("tidegate", "version of the tool that measured"),
    required<&DeviceProfile::workgroup_size>("workgroup_size",
                                             "work-items of the work-groups that were measured"),
    required<&DeviceProfile::co_resident_groups>("co_resident_groups",
                                                 "work-groups that are resident together"),
    optional<&DeviceProfile::ordering>("ordering", "of those that passed the one with the fastest barrier"),
    required<&DeviceProfile::trials>("trials", "every memory ordering that was tried"),
    defaulted<&DeviceProfile::barrier_kernels_share>(
        "barrier_kernels_share", "kernels with barriers gave as cases of one kernel what they gave by "
                                 "themselves; otherwise each is launched by itself"),
    required<&DeviceProfile::launch_ns>("launch_ns", "one of many launches in a row"),
    required<&DeviceProfile::launch_round_trip_ns>("launch_round_trip_ns", "a launch and the wait for it"),
    required<&DeviceProfile::claimed_items_per_second>("claimed_items_per_second",
                                                       "items of a queue, claimed in batches of 256"),
    defaulted<&DeviceProfile::costs>("costs", "what waiting and touching memory cost, for the cost model"),
    optional<&DeviceProfile::traversal>("traversal", "where traversals change their ways"),
    defaulted<&DeviceProfile::tuning>("tuning", "what the choices of a run rest on"),
    optional<&DeviceProfile::tuned_for>("tuned_for", "the program that it was measured with"),
};

constexpr Field device_fields[] = {
    required<&DeviceInfo::index>("index", "number of the device, counted over all platforms"),
    required<&DeviceInfo::name>("name", "name, in the driver's words"),
    required<&DeviceInfo::type>("type", "kind of device"),
    optional<&DeviceInfo::uuid>("uuid", "universally unique identifier"),
    required<&DeviceInfo::vendor>("vendor", "who made it"),
    required<&DeviceInfo::platform>("platform", "OpenCL platform that it belongs to"),
    required<&DeviceInfo::opencl_version>("opencl_version", "version of OpenCL"),
    required<&DeviceInfo::opencl_c_version>("opencl_c_version", "version of OpenCL C"),
    required<&DeviceInfo::driver_version>("driver_version", "version of the driver"),
    required<&DeviceInfo::available>("available", "whether it can be used now"),
    required<&DeviceInfo::compiler_available>("compiler_available", "whether the driver compiles kernels"),
    required<&DeviceInfo::compute_units>("compute_units", "parallel compute units"),
    required<&DeviceInfo::max_clock_mhz>("max_clock_mhz", "highest clock, in MHz"),
    required<&DeviceInfo::max_workgroup_size>("max_workgroup_size", "work-items of a work-group at most"),
    required<&DeviceInfo::max_work_item_sizes>("max_work_item_sizes",
                                               "work-items of a work-group at most, by dimension"),
    required<&DeviceInfo::global_memory_bytes>("global_memory_bytes", "global memory"),
    required<&DeviceInfo::max_allocation_bytes>("max_allocation_bytes", "largest buffer"),
    required<&DeviceInfo::local_memory_bytes>("local_memory_bytes", "local memory of a work-group"),
    required<&DeviceInfo::dedicated_local_memory>("dedicated_local_memory",
                                                  "whether local memory is memory of its own"),
    required<&DeviceInfo::constant_memory_bytes>("constant_memory_bytes", "largest constant argument"),
    required<&DeviceInfo::global_cache_bytes>("global_cache_bytes", "cache of global memory"),
    required<&DeviceInfo::cache_line_bytes>("cache_line_bytes", "line of that cache"),
    required<&DeviceInfo::base_alignment_bytes>("base_alignment_bytes", "alignment of a sub-buffer's start"),
    required<&DeviceInfo::max_argument_bytes>("max_argument_bytes",
                                              "arguments of a kernel at most, together"),
    required<&DeviceInfo::timer_resolution_ns>("timer_resolution_ns", "step of the clock of event profiling"),
    required<&DeviceInfo::double_precision>("double_precision", "double in kernels"),
    required<&DeviceInfo::half_precision>("half_precision", "half in kernels"),
    required<&DeviceInfo::int64_atomics>("int64_atomics", "64-bit atomics in kernels"),
    required<&DeviceInfo::images>("images", "images and samplers in kernels"),
    required<&DeviceInfo::max_read_images>("max_read_images", "images that a kernel reads, at most"),
    required<&DeviceInfo::max_write_images>("max_write_images", "images that a kernel writes, at most"),
    required<&DeviceInfo::max_read_write_images>("max_read_write_images",
                                                 "images that a kernel reads and writes, at most"),
    required<&DeviceInfo::max_samplers>("max_samplers", "samplers of a kernel at most"),
    required<&DeviceInfo::max_sub_groups>("max_sub_groups",
                                          "sub-groups of a work-group at most; 0 without that query"),
    required<&DeviceInfo::extensions>("extensions", "extensions, divided by spaces"),
    required<&DeviceInfo::megakernel>("megakernel", "whether a persistent launch is possible"),
    optional<&DeviceInfo::profile>("profile", "what the self-test found, when --probe asked for it"),
};

constexpr Field broken_fields[] = {
    required<&BrokenDriver::file>("file", "the .icd file that names the driver"),
    required<&BrokenDriver::problem>("problem", "why it cannot be used"),
};

constexpr Field list_fields[] = {
    required<&DeviceList::devices>("devices", "every device, platform by platform"),
    required<&DeviceList::broken_drivers>("broken_drivers", "drivers that the loader passes over"),
    required<&DeviceList::notes>("notes",
                                 "what else a reader should know, such as platforms without devices"),
};

} // namespace

constinit const Record Description<Megakernel>::record =
    record_of<Megakernel>("megakernel", megakernel_fields);
constinit const Record Description<OrderingTrial>::record =
    record_of<OrderingTrial>("ordering_trial", trial_fields);
constinit const Record Description<TraversalProfile>::record =
    record_of<TraversalProfile>("traversal_profile", traversal_fields);
constinit const Record Description<CostParts>::record = record_of<CostParts>("cost_parts", parts_fields);
constinit const Record Description<DeviceCosts>::record =
    record_of<DeviceCosts>("device_costs", costs_fields);
constinit const Record Description<Tuning>::record = record_of<Tuning>("tuning", tuning_fields);
constinit const Record Description<DeviceProfile>::record =
    record_of<DeviceProfile>("device_profile", profile_fields);
constinit const Record Description<DeviceInfo>::record = record_of<DeviceInfo>("device", device_fields);
constinit const Record Description<BrokenDriver>::record =
    record_of<BrokenDriver>("broken_driver", broken_fields);
constinit const Record Description<DeviceList>::record = record_of<DeviceList>("device_list", list_fields);

constinit const Document DocumentOf<DeviceProfile>::document{.kind = "device_profile",
                                                             .title = "What was measured of a device",
                                                             .direction = Direction::output,
                                                             .record = &Description<DeviceProfile>::record};
constinit const Document DocumentOf<DeviceList>::document{.kind = "device_list",
                                                          .title = "The OpenCL devices of this machine",
                                                          .direction = Direction::output,
                                                          .record = &Description<DeviceList>::record};

} // namespace tidegate::documents
