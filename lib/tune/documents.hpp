// Description of the document that `tidegate tune measure` writes.
#pragma once
#include "device/documents.hpp"
#include "tune/report.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

TIDEGATE_CHOICES(tuning::Knob, tuning::knob_names);
TIDEGATE_CHOICES(tuning::KnobVerdict, tuning::verdict_names);

TIDEGATE_HAS_DOCUMENT(tuning::TuningReport);

} // namespace tidegate::documents
