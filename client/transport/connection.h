// One TCP connection of the client, with TLS or without, all of whose waits run on a Clock.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_CONNECTION_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "client/transport/exchange_waiter.h"
#include "client/transport/tls_session.h"
#include "client/transport/url.h"

namespace opensandbox::internal {

// Reports to the clock's ConnectionActivity whatever happens on it. Used by one thread at a time.
class Connection {
 public:
  // Looks the host up, tries its addresses one after the other, and does the TLS handshake of a secure URL. No byte
  // of a request is sent. `tls` is used for secure URLs only.
  static Failure Open(const Url& url, TlsContext& tls, ExchangeWaiter& waiter, std::unique_ptr<Connection>* connection);

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // All of `data`. On failure some of it may have left: see bytes_written().
  Failure Send(ExchangeWaiter& waiter, std::string_view data);
  // At least one byte; `size` > 0.
  Failure Receive(ExchangeWaiter& waiter, char* buffer, std::size_t size, std::size_t* count);

  // Bytes that Send() has put on the wire since the last Park(false), encryption included.
  std::uint64_t bytes_written_count() const { return bytes_written_count_; }
  // An idle connection on which anything can be read (an end, an error, bytes nobody asked for) is of no more use.
  bool IsStale() const;
  // Keeps it for later, or takes it back.
  void Park(bool parked);
  TimePoint parked_at() const { return parked_at_; }
  int fd() const { return fd_; }

 private:
  Connection(int fd, Clock& clock);
  Failure Handshake(const Url& url, TlsContext& tls, ExchangeWaiter& waiter);
  Failure SendRaw(ExchangeWaiter& waiter, std::string_view data);
  Failure SendTlsOutput(ExchangeWaiter& waiter);
  Failure ReceiveRaw(ExchangeWaiter& waiter, char* buffer, std::size_t size, std::size_t* count);
  Failure ReceiveTlsInput(ExchangeWaiter& waiter);

  const int fd_;
  Clock& clock_;
  ConnectionActivity::Key key_;
  std::unique_ptr<TlsSession> tls_;
  std::uint64_t bytes_written_count_ = 0;
  TimePoint parked_at_;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_CONNECTION_H_
