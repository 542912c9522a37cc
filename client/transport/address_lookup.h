// Names to addresses, without blocking on anything but the Clock.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_ADDRESS_LOOKUP_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_ADDRESS_LOOKUP_H_

#include <sys/socket.h>

#include <vector>

#include "client/transport/exchange_waiter.h"
#include "client/transport/url.h"

namespace opensandbox::internal {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

// Numeric hosts and "localhost" are answered at once. Other names are looked up by the system on a thread of its own,
// so that the exchange's deadline, connect timeout and cancellation end the wait; the thread may outlive it.
Failure LookUp(const Url& url, ExchangeWaiter& waiter, std::vector<SocketAddress>* addresses);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_ADDRESS_LOOKUP_H_
