// The files under report_page/, as the library was built with them.
#pragma once

#include <string_view>

namespace tidegate::commands {

std::string_view page_html();
std::string_view page_style();
std::string_view page_script(); // all of its files, one behind the other

} // namespace tidegate::commands
