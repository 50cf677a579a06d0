// Where in a text the values stand that errors point to.
#pragma once

#include <tidegate/core/error.hpp>

#include <string_view>

namespace tidegate::documents {

// Gives the errors that point into the document `json` (RFC 6901) the line and column of the value, or of
// what it would be in when it is left out, and puts them into the order of the document. Errors that have a
// line already keep it; those without a place, and those in other files, come last.
void locate(Error& error, std::string_view json);

// `error`, located.
inline Error located(Error error, std::string_view json) {
  locate(error, json);
  return error;
}

} // namespace tidegate::documents
