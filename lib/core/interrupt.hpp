// A long run that ends in order when it is interrupted.
#pragma once

#include <signal.h>

namespace tidegate {

// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted, so that what is under way can come to an
// end and be told of; another one, half a second later or more, does what it would have done before. At most
// one at a time.
class InterruptWatch {
public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  // Whether a signal has come since the watch began.
  static bool interrupted();

private:
  struct sigaction before_[3];
};

} // namespace tidegate
