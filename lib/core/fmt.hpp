// {fmt} for the precompiled headers: declares the templates that fmt.cpp instantiates, so that no other file
// instantiates them again.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION < 100000 // named as in Debian 12's version 9.1
FMT_BEGIN_NAMESPACE
namespace detail {

extern template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);
extern template appender write_escaped_string(appender, string_view);
extern template counting_iterator write_escaped_string(counting_iterator, string_view);

} // namespace detail
FMT_END_NAMESPACE
#endif
