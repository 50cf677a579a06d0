#include <tidegate/device/handles.hpp>
#include <tidegate/device/opencl_error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::device {

std::uint64_t time_before_start(const Session& session, const cl::Event& launched) {
  require(session.queue.finish(), "running the first launch of a kernel");
  cl_ulong submitted = 0;
  cl_ulong started = 0;
  const bool measured = launched.getProfilingInfo(CL_PROFILING_COMMAND_SUBMIT, &submitted) == CL_SUCCESS &&
                        launched.getProfilingInfo(CL_PROFILING_COMMAND_START, &started) == CL_SUCCESS;
  return measured && started > submitted ? started - submitted : 0;
}

void require(cl_int status, std::string_view what) {
  if (status != CL_SUCCESS) {
    throw Refused{opencl_failure(what, status)};
  }
}

Result<Session> open_session(const DeviceInfo& info, Profiling profiling) {
  std::vector<cl::Platform> platforms;
  (void)cl::Platform::get(&platforms);
  std::uint32_t index = 0;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices) {
      if (index++ != info.index) {
        continue;
      }
      std::string name;
      (void)device.getInfo(CL_DEVICE_NAME, &name);
      if (name.find(info.name) == std::string::npos) {
        break; // another device has this index by now
      }
      cl_int status = CL_SUCCESS;
      Session session{
          .device = device, .context = cl::Context(device, nullptr, nullptr, nullptr, &status), .queue = {}};
      if (status != CL_SUCCESS) {
        return tl::unexpected(opencl_failure("making a context", status));
      }
      session.on_host = info.type == DeviceType::cpu;
      const bool profiled = session.on_host || profiling == Profiling::always;
      const cl_command_queue_properties properties = profiled ? CL_QUEUE_PROFILING_ENABLE : 0;
      session.queue = cl::CommandQueue(session.context, device, properties, &status);
      if (status != CL_SUCCESS) {
        return tl::unexpected(opencl_failure("making a queue", status));
      }
      return session;
    }
  }
  return tl::unexpected(Error{.code = ErrorCode::no_device,
                              .message = "the device has gone since it was listed",
                              .fix = "try again; `tidegate devices` lists what there is"});
}

namespace {

// The file and line that #line directives give to a line of the text, counted from 1.
void follow_line_directives(std::string_view text, Error& error) {
  constexpr std::string_view directive = "#line ";
  std::uint64_t named = 0; // of the line at hand; 0 before the first directive
  std::string file;
  for (std::uint64_t line = 1; line < *error.line && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = text.substr(0, end);
    const std::size_t quote = words.find('"');
    if (words.starts_with(directive) && quote != std::string_view::npos) {
      std::from_chars(words.data() + directive.size(), words.data() + words.size(), named);
      file = words.substr(quote + 1, words.rfind('"') - quote - 1);
    } else if (named != 0) {
      ++named;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (named != 0) {
    error.source = file;
    error.line = named;
  }
}

// Compilers write "FILE:LINE:COLUMN: error: what is wrong": the first such line becomes the error's place.
// NVIDIA's calls every file <kernel> and counts the lines of the whole text.
void take_place(const std::string& log, std::string_view source, Error& error) {
  constexpr std::string_view mark = ": error: ";
  const std::size_t found = log.find(mark);
  if (found == std::string::npos) {
    return;
  }
  const std::size_t begin = log.rfind('\n', found) + 1; // npos + 1 is 0
  const std::string place = log.substr(begin, found - begin);
  const std::size_t column = place.rfind(':');
  const std::size_t line = column == std::string::npos || column == 0 ? column : place.rfind(':', column - 1);
  if (line == std::string::npos || column == line) {
    return;
  }
  const auto number = [&place](std::size_t from, std::size_t to) {
    std::uint64_t value = 0;
    std::from_chars(place.data() + from, place.data() + to, value);
    return value;
  };
  const std::size_t end = log.find('\n', found);
  error.source = place.substr(0, line);
  error.line = number(line + 1, column);
  error.column = number(column + 1, place.size());
  error.message = log.substr(found + mark.size(), end == std::string::npos ? end : end - found - mark.size());
  error.fix = "mend the kernel";
  if (error.source->starts_with('<')) {
    follow_line_directives(source, error);
  }
}

} // namespace

Result<cl::Program> build_program(const Session& session, std::string_view source,
                                  const std::string& options) {
  cl_int status = CL_SUCCESS;
  cl::Program program(session.context, std::string(source), false, &status);
  if (status == CL_SUCCESS) {
    status = program.build(session.device, options.c_str());
  }
  if (status == CL_SUCCESS) {
    return program;
  }
  Error error = opencl_failure("building a kernel", status);
  error.code = ErrorCode::build_failure;
  std::string log;
  if (program() != nullptr &&
      program.getBuildInfo(session.device, CL_PROGRAM_BUILD_LOG, &log) == CL_SUCCESS) {
    take_place(log, source, error);
    if (!log.empty()) {
      error.log = std::move(log);
    }
  }
  return tl::unexpected(std::move(error));
}

} // namespace tidegate::device
