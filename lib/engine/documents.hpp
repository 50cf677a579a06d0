// Documents about runs of wave programs.
#pragma once
#include "engine/job.hpp"
#include "engine/run_report.hpp"
#include "runtime/documents.hpp"

namespace tidegate::documents {

TIDEGATE_CHOICES(engine::StressKind, engine::stress_kind_names);
TIDEGATE_CHOICES(engine::DifferenceCause, engine::difference_cause_names);
TIDEGATE_CHOICES(engine::ActiveWalk, engine::active_walk_names);
TIDEGATE_CHOICES(engine::HitOverflow, engine::hit_overflow_names);
TIDEGATE_CHOICES(engine::Side, engine::side_names);
TIDEGATE_CHOICES(engine::Promotion, engine::promotion_names);

TIDEGATE_HAS_RECORD(engine::FirstCandidate);
TIDEGATE_HAS_RECORD(engine::FirstRun);
TIDEGATE_HAS_DOCUMENT(engine::FirstRun); // as it is kept for later runs
TIDEGATE_HAS_DOCUMENT(engine::RunReport);

} // namespace tidegate::documents
