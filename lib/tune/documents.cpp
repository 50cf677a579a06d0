#include "tune/documents.hpp"

namespace tidegate::documents {

using tuning::Duel;
using tuning::KnobReport;
using tuning::ThrownOut;
using tuning::TimedValue;
using tuning::TuningReport;

constexpr Field duel_fields[] = {
    required<&Duel::rounds>("rounds", "pairs of consecutive runs"),
    required<&Duel::ratio>("ratio", "new time divided by old time, median of the rounds"),
    required<&Duel::ratio_low>("ratio_low", "lower bound of the true median with 95 % confidence"),
    required<&Duel::ratio_high>("ratio_high",
                                "upper bound; with fewer than six rounds the range of all of them"),
    required<&Duel::confidence>("confidence", "confidence that the new one is faster, by the sign test"),
};
template <>
constinit const Record Description<Duel>::record = record_of<Duel>(duel_fields);

constexpr Field thrown_out_fields[] = {
    required<&ThrownOut::value>("value", "tried value"),
    required<&ThrownOut::reason>("reason", "why it was rejected"),
};
template <>
constinit const Record Description<ThrownOut>::record = record_of<ThrownOut>(thrown_out_fields);

constexpr Field timed_fields[] = {
    required<&TimedValue::value>("value", "timed value"),
    required<&TimedValue::ratio>("ratio",
                                 "its time divided by that of the previous value, median of the rounds"),
};
template <>
constinit const Record Description<TimedValue>::record = record_of<TimedValue>(timed_fields);

constexpr Field knob_fields[] = {
    required<&KnobReport::knob>("knob", "varied setting"),
    required<&KnobReport::verdict>(
        "verdict", "adopted: faster with at least 99 % confidence and by at least 1 %; kept: no value was; "
                   "nothing_to_try: no other value changes the run; out_of_time: the budget ran out"),
    required<&KnobReport::before>("before", "previous value"),
    required<&KnobReport::best>("best", "best other value; empty if none was timed"),
    required<&KnobReport::configurations>("candidates", "number of other values that were timed"),
    optional<&KnobReport::duel>("duel", "best other value against the previous value"),
    required<&KnobReport::thrown_out>("thrown_out", "values that were refused or changed the outputs"),
    required<&KnobReport::timed>("timed", "timed other values"),
};
template <>
constinit const Record Description<KnobReport>::record = record_of<KnobReport>(knob_fields);

constexpr Field tuning_report_fields[] = {
    required<&TuningReport::program>("program", "measured program"),
    required<&TuningReport::device>("device", "name of the device"),
    required<&TuningReport::driver_version>("driver_version", "version of the driver"),
    required<&TuningReport::budget_ns>("budget_ns", "longest time that measuring may take"),
    required<&TuningReport::elapsed_ns>("elapsed_ns", "time that measuring took"),
    required<&TuningReport::runs>("runs", "total dispatches of the program"),
    required<&TuningReport::before_ns>("before_ns", "median time of a dispatch before tuning"),
    required<&TuningReport::after_ns>("after_ns", "before_ns times the ratio of the adopted settings"),
    optional<&TuningReport::overall>("overall", "all adopted settings against the previous ones"),
    required<&TuningReport::knobs>("knobs", "result of each knob, in the order of the measurements"),
    required<&TuningReport::profile>("profile", "device profile with the adopted settings"),
    required<&TuningReport::policy>("policy", "launch policy with the adopted settings"),
};
template <>
constinit const Record Description<TuningReport>::record = record_of<TuningReport>(tuning_report_fields);

template <>
constinit const Document DocumentOf<TuningReport>::document = document_of<TuningReport>(
    "tuning_report", "Measurements that tuned a program on a device, knob by knob", Direction::output);

} // namespace tidegate::documents
