#include <tidegate/device/icd_loader.hpp>

#include <dlfcn.h>

#include <array>
#include <cstddef>

namespace tidegate::device {
namespace {

constexpr const char* loader_file = "libOpenCL.so.1";

// The query of the extension cl_loader_info: clGetICDLoaderInfoOCLICD(name, size, value, size_returned).
using LoaderInfo = int (*)(unsigned name, std::size_t size, void* value, std::size_t* size_returned);
constexpr unsigned loader_ocl_version = 1;
constexpr unsigned loader_version = 2;
constexpr unsigned loader_name = 3;

std::string query(LoaderInfo info, unsigned name) {
  std::array<char, 256> value{};
  return info(name, value.size(), value.data(), nullptr) == 0 ? value.data() : "";
}

} // namespace

std::string icd_loader() {
  // Never closed: ocl-icd forgets what it has allocated when it is unloaded.
  void* const library = ::dlopen(loader_file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    return "none";
  }
  // The query is an extension, which a loader hands out by name and does not export.
  using ExtensionAddress = void* (*)(const char* name);
  const auto address = reinterpret_cast<ExtensionAddress>(::dlsym(library, "clGetExtensionFunctionAddress"));
  const auto info =
      address == nullptr ? nullptr : reinterpret_cast<LoaderInfo>(address("clGetICDLoaderInfoOCLICD"));
  if (info == nullptr) {
    return loader_file;
  }
  return query(info, loader_name) + " " + query(info, loader_version) + " (" +
         query(info, loader_ocl_version) + ")";
}

} // namespace tidegate::device
