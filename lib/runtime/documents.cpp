#include "runtime/documents.hpp"

namespace tidegate::documents {

constexpr Field error_fields[] = {
    required<&Error::code>("stable name of the error"),
    required<&Error::message>("what happened"),
    required<&Error::fix>("what to change"),
    optional<&Error::source>("file of the location"),
    optional<&Error::pointer>("location as an RFC 6901 pointer into the input"),
    optional<&Error::line>("line of the location, counted from 1"),
    optional<&Error::column>("column of the location, in characters counted from 1"),
    optional<&Error::excerpt>("that line of the source"),
    optional<&Error::field>("the field that overflowed, is out of range, is missing or is unknown"),
    optional<&Error::nearest>("the known name closest to an unknown one"),
    optional<&Error::requested>("requested bytes"),
    optional<&Error::available>("bytes that the budget allows"),
    optional<&Error::wave>("index of the wave that depends on itself"),
    optional<&Error::wave_count>("number of waves in the DAG"),
    optional<&Error::before>("first wave of the faulty dependency"),
    optional<&Error::after>("second wave of the faulty dependency"),
    optional<&Error::unscheduled_waves>("waves on a cycle or after one"),
    optional<&Error::cycle>("one cycle: each wave before the next, the last before the first"),
    optional<&Error::required_bytes>("least bytes that are needed"),
    optional<&Error::budget_bytes>("bytes available for them"),
    optional<&Error::capacity_bytes>("largest size of the arena"),
    optional<&Error::best_height_bytes>("bytes of the lowest arena found"),
    optional<&Error::log>("output of the driver's compiler, line by line"),
};
TIDEGATE_RECORD(Error, error_fields);

constexpr Field reported_error_fields[] = {error_fields[0], error_fields[1], error_fields[2],
                                           error_fields[4]};
constinit const Record reported_error = record_of<Error>(reported_error_fields);

std::optional<std::vector<Error>> take_others(Error& error) {
  std::vector<Error> others = std::exchange(error.others, {});
  return others.empty() ? std::nullopt : std::optional(std::move(others));
}

template <>
constinit const Document DocumentOf<Error>::document{.kind = "error",
                                                     .title = "An error, as --errors json prints it",
                                                     .direction = Direction::output,
                                                     .record = &Description<Error>::record,
                                                     .has_kind = false};
using namespace runtime;

constexpr Field device_report_fields[] = {
    required<&DeviceReport::name>("name, as the driver reports it"),
    required<&DeviceReport::driver_version>("version of its driver"),
};
TIDEGATE_RECORD(DeviceReport, device_report_fields);

constexpr Field comparison_fields[] = {
    required<&Comparison::plain_ns>(
        "median of the plain launches: one per wave, of a traversal one for each step"),
    required<&Comparison::run_ns>("median of this run's dispatch"),
    required<&Comparison::speedup>(
        "median over the rounds of the plain launches' time divided by this run's"),
    required<&Comparison::speedup_low>(
        "lower end of the interval that holds the true median with 95 % confidence"),
    required<&Comparison::speedup_high>("upper end of that interval"),
    required<&Comparison::verdict>(
        "faster or slower than plain launches if the interval leaves out 1; same_launches: the run "
        "is the same launches, and what differs is chance; too_few_rounds: fewer than six, so the "
        "interval is the range of all rounds"),
    required<&Comparison::plain_rounds_ns>("every round of the plain launches"),
    required<&Comparison::run_rounds_ns>("every round of this run"),
};
TIDEGATE_RECORD(Comparison, comparison_fields);

constexpr Field stuck_fields[] = {
    required<&StuckGroup::group>("the work-group"),
    required<&StuckGroup::iteration>("counted from 0"),
    required<&StuckGroup::waves>("the waves of that stage"),
    required<&StuckGroup::tile>("its first tile of the stage"),
    required<&StuckGroup::counter>(
        "the counter that it polled: arrivals at the barrier, or the progress of another group"),
    required<&StuckGroup::expected>("value that it waited for"),
    required<&StuckGroup::seen>("value that it read"),
};
TIDEGATE_RECORD(StuckGroup, stuck_fields);

constexpr Field warning_fields[] = {
    required<&Warning::message>("likely mistake in the program"),
    required<&Warning::fix>("what to change"),
    required<&Warning::pointer>("location in the program (RFC 6901)"),
};
TIDEGATE_RECORD(Warning, warning_fields);

constexpr Field written_file_fields[] = {
    required<&WrittenFile::file>("its path"),
    required<&WrittenFile::what>(
        "its content: a buffer, an image, a result, the generated kernel, the trace or the page"),
};
TIDEGATE_RECORD(WrittenFile, written_file_fields);

constexpr Field rank_fields[] = {
    required<&RankReport::rank>("its number, from 0"),
    required<&RankReport::host>("name of the machine"),
    required<&RankReport::device>("name of the device"),
    required<&RankReport::numbers, &RankNumbers::dispatch_ns>("from the first launch to the end of the last"),
    required<&RankReport::numbers, &RankNumbers::traffic, &ranks::Traffic::waiting_ns>(
        "part of dispatch_ns: for messages of other ranks, while the own device did not work either"),
    required<&RankReport::numbers, &RankNumbers::traffic, &ranks::Traffic::bytes_sent>(
        "in messages, from the first launch to the end of the last"),
    required<&RankReport::numbers, &RankNumbers::traffic, &ranks::Traffic::messages>("sent in that time"),
    optional<&RankReport::numbers, &RankNumbers::edges>("of a graph program: edges of its vertices"),
    optional<&RankReport::numbers, &RankNumbers::device_bytes>(
        "device memory: of a graph program of its part, of a wave program of its buffers"),
};
TIDEGATE_RECORD(RankReport, rank_fields);

constexpr Field wave_reason_fields[] = {
    required<&WaveReason::wave>("the wave"),
    required<&WaveReason::reason>("why it does not run as the others do; of ranks also what helps"),
};
TIDEGATE_RECORD(WaveReason, wave_reason_fields);

constexpr Field rank_buffer_fields[] = {
    required<&RankBufferReport::buffer>("the buffer"),
    required<&RankBufferReport::in_parts>(
        "whether each rank has memory for the part alone that it owns or reads; otherwise for all of it"),
    required<&RankBufferReport::bytes_sent>(
        "of its contents, by all ranks, for waves that read what other ranks wrote"),
    required<&RankBufferReport::reason>("why it is not split, or not in parts, and what helps"),
};
TIDEGATE_RECORD(RankBufferReport, rank_buffer_fields);

constexpr Field ranks_fields[] = {
    required<&RanksReport::ranks>("each of them; of a run that ended early the one alone that reports"),
    required<&RanksReport::waves>(
        "waves that rank 0 runs, which then sends the others what they may have written"),
    required<&RanksReport::buffers>("the buffers of a wave program"),
};
TIDEGATE_RECORD(RanksReport, ranks_fields);

constexpr Field run_geometry_fields[] = {
    required<&Geometry::workgroup_size>("work-items of a work-group"),
    required<&Geometry::worker_groups>("work-groups of a persistent launch; 0 without one"),
};
TIDEGATE_RECORD(Geometry, run_geometry_fields);

constexpr Field telemetry_fields[] = {
    required<&Telemetry::bytes_uploaded>(
        "bytes written to the device, from the first upload to the last read-back"),
    required<&Telemetry::bytes_read_back>("bytes read from it, by all reads in that time"),
    required<&Telemetry::bytes_moved>("sum of both"),
    required<&Telemetry::resident_allocations>("buffers and images that the run had on the device"),
    required<&Telemetry::kernel_launches>("kernel launches of the dispatch"),
    required<&Telemetry::filling_launches>(
        "kernel launches outside of the dispatch: those that prepare device memory, and of a program's own "
        "algorithm those that check its laws and its result"),
    required<&Telemetry::sync_points>(
        "calls in which the host waited for the device: every wait, and every read or write "
        "that returns when it is done"),
    required<&Telemetry::occupancy_proxy_bps>(
        "lanes that had an item, divided by those that ran: the work-items of launches, or those of all work-groups in each "
        "turn of a persistent launch or wave of a traversal"),
    required<&Telemetry::frontier_density_bps>(
        "active tiles divided by all tiles of waves that name them; 10000 if no wave does; of a traversal the widest frontier's vertices"),
    required<&Telemetry::readback_buffers>("results that were read back"),
    required<&Telemetry::compiled_pipeline_cache_hit>("whether the generated kernel came from the cache"),
    required<&Telemetry::resident_input_cache_hit>(
        "whether the device had all inputs from earlier requests of a stream, and none was read or uploaded"),
    required<&Telemetry::topology>("the policy's topology"),
    required<&Telemetry::pressure>(
        "the policy's class of the queue, with its requeues, on the work-items that ran at once; the evidence has "
        "that of the geometry that the policy recommends, before the run"),
    required<&Telemetry::execution_mode>("the mode that was run"),
    required<&Telemetry::hit_capacity>("the policy's hit capacity"),
    required<&Telemetry::estimated_peak_device_bytes>("the policy's estimate"),
    required<&Telemetry::device_memory_budget_bytes>("the budget; 0: none"),
};
TIDEGATE_RECORD(Telemetry, telemetry_fields);

} // namespace tidegate::documents
