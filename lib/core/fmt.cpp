// {fmt}, compiled once for the whole project. Debian has it as a shared library, which takes longer to load
// than a recommendation takes, and as headers, which as definitions take longer to compile than what includes
// them: so its definitions are compiled here, and everything else sees declarations. What templates have to
// be instantiated is said by the `extern template` and the bodiless templates of its headers and of fmt.hpp;
// a linker would name one that is missing.
#include "core/fmt.hpp"

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
