// The OpenCL ICD loader of this machine, if there is one.
#pragma once

#include <string>

namespace tidegate::device {

// "NAME VERSION (OpenCL X.Y)" of the loader found at run time, its file name when it does not say more, or
// "none". The loader is opened for this question only, so that commands which need no device do not wait for
// it.
std::string icd_loader();

} // namespace tidegate::device
