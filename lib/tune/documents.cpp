#include "tune/documents.hpp"

namespace tidegate::documents {

using tuning::Duel;
using tuning::KnobReport;
using tuning::ThrownOut;
using tuning::TimedValue;
using tuning::TuningReport;

template <>
struct Description<Duel> {
  static const Record record;
};
template <>
struct Description<ThrownOut> {
  static const Record record;
};
template <>
struct Description<TimedValue> {
  static const Record record;
};
template <>
struct Description<KnobReport> {
  static const Record record;
};
template <>
struct Description<TuningReport> {
  static const Record record;
};

namespace {

constexpr Field duel_fields[] = {
    required<&Duel::rounds>("rounds", "pairs of runs, one right after the other"),
    required<&Duel::ratio>("ratio", "of the new time to the old one: median of the rounds"),
    required<&Duel::ratio_low>("ratio_low", "the true median lies from here, with 95 % confidence,"),
    required<&Duel::ratio_high>("ratio_high", "to here; of fewer than six rounds all that were seen"),
    required<&Duel::confidence>("confidence", "that the new one is faster, by the sign test"),
};

constexpr Field thrown_out_fields[] = {
    required<&ThrownOut::value>("value", "the value that was tried"),
    required<&ThrownOut::reason>("reason", "why it does not count"),
};

constexpr Field timed_fields[] = {
    required<&TimedValue::value>("value", "the value that was timed"),
    required<&TimedValue::ratio>("ratio", "of its time to that of the value before: median of the rounds"),
};

constexpr Field knob_fields[] = {
    required<&KnobReport::knob>("knob", "what was turned"),
    required<&KnobReport::verdict>(
        "verdict", "adopted: faster with at least 99 % confidence and by at least 1 %; kept: nothing was; "
                   "nothing_to_try: no other value runs in another way; out_of_time: the budget was over"),
    required<&KnobReport::before>("before", "the value that it had"),
    required<&KnobReport::best>("best", "the best of the others; empty when none was timed"),
    required<&KnobReport::candidates>("candidates", "others that were timed"),
    optional<&KnobReport::duel>("duel", "the best of the others against the value that it had"),
    required<&KnobReport::thrown_out>("thrown_out", "values that were refused, or gave other outputs"),
    required<&KnobReport::timed>("timed", "the others, each with the rounds that it came to"),
};

constexpr Field tuning_report_fields[] = {
    required<&TuningReport::program>("program", "that was measured"),
    required<&TuningReport::device>("device", "on which device"),
    required<&TuningReport::driver_version>("driver_version", "version of its driver"),
    required<&TuningReport::budget_ns>("budget_ns", "that measuring was to take at most"),
    required<&TuningReport::elapsed_ns>("elapsed_ns", "that it took"),
    required<&TuningReport::runs>("runs", "dispatches of the program, in all"),
    required<&TuningReport::before_ns>("before_ns", "a dispatch as it was: median"),
    required<&TuningReport::after_ns>("after_ns", "that times the ratio of what was adopted"),
    optional<&TuningReport::overall>("overall", "all that was adopted against how it was"),
    required<&TuningReport::knobs>("knobs",
                                   "what each of them brought, in the order in which they were turned"),
    required<&TuningReport::profile>("profile", "device profile with what was adopted"),
    required<&TuningReport::policy>("policy", "launch policy with what was adopted"),
};

} // namespace

constinit const Record Description<Duel>::record = record_of<Duel>("duel", duel_fields);
constinit const Record Description<ThrownOut>::record = record_of<ThrownOut>("thrown_out", thrown_out_fields);
constinit const Record Description<TimedValue>::record = record_of<TimedValue>("timed_value", timed_fields);
constinit const Record Description<KnobReport>::record = record_of<KnobReport>("knob_report", knob_fields);
constinit const Record Description<TuningReport>::record =
    record_of<TuningReport>("tuning_report", tuning_report_fields);

constinit const Document DocumentOf<TuningReport>::document{
    .kind = "tuning_report",
    .title = "What was measured to tune a program on a device, and what each knob brought",
    .direction = Direction::output,
    .record = &Description<TuningReport>::record};

} // namespace tidegate::documents
