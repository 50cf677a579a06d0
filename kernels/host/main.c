/*
 * Runs one persistent OpenCL kernel that `tidegate export` wrote, and needs OpenCL 1.2 and C99 alone.
 *
 *   make && ./program            on the device that the export was compared on, or else the first GPU
 *   ./program 1                  on device 1 of the list
 *   ./program --list             the list
 *
 * program.h holds what the program is: sizes, tables, files. kernel.cl is the kernel, data/ holds first contents.
 * The kernel runs in slices, so that no launch occupies a device for long: a slice ends between two turns (in a turn
 * each work-group runs one tile of a stage) and reports where the next one begins. Work-groups wait for each other,
 * so no more are launched than run at the same time: the kernel counts them first.
 */
#define _POSIX_C_SOURCE 199309L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define uint cl_uint
#define ulong cl_ulong
#include "program.h"

enum { MOST_DEVICES = 64 };

static void fail(const char* what, cl_int status) {
  fprintf(stderr, "%s: %s (OpenCL error %d)\n", PROGRAM, what, (int)status);
  exit(1);
}

static void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) {
    fail(what, status);
  }
}

static void* room(size_t bytes) {
  void* const memory = calloc(bytes == 0 ? 1 : bytes, 1);
  if (memory == NULL) {
    fail("out of memory on the host", CL_OUT_OF_HOST_MEMORY);
  }
  return memory;
}

static char* read_file(const char* name, size_t* bytes) {
  FILE* const file = fopen(name, "rb");
  const long length = file == NULL || fseek(file, 0, SEEK_END) != 0 ? -1 : ftell(file);
  *bytes = length < 0 ? 0 : (size_t)length;
  char* const text = room(*bytes + 1);
  if (length < 0 || fseek(file, 0, SEEK_SET) != 0 || fread(text, 1, *bytes, file) != *bytes) {
    perror(name);
    exit(1);
  }
  fclose(file);
  return text;
}

static void write_file(const char* name, const char* head, size_t head_bytes, const void* data, size_t bytes) {
  FILE* const file = fopen(name, "wb");
  if (file == NULL || fwrite(head, 1, head_bytes, file) != head_bytes || fwrite(data, 1, bytes, file) != bytes ||
      fclose(file) != 0) {
    perror(name);
    exit(1);
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void name_of(cl_device_id device, char name[256]) {
  name[0] = '\0';
  clGetDeviceInfo(device, CL_DEVICE_NAME, 256, name, NULL);
}

static int is_of_type(cl_device_id device, cl_device_type wanted) {
  cl_device_type type = 0;
  clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  return (type & wanted) != 0;
}

/* The device of this number, or the one of the export, or a GPU, or the first one. */
static cl_device_id choose_device(int argc, char** argv) {
  const int lists = argc > 1 && strcmp(argv[1], "--list") == 0;
  char* end = "";
  const unsigned long wanted = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
  cl_platform_id platforms[MOST_DEVICES];
  cl_uint platform_count = 0;
  check(clGetPlatformIDs(MOST_DEVICES, platforms, &platform_count), "no OpenCL platform");
  cl_device_id chosen = NULL;
  int best = -1;
  char name[256];
  unsigned long number = 0;
  for (cl_uint p = 0; p < platform_count && p < MOST_DEVICES; ++p) {
    cl_device_id devices[MOST_DEVICES];
    cl_uint count = 0;
    clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count);
    for (cl_uint i = 0; i < count && i < MOST_DEVICES; ++i, ++number) {
      name_of(devices[i], name);
      if (lists) {
        printf("%lu  %s\n", number, name);
      }
      const int suits = argc > 1                    ? (number == wanted && *end == '\0' && end != argv[1] ? 0 : -1)
                        : strcmp(name, DEVICE) == 0 ? 2
                                                    : is_of_type(devices[i], CL_DEVICE_TYPE_GPU);
      chosen = suits > best ? devices[i] : chosen;
      best = suits > best ? suits : best;
    }
  }
  if (lists) {
    exit(0);
  }
  if (chosen == NULL) {
    fail("no such device: --list shows what there is", CL_INVALID_DEVICE);
  }
  name_of(chosen, name);
  if (strcmp(name, DEVICE) != 0) {
    fprintf(stderr, "%s: was compared with plain launches on %s, never on %s\n", PROGRAM, DEVICE, name);
  }
  return chosen;
}

static cl_program build(cl_context context, cl_device_id device) {
  size_t length = 0;
  char* const text = read_file("kernel.cl", &length);
  const char* source = text;
  cl_int status = CL_SUCCESS;
  const cl_program program = clCreateProgramWithSource(context, 1, &source, &length, &status);
  check(status, "making the program");
  status = clBuildProgram(program, 1, &device, OPTIONS, NULL, NULL);
  if (status != CL_SUCCESS) {
    size_t bytes = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char* const log = room(bytes + 1);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    fprintf(stderr, "%s\n", log);
    fail("building kernel.cl", status);
  }
  free(text);
  return program;
}

/* Device memory with these contents, or zeros. */
static cl_mem allocate(cl_context context, size_t bytes, const void* contents) {
  void* const zeros = contents == NULL ? room(bytes) : NULL;
  cl_int status = CL_SUCCESS;
  const cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                       contents == NULL ? zeros : (void*)contents, &status);
  check(status, "allocating device memory");
  free(zeros);
  return memory;
}

