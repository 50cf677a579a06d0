// OpenCL for C++ as this project uses it: error codes and no exceptions. The functions behind it are those of
// the loader that is found at run time (loader.hpp): nothing links against libOpenCL, so commands that need
// no device do not wait for it and run on machines without it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 110

#include <CL/opencl.hpp>
