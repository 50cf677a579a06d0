// What the tool knows about the terminal it may be talking to.
#pragma once

#include <tidegate/compiler/warning.hpp>
#include <tidegate/core/error.hpp>

#include <string>

namespace tidegate::app {

// Whether text on this file descriptor may carry colour: NO_COLOR, CLICOLOR_FORCE and TERM=dumb are honoured.
bool use_colour(int descriptor);

// Whether the descriptor is a terminal on which a line can be written anew.
bool is_terminal(int descriptor);

// Says on standard error what the tool is waiting for when it is about to read from a person.
void hint_at_terminal(const std::string& input);

// Prints a warning of a program, named by its path, on standard error, as text or as one JSON object on one
// line.
void print_warning(const compiler::Warning& warning, const std::string& program, bool as_json);

// The command was ended by a signal before it had an answer.
Error interrupt_error();

// From now on SIGINT, SIGTERM and SIGHUP are handled (core/interrupt.hpp), and print an error.
void explain_interrupts(bool as_json);

// Prints an error and its others on standard error, each as text or as one JSON object on one line.
void print_error(const Error& error, bool as_json);

} // namespace tidegate::app
