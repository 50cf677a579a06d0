// Newline-delimited JSON: one answer per line, in order, on all cores, in memory that does not grow with the
// stream.
//
//   reader ──blocks of whole lines──▶ workers ──answers──▶ written in the order of the blocks
//
// The reader hands on whatever complete lines it has as soon as input pauses, so a person or a program that
// writes one line and waits gets its answer.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tidegate::documents {

// Appends the answer to one line (without a newline), or says why there is none.
using LineAnswer = std::function<Result<void>(std::string_view line, std::string& answer)>;

struct StreamSummary {
  std::uint64_t lines = 0; // with an answer or an error
  std::uint64_t failed = 0;
  ExitCode exit_code = ExitCode::done; // the worst of the lines' errors
};

// Reads lines from `input` and writes their answers to `output`; a line without an answer becomes a
// stream_error document. Blank lines are passed over; only the numbers of lines count them. `make_answer` is
// called once per worker, so an answer may keep working memory. Ends early, without an error, when the reader
// of `output` has gone.
Result<StreamSummary> answer_stream(const Descriptor& input, Output& output,
                                    const std::function<LineAnswer()>& make_answer, unsigned workers);

} // namespace tidegate::documents
