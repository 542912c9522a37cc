// What a command needs of the process around it.
#ifndef OPENSANDBOX_EMULATOR_CMD_PROCESS_H_
#define OPENSANDBOX_EMULATOR_CMD_PROCESS_H_

#include <signal.h>

#include <functional>
#include <string>

#include "opensandbox/base/result.h"

namespace opensandbox::emulator {

// A peer or a reader that goes away is an error of one write, not the end of the process.
void IgnoreBrokenPipes();
// As many descriptors as the system allows this process.
void RaiseDescriptorLimit();

// Data goes to stdout, flushed; false if it could not be written.
bool PrintData(const std::string& text);
// Talk goes to stderr.
void Talk(const std::string& text);
// A terminal that understands colours, and nobody said NO_COLOR.
bool StdoutHasColour();

// The file either has the whole new text or stays as it was: written beside it, then renamed.
Result<void> WriteFileAtomically(const std::string& path, const std::string& text);
// What WriteFileAtomically would say, without leaving anything behind.
Result<void> CheckWritable(const std::string& path);

// Receives SIGTERM and SIGINT. Make it before any other thread exists: threads inherit the blocked signals.
class StopSignals {
 public:
  StopSignals();
  // Waits until one comes or `stop_too` returns true, which is asked every 50 ms. From then on the next signal has its
  // usual effect, so that a second Ctrl-C ends a process that does not come to its end. Returns the signal or 0.
  int Wait(const std::function<bool()>& stop_too);

 private:
  sigset_t signals_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_PROCESS_H_
