#include <tidegate/documents/tuning_documents.hpp>

namespace tidegate::documents {

template <>
struct Description<MeasuredCosts> {
  static const Record record;
};
template <>
struct Description<TuningChoice> {
  static const Record record;
};
template <>
struct Description<NaturalGradient> {
  static const Record record;
};
template <>
struct Description<NaturalGradientStep> {
  static const Record record;
};

namespace {

constexpr Field measured_costs_fields[] = {
    required<&MeasuredCosts::candidates>("candidates", "values that were tried"),
    required<&MeasuredCosts::costs>("costs",
                                    "what each cost, in any one unit; paired up to the shorter list"),
    required<&MeasuredCosts::current>("current", "the value in use, which stands when nothing was measured"),
};

constexpr Field choice_fields[] = {
    required<&TuningChoice::value>("value", "the candidate with the lowest cost, the first of equals"),
};

constexpr Field gradient_fields[] = {
    required<&NaturalGradient::m_inv_sqrt>("m_inv_sqrt", "the preconditioner, n times n, row by row"),
    required<&NaturalGradient::grad>("grad", "the gradient, n values"),
    required<&NaturalGradient::n>("n", "dimension"),
    required<&NaturalGradient::learning_rate>("learning_rate", "step size"),
};

constexpr Field step_fields[] = {
    required<&NaturalGradientStep::output>("output",
                                           "the step; empty when the matrix or the gradient is too short"),
    optional<&NaturalGradientStep::diagnostics>("diagnostics", diagnostics_meaning),
};

} // namespace

constinit const Record Description<MeasuredCosts>::record =
    record_of<MeasuredCosts>("measured_costs", measured_costs_fields);
constinit const Record Description<TuningChoice>::record =
    record_of<TuningChoice>("tuning_choice", choice_fields);
constinit const Record Description<NaturalGradient>::record =
    record_of<NaturalGradient>("natural_gradient", gradient_fields);
constinit const Record Description<NaturalGradientStep>::record =
    record_of<NaturalGradientStep>("natural_gradient_step", step_fields);

constinit const Document DocumentOf<MeasuredCosts>::document{.kind = "measured_costs",
                                                             .title = "Candidates and what they cost",
                                                             .direction = Direction::input,
                                                             .record = &Description<MeasuredCosts>::record};
constinit const Document DocumentOf<TuningChoice>::document{.kind = "tuning_choice",
                                                            .title = "The cheapest candidate",
                                                            .direction = Direction::output,
                                                            .record = &Description<TuningChoice>::record};
constinit const Document DocumentOf<NaturalGradient>::document{.kind = "natural_gradient",
                                                               .title = "A gradient and its preconditioner",
                                                               .direction = Direction::input,
                                                               .record =
                                                                   &Description<NaturalGradient>::record};
constinit const Document DocumentOf<NaturalGradientStep>::document{
    .kind = "natural_gradient_step",
    .title = "A natural-gradient step",
    .direction = Direction::output,
    .record = &Description<NaturalGradientStep>::record};

} // namespace tidegate::documents
