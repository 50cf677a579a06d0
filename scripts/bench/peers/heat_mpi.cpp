// The heat equation with MPI and plain OpenCL: each rank has whole rows of work-groups of examples/programs/heat/heat.cl and sends
// its first and its last row to its neighbours after each iteration. Prints the nanoseconds of the slowest rank for each of the
// rounds after the first, and writes the plate of the last round, floats by row. Ranks take the devices of the first platform in turn.
//   mpicxx -O2 -std=c++20 heat_mpi.cpp -lOpenCL -o heat_mpi
//   mpirun -n RANKS heat_mpi SOURCE PLATE WIDTH HEIGHT ITERATIONS ROUNDS RESULT
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int tile = 16;

void require(cl_int code, const char* what) {
  if (code != CL_SUCCESS) {
    std::fprintf(stderr, "%s: OpenCL error %d\n", what, code);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count != 8) {
    std::fprintf(stderr, "usage: heat_mpi SOURCE PLATE WIDTH HEIGHT ITERATIONS ROUNDS RESULT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::string source = contents(arguments[1]), plate = contents(arguments[2]);
  const int width = std::atoi(arguments[3]), height = std::atoi(arguments[4]);
  const int iterations = std::atoi(arguments[5]), rounds = std::atoi(arguments[6]);
  const std::size_t row = sizeof(float) * static_cast<std::size_t>(width);
  const int groups = (height + tile - 1) / tile;
  const auto first_row = [&](int of) { return std::min(groups * of / ranks * tile, height); };
  const int first = first_row(rank), end = first_row(rank + 1);

  cl_platform_id platform = nullptr;
  cl_device_id devices[16]{};
  cl_uint found = 0;
  cl_int code = clGetPlatformIDs(1, &platform, nullptr);
  require(code, "platforms");
  require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &found), "devices");
  const char* place = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  cl_device_id device =
      devices[(place == nullptr ? 0 : std::atoi(place)) % static_cast<int>(std::min(found, 16U))];
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  require(code, "context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  require(code, "queue");
  const char* text = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  require(code, "program");
  require(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", nullptr, nullptr), "build");
  cl_kernel kernel = clCreateKernel(program, "diffuse", &code);
  require(code, "kernel");
  cl_mem now = clCreateBuffer(context, CL_MEM_READ_WRITE, plate.size(), nullptr, &code);
  require(code, "buffer");
  cl_mem next = clCreateBuffer(context, CL_MEM_READ_WRITE, plate.size(), nullptr, &code);
  require(code, "buffer");
  const float rate = 0.2F, north = 100;
  require(clSetKernelArg(kernel, 2, sizeof width, &width) |
              clSetKernelArg(kernel, 3, sizeof height, &height) |
              clSetKernelArg(kernel, 4, sizeof rate, &rate) | clSetKernelArg(kernel, 5, sizeof north, &north),
          "arguments");
  const auto up = static_cast<std::size_t>((width + tile - 1) / tile * tile);
  const std::size_t offset[]{0, static_cast<std::size_t>(first)}, local[]{tile, tile};
  const std::size_t global[]{up, static_cast<std::size_t>((end - first + tile - 1) / tile * tile)};

  const auto at = [&](int y) { return row * static_cast<std::size_t>(y); };
  std::vector<char> own_first(row), own_last(row), above(row), below(row), result(plate.size());
  const int upper = rank == 0 ? MPI_PROC_NULL : rank - 1,
            lower = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
  const int bytes = static_cast<int>(row);
  for (int round = 0; round <= rounds; ++round) {
    require(clEnqueueWriteBuffer(queue, now, CL_TRUE, 0, plate.size(), plate.data(), 0, nullptr, nullptr),
            "write");
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) {
      if (i != 0 && ranks > 1) {
        require(
            clEnqueueReadBuffer(queue, now, CL_FALSE, at(first), row, own_first.data(), 0, nullptr, nullptr),
            "read");
        require(
            clEnqueueReadBuffer(queue, now, CL_TRUE, at(end - 1), row, own_last.data(), 0, nullptr, nullptr),
            "read");
        MPI_Request all[4];
        MPI_Irecv(above.data(), bytes, MPI_BYTE, upper, 0, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(below.data(), bytes, MPI_BYTE, lower, 0, MPI_COMM_WORLD, &all[1]);
        MPI_Isend(own_first.data(), bytes, MPI_BYTE, upper, 0, MPI_COMM_WORLD, &all[2]);
        MPI_Isend(own_last.data(), bytes, MPI_BYTE, lower, 0, MPI_COMM_WORLD, &all[3]);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        if (rank != 0) {
          require(clEnqueueWriteBuffer(queue, now, CL_FALSE, at(first - 1), row, above.data(), 0, nullptr,
                                       nullptr),
                  "write");
        }
        if (rank != ranks - 1) {
          require(clEnqueueWriteBuffer(queue, now, CL_FALSE, at(end), row, below.data(), 0, nullptr, nullptr),
                  "write");
        }
      }
      require(clSetKernelArg(kernel, 0, sizeof now, &now) | clSetKernelArg(kernel, 1, sizeof next, &next),
              "arguments");
      require(clEnqueueNDRangeKernel(queue, kernel, 2, offset, global, local, 0, nullptr, nullptr), "launch");
      std::swap(now, next);
    }
    require(clFinish(queue), "finish");
    long long own = (std::chrono::steady_clock::now() - start).count(), slowest = 0;
    MPI_Reduce(&own, &slowest, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && round != 0) {
      std::printf("%lld\n", slowest);
    }
  }
  std::vector<int> counts, places;
  for (int of = 0; of < ranks; ++of) {
    places.push_back(static_cast<int>(at(first_row(of))));
    counts.push_back(static_cast<int>(at(first_row(of + 1) - first_row(of))));
  }
  std::vector<char> part(at(end - first));
  require(clEnqueueReadBuffer(queue, now, CL_TRUE, at(first), part.size(), part.data(), 0, nullptr, nullptr),
          "read");
  MPI_Gatherv(part.data(), static_cast<int>(part.size()), MPI_BYTE, result.data(), counts.data(),
              places.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::ofstream(arguments[7], std::ios::binary)
        .write(result.data(), static_cast<std::streamsize>(result.size()));
  }
  MPI_Finalize();
}