static void download(cl_command_queue queue, cl_mem from, size_t offset, void* to, size_t bytes) {
  if (bytes != 0) {
    check(clEnqueueReadBuffer(queue, from, CL_TRUE, offset, bytes, to, 0, NULL, NULL), "reading device memory");
  }
}

static void set_arguments(cl_kernel kernel, const cl_mem* memories, const tg_numbers* numbers) {
  enum { NUMBERS = sizeof *numbers / sizeof(cl_uint) };
  for (cl_uint i = 0; i < TG_MEMORY_COUNT; ++i) {
    check(clSetKernelArg(kernel, i, sizeof(cl_mem), &memories[i]), "setting an argument");
  }
  for (cl_uint i = 0; i < NUMBERS; ++i) {
    check(clSetKernelArg(kernel, TG_MEMORY_COUNT + i, sizeof(cl_uint), (const cl_uint*)numbers + i),
          "setting an argument");
  }
  check(clSetKernelArg(kernel, TG_MEMORY_COUNT + NUMBERS, LOCAL_BYTES, NULL), "setting the local memory");
}

static void launch(cl_command_queue queue, cl_kernel kernel, size_t groups) {
  const size_t local = GROUP_SIZE;
  const size_t global = groups * local;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launching the kernel");
  check(clFinish(queue), "running the kernel");
}

/* How many work-groups run at the same time, at most WORKERS. Without iterations the kernel counts itself. */
static cl_uint count_workers(cl_context context, cl_device_id device, cl_command_queue queue, cl_kernel kernel) {
  cl_uint units = 1;
  check(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL), "asking the device");
  cl_uint resident = units; /* a CPU runs one on each core */
  if (!is_of_type(device, CL_DEVICE_TYPE_CPU)) {
    const size_t offered = 4096 / GROUP_SIZE < 4 ? 4 : 4096 / GROUP_SIZE > 64 ? 64 : 4096 / GROUP_SIZE;
    cl_uint words[TG_CENSUS_WORDS] = {0};
    const cl_mem poll = allocate(context, sizeof words, words);
    cl_mem memories[TG_MEMORY_COUNT];
    for (int i = 0; i < TG_MEMORY_COUNT; ++i) {
      memories[i] = poll;
    }
    const tg_numbers numbers = {.budget = 1000, .most_polls = (cl_uint)1 << 22};
    set_arguments(kernel, memories, &numbers);
    launch(queue, kernel, units * offered);
    download(queue, poll, 0, words, sizeof words);
    if (words[TG_LOCK_GAVE_UP] != 0) {
      fail("counting the work-groups that run at the same time did not come to an end", CL_OUT_OF_RESOURCES);
    }
    resident = words[TG_PARTICIPANTS] == 0 ? 1 : words[TG_PARTICIPANTS];
    clReleaseMemObject(poll);
  }
  return resident < WORKERS ? resident : WORKERS;
}

