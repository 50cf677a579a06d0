// Every document type that tidegate reads or writes.
#pragma once

namespace tidegate::app {

// Gives core's catalogue the types. To be called before documents are read.
void fill_catalogue();

} // namespace tidegate::app
