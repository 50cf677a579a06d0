#include "app/serve.hpp"

#include "app/stream.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/json_text.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace tidegate::commands {
namespace {

Result<ExitCode> finish(Output& output, std::string_view text) {
  const InterruptWatch interrupts; // all of the text or none
  return output.write(text).and_then([&] { return output.commit(); }).map([] { return ExitCode::done; });
}

// Says of an error with a file which one it is.
auto in_file(const std::string& input) {
  return [&input](Error error) {
    if (!input.empty()) {
      error.source = display_name(input);
    }
    return error;
  };
}

Result<ExitCode> serve_stream(const Route& route, const std::function<Answer()>& make_answer,
                              unsigned workers) {
  TIDEGATE_CHECK(refuse_overwriting(route.files()));
  TIDEGATE_TRY(auto input, open_input(route.input, FileKinds::any).map_error(in_file(route.input)));
  TIDEGATE_TRY(auto output, Output::open(route.output));
  const auto make_line_answer = [&make_answer]() -> documents::LineAnswer {
    return [answer = make_answer()](std::string_view line, std::string& text) {
      return answer(line, documents::Style::compact, text);
    };
  };
  const unsigned threads = workers != 0 ? workers : std::max(std::thread::hardware_concurrency(), 1U);
  TIDEGATE_TRY(auto summary, documents::answer_stream(input, output, make_line_answer, threads));
  TIDEGATE_CHECK(output.commit());
  return summary.exit_code;
}

} // namespace

FileUses Route::files() const {
  FileUses files{.inputs = other_inputs, .outputs = {{output, "-o", {}}}};
  files.inputs.push_back({input, "the document that is read", {}});
  return files;
}

Error at_document(Error error, const std::string& input, std::string_view document) {
  documents::locate(error, document);
  if (error.code == ErrorCode::syntax_error && input.ends_with(".cl")) {
    error.fix =
        fmt::format("`tidegate init {}` writes a program for the kernels of a source", display_name(input));
  }
  const auto place = [&](Error& each) {
    if (!each.source) {
      each = with_excerpt(std::move(each), document);
      each.source = display_name(input);
    }
  };
  place(error);
  std::ranges::for_each(error.others, place);
  return error;
}

Result<std::string> read_document(const std::string& input) {
  return read_all(input, documents::document_bytes_limit, FileKinds::any).map_error(in_file(input));
}

Result<ExitCode> write_text(const std::string& output, std::string_view text) {
  return Output::open(output).and_then([text](Output file) { return finish(file, text); });
}

Result<ExitCode> serve_text(const Route& route,
                            const std::function<Result<std::string>(std::string_view)>& answer) {
  TIDEGATE_CHECK(refuse_overwriting(route.files()));
  // Opens the output first: an answer that cannot be kept need not be computed.
  TIDEGATE_TRY(auto output, Output::open(route.output));
  TIDEGATE_TRY(const auto document, read_document(route.input));
  const auto text = answer(document);
  if (!text) {
    return tl::unexpected(at_document(text.error(), route.input, document));
  }
  return finish(output, *text);
}

Result<ExitCode> serve(const Route& route, const std::function<Answer()>& make_answer, unsigned workers) {
  if (route.stream) {
    return serve_stream(route, make_answer, workers);
  }
  return serve_text(route, [&](std::string_view document) -> Result<std::string> {
    std::string text;
    return make_answer()(document, documents::Style::pretty, text).map([&] { return text + '\n'; });
  });
}

} // namespace tidegate::commands
