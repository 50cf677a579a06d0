// Launches a chain of waves with the C interface of OpenCL, as a programmer would: one launch after another on an in-order queue;
// input and output buffer swap after each. Prints for each round a line with the nanoseconds from the first enqueue to the end of
// clFinish.
//   plain_chain DEVICE_NAME SOURCE KERNEL TILES COUNT WAVES ROUNDS
#include <CL/cl.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

void require(cl_int code, const char* what) {
  if (code != CL_SUCCESS) {
    std::fprintf(stderr, "plain_chain: %s failed with error %d\n", what, code);
    std::exit(1);
  }
}

cl_device_id device_named(const std::string& name) {
  std::array<cl_platform_id, 16> platforms{};
  cl_uint platform_count = 0;
  require(clGetPlatformIDs(platforms.size(), platforms.data(), &platform_count), "clGetPlatformIDs");
  for (cl_uint p = 0; p < platform_count; ++p) {
    std::array<cl_device_id, 64> devices{};
    cl_uint device_count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, devices.size(), devices.data(), &device_count) !=
        CL_SUCCESS) {
      continue;
    }
    for (cl_uint d = 0; d < device_count; ++d) {
      std::array<char, 1024> text{};
      require(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, text.size(), text.data(), nullptr),
              "clGetDeviceInfo");
      if (name == text.data()) {
        return devices[d];
      }
    }
  }
  std::fprintf(stderr, "plain_chain: no device is named %s\n", name.c_str());
  std::exit(1);
}

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 8) {
    std::fprintf(stderr, "usage: plain_chain DEVICE_NAME SOURCE KERNEL TILES COUNT WAVES ROUNDS\n");
    return 2;
  }
  cl_device_id device = device_named(arguments[1]);
  std::ifstream file(arguments[2]);
  const std::string source(std::istreambuf_iterator<char>(file), {});
  const char* kernel_name = arguments[3];
  const std::size_t global_size = std::strtoull(arguments[4], nullptr, 10) * 256;
  const cl_uint count = static_cast<cl_uint>(std::strtoul(arguments[5], nullptr, 10));
  const int waves = std::atoi(arguments[6]);
  const int rounds = std::atoi(arguments[7]);

  cl_int error = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  require(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &error);
  require(error, "clCreateCommandQueueWithProperties");
  const char* text = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
  require(error, "clCreateProgramWithSource");
  require(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, kernel_name, &error);
  require(error, "clCreateKernel");
  const std::vector<float> ones(count, 1.0F);
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof(float),
                             const_cast<float*>(ones.data()), &error);
  require(error, "clCreateBuffer");
  cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, count * sizeof(float), nullptr, &error);
  require(error, "clCreateBuffer");
  require(clSetKernelArg(kernel, 2, sizeof(count), &count), "clSetKernelArg");

  const std::size_t local_size = 256;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int wave = 0; wave < waves; ++wave) {
      require(clSetKernelArg(kernel, 0, sizeof(cl_mem), &in), "clSetKernelArg");
      require(clSetKernelArg(kernel, 1, sizeof(cl_mem), &out), "clSetKernelArg");
      require(
          clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global_size, &local_size, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
      std::swap(in, out);
    }
    require(clFinish(queue), "clFinish");
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
    std::printf("%lld\n", static_cast<long long>(taken.count()));
  }
  return 0;
}
