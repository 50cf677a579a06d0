// Compiles {fmt}'s definitions once for the whole project. Debian's shared library takes longer to load than
// a recommendation takes to compute, and the header-only variant takes longer to compile than the including
// code. The `extern template` declarations of {fmt}'s headers and of prelude.hpp determine which templates we
// instantiate here; the linker reports a missing one.
#include "core/prelude.hpp"

#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);
template appender write_escaped_string(appender, string_view);
template counting_iterator write_escaped_string(counting_iterator, string_view);

} // namespace detail
FMT_END_NAMESPACE
