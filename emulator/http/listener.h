// A listening TCP socket.
#ifndef OPENSANDBOX_EMULATOR_HTTP_LISTENER_H_
#define OPENSANDBOX_EMULATOR_HTTP_LISTENER_H_

#include <string>

#include "opensandbox/base/result.h"

namespace opensandbox::emulator {

struct Listener {
  int fd = -1;  // the caller closes it
  int port = 0;
  std::string address;  // "127.0.0.1:40123"
};

// Binds `host` (an address or a name) and `port` (0: any) and listens. kInvalidArgument: no such host, no such port;
// kTransport: "cannot listen on 127.0.0.1:8080: Address already in use".
Result<Listener> Listen(const std::string& host, int port);
// As with a port that was asked for by its number, which the socket keeps while it does not listen.
Result<Listener> ListenPausable(const std::string& host, int port);
// Connections are refused by the system; those not yet accepted are reset.
void PauseListening(int fd);
void ResumeListening(int fd);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_LISTENER_H_
