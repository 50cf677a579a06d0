// Describes the documents about devices.
#include <tidegate/device/device_list.hpp>

namespace tidegate::documents {

using namespace device;

constexpr Field megakernel_fields[] = {
    required<&Megakernel::supported>("whether the device's limits allow one"),
    optional<&Megakernel::max_worker_count>("work-groups that can run concurrently, where that is known"),
    required<&Megakernel::reason>("reason in words"),
};
TIDEGATE_RECORD(Megakernel, megakernel_fields);

constexpr Field trial_fields[] = {
    required<&OrderingTrial::ordering>("how work-groups publish and observe writes"),
    required<&OrderingTrial::verdict>("whether the litmus test passed"),
    optional<&OrderingTrial::barrier_ns>("time of one barrier of all resident work-groups"),
};
TIDEGATE_RECORD(OrderingTrial, trial_fields);

constexpr Field traversal_fields[] = {
    optional<&TraversalProfile::strategy>(
        "launch by launch, or persistent with barriers; left out, launch on a CPU, barrier elsewhere")
        .with(&Type::choices, Choices<Strategy>::names.first(2)),
    optional<&TraversalProfile::workers>("work-groups; left out, by the device's compute units")
        .between(1, ~std::uint32_t{0}),
    optional<&TraversalProfile::alone_up_to>(
        "largest frontier that one work-group processes alone, in vertices; left out, 2048 on a CPU and "
        "256 elsewhere"),
    optional<&TraversalProfile::switch_rule>("rule that switches topologies; left out, edges"),
};
TIDEGATE_RECORD(TraversalProfile, traversal_fields);

constexpr Field tuning_fields[] = {
    optional<&Tuning::strategy>("launch strategy of programs; auto: chosen by estimates").or_word("auto"),
    optional<&Tuning::mapping>("which work-group runs which tiles; auto: chosen by estimates")
        .named("order")
        .or_word("auto"),
    defaulted<&Tuning::side_by_side>(
        "tiles that a work-group of a persistent launch runs at a time; 0: chosen by estimates")
        .between(0, 1024),
    defaulted<&Tuning::workers>("most work-groups of a persistent launch; 0: derived from the tiles"),
    defaulted<&Tuning::work_items_per_unit>(
        "work-items for which each compute unit of NVIDIA has to have registers in a persistent launch: more hide more "
        "latency, fewer have more registers; 0: by the sizes of stages")
        .between(0, 2048),
    defaulted<&Tuning::open_workgroup_size>(
        "most work-items per work-group where a program leaves local_size open")
        .between(1, 65'536),
    defaulted<&Tuning::slice_ns>("longest time that one persistent launch should take")
        .between(1, 10'000'000'000),
    defaulted<&Tuning::plain_iteration_ns>(
        "what plain launches took for an iteration where a first run chose a persistent launch on a CPU; a run "
        "that takes far longer is ended and repeated by plain launches; 0 for no such limit"),
    defaulted<&Tuning::active_tiles_bps>(
        "share of active tiles for which a first run chose, in ten-thousandths: after a run with another one the "
        "next run measures again; 0 for any")
        .between(0, 10'000),
    defaulted<&Tuning::most_pinned_bytes>(
        "most host memory to pin for inputs of a GPU, and again for its outputs"),
    defaulted<&Tuning::queue_lanes>("work-items of a work-group that drains a queue").between(1, 1024),
    defaulted<&Tuning::queue_items_per_lane>("items of a long queue that each work-item processes")
        .between(1, 32),
    defaulted<&Tuning::queue_many_items>("number of items from which a queue is long")
        .between(1, ~std::uint32_t{0}),
};
TIDEGATE_RECORD(Tuning, tuning_fields);

constexpr Field parts_fields[] = {
    required<&CostParts::start>("start of the run, and detection of its end by the host"),
    required<&CostParts::launches>("launches of kernels"),
    required<&CostParts::barriers>("barriers of all work-groups of a persistent launch"),
    required<&CostParts::waits>("waits of a work-group for a few others"),
    required<&CostParts::work>("execution of tiles that launches do not hide"),
};
TIDEGATE_RECORD(CostParts, parts_fields);

constexpr Field costs_fields[] = {
    defaulted<&DeviceCosts::persistent_start_ns>("a persistent launch and the wait for its end"),
    defaulted<&DeviceCosts::barrier_ns>("fixed time of a barrier of all work-groups"),
    defaulted<&DeviceCosts::barrier_group_ns>("additional barrier time per work-group"),
    defaulted<&DeviceCosts::wait_ns>("a wait for a neighbour that arrives at the same time"),
    defaulted<&DeviceCosts::tile_ns>("time of a tile from its first read to its last write"),
    defaulted<&DeviceCosts::next_tile_ns>("additional time per further tile of the same work-group"),
    defaulted<&DeviceCosts::descriptor_ns>("time to read a tile's arguments in an interpreter"),
    defaulted<&DeviceCosts::cached_bytes_per_ns>("bandwidth (reads and writes) of data that fits the caches"),
    defaulted<&DeviceCosts::memory_bytes_per_ns>("bandwidth (reads and writes) of data that does not"),
    defaulted<&DeviceCosts::cache_bytes>("capacity of the caches"),
};
TIDEGATE_RECORD(DeviceCosts, costs_fields);

constexpr Field profile_fields[] = {
    required<&DeviceProfile::device>("name of the device"),
    required<&DeviceProfile::driver_version>("version of its driver"),
    required<&DeviceProfile::tidegate>("version of the tool that measured"),
    required<&DeviceProfile::workgroup_size>("work-items of each measured work-group"),
    required<&DeviceProfile::co_resident_groups>("work-groups that can run concurrently"),
    optional<&DeviceProfile::ordering>(
        "the first ordering that passed and that no other one is clearly faster than"),
    required<&DeviceProfile::trials>("every memory ordering that was tried"),
    defaulted<&DeviceProfile::barrier_kernels_share>(
        "whether kernels with barriers compute the same as cases of one kernel as they do "
        "alone; otherwise each is launched separately"),
    required<&DeviceProfile::launch_ns>("time of one launch in a long series"),
    required<&DeviceProfile::launch_round_trip_ns>("time of a launch and the wait for it"),
    defaulted<&DeviceProfile::costs>("times of waits and memory accesses, for the cost model"),
    optional<&DeviceProfile::traversal>("settings of traversals"),
    defaulted<&DeviceProfile::tuning>("settings of a run's choices"),
    optional<&DeviceProfile::tuned_for>("the program that the tuning was measured with"),
};
TIDEGATE_RECORD(DeviceProfile, profile_fields);

constexpr Field device_fields[] = {
    required<&DeviceInfo::index>("number of the device, counted over all platforms"),
    required<&DeviceInfo::name>("name, as the driver reports it"),
    required<&DeviceInfo::type>("kind of device"),
    optional<&DeviceInfo::uuid>("universally unique identifier"),
    required<&DeviceInfo::vendor>("vendor"),
    required<&DeviceInfo::platform>("OpenCL platform that it belongs to"),
    required<&DeviceInfo::opencl_version>("version of OpenCL"),
    required<&DeviceInfo::driver_version>("version of the driver"),
    required<&DeviceInfo::available>("whether it can be used now"),
    required<&DeviceInfo::compiler_available>("whether the driver compiles kernels"),
    required<&DeviceInfo::compute_units>("parallel compute units"),
    required<&DeviceInfo::max_workgroup_size>("most work-items of a work-group"),
    required<&DeviceInfo::max_work_item_sizes>("most work-items of a work-group in each dimension"),
    required<&DeviceInfo::global_memory_bytes>("global memory"),
    required<&DeviceInfo::max_allocation_bytes>("largest buffer"),
    required<&DeviceInfo::local_memory_bytes>("local memory of a work-group"),
    required<&DeviceInfo::base_alignment_bytes>("alignment of a sub-buffer's start"),
    required<&DeviceInfo::int64_atomics>("whether kernels can use 64-bit atomics"),
    required<&DeviceInfo::images>("whether kernels can use images and samplers"),
    required<&DeviceInfo::max_read_images>("most images that a kernel can read"),
    required<&DeviceInfo::max_read_write_images>("most images that a kernel can both read and write"),
    required<&DeviceInfo::max_samplers>("most samplers of a kernel"),
    required<&DeviceInfo::extensions>("extensions, separated by spaces"),
    required<&DeviceInfo::megakernel>("whether a persistent launch is possible"),
    optional<&DeviceInfo::profile>("result of the self-test, with --probe"),
};
TIDEGATE_RECORD(DeviceInfo, device_fields);

constexpr Field broken_fields[] = {
    required<&BrokenDriver::file>("the .icd file that names the driver"),
    required<&BrokenDriver::problem>("why it cannot be used"),
};
TIDEGATE_RECORD(BrokenDriver, broken_fields);

constexpr Field list_fields[] = {
    required<&DeviceList::devices>("every device, platform by platform"),
    required<&DeviceList::broken_drivers>("drivers that the loader skips"),
    required<&DeviceList::notes>("other remarks, such as platforms without devices"),
};
TIDEGATE_RECORD(DeviceList, list_fields);

TIDEGATE_DOCUMENT(DeviceProfile, "device_profile", "Measurements of a device", Direction::output);
TIDEGATE_DOCUMENT(DeviceList, "device_list", "The OpenCL devices of this machine", Direction::output);

} // namespace tidegate::documents