int main(int argc, char** argv) {
  const cl_device_id device = choose_device(argc, argv);
  cl_int status = CL_SUCCESS;
  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "making a context");
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "making a queue");
  const cl_program program = build(context, device);
  const cl_kernel kernel = clCreateKernel(program, "tidegate_persistent", &status);
  check(status, "making the kernel");
  const cl_uint workers = count_workers(context, device, queue, kernel);

  /* Device memory: all buffers of the program in one, the tables, and what the work-groups wait on. */
  char* const contents = room(ARENA_BYTES);
  for (size_t i = 0; inputs[i].file[0] != '\0'; ++i) {
    size_t bytes = 0;
    char* const input = read_file(inputs[i].file, &bytes);
    if (bytes != inputs[i].bytes) {
      fail("a file of data/ has another size than program.h says", CL_INVALID_VALUE);
    }
    memcpy(contents + inputs[i].offset, input, bytes);
    free(input);
  }
  const cl_mem arena = allocate(context, ARENA_BYTES, contents);
  free(contents);
  const cl_mem counters = allocate(context, TG_COUNTER_WORDS((size_t)workers) * sizeof(cl_uint), NULL);
  const cl_mem progress = allocate(context, (TG_SPAN_COUNTS((size_t)workers) + workers) * sizeof(cl_uint), NULL);
  const cl_mem memories[TG_MEMORY_COUNT] = {[TG_MEMORY_ARENA] = arena,
                                            [TG_MEMORY_STAGES] = allocate(context, sizeof stages, stages),
                                            [TG_MEMORY_ENTRIES] = allocate(context, sizeof entries, entries),
                                            [TG_MEMORY_WAITS] = allocate(context, sizeof waits, waits),
                                            [TG_MEMORY_WORDS] = allocate(context, sizeof words, words),
                                            [TG_MEMORY_COUNTERS] = counters,
                                            [TG_MEMORY_PROGRESS] = progress,
                                            [TG_MEMORY_POLL] = counters};

  tg_numbers numbers = first;
  numbers.arrivals_per_barrier = workers;
  numbers.most_polls = is_of_type(device, CL_DEVICE_TYPE_CPU) ? ~(cl_uint)0 : (cl_uint)1 << 24;
  cl_uint head[TG_PROGRESS_GROUPS] = {0};
  double budget = first.budget;
  unsigned long launches = 0;
  const double start = seconds();
  while (numbers.stage != first.stage_end) {
    numbers.budget = (cl_uint)budget;
    set_arguments(kernel, memories, &numbers);
    const double began = seconds();
    launch(queue, kernel, workers);
    const double took = seconds() - began;
    ++launches;
    download(queue, progress, 0, head, sizeof head);
    const int moved = head[TG_PROGRESS_ITERATION] != numbers.iteration || head[TG_PROGRESS_STAGE] != numbers.stage ||
                      head[TG_PROGRESS_TURN] != numbers.turn || head[TG_PROGRESS_ARRIVALS] != numbers.arrivals;
    if (head[TG_PROGRESS_STUCK] != 0 || !moved) {
      fail("work-groups waited for each other in vain", CL_OUT_OF_RESOURCES);
    }
    numbers.iteration = head[TG_PROGRESS_ITERATION];
    numbers.stage = head[TG_PROGRESS_STAGE];
    numbers.turn = head[TG_PROGRESS_TURN];
    numbers.arrivals = head[TG_PROGRESS_ARRIVALS];
    /* Towards slices of 0.15 s. */
    const double growth = took > 0.15 / 32 ? 0.15 / took : 32;
    budget = budget * growth < 1 ? 1 : budget * growth > 1e9 ? 1e9 : budget * growth;
  }
  const double took = seconds() - start;

  char name[256];
  name_of(device, name);
  printf("%s: %u iterations in %.3f ms, %lu launch%s of %u x %u on %s\n", PROGRAM, (unsigned)head[TG_PROGRESS_ITERATION],
         1e3 * took, launches, launches == 1 ? "" : "es", (unsigned)workers, (unsigned)GROUP_SIZE, name);
  for (size_t i = 0; outputs[i].file[0] != '\0'; ++i) {
    void* const contents = room(outputs[i].bytes);
    download(queue, arena, outputs[i].offsets[head[TG_PROGRESS_ITERATION] % PHASES], contents, outputs[i].bytes);
    write_file(outputs[i].file, outputs[i].head, outputs[i].head_bytes, contents, outputs[i].bytes);
    printf("  %s\n", outputs[i].file);
    free(contents);
  }
  return 0;
}
