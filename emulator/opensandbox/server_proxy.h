// How a request reaches a port of a sandbox, and what the way back does to the answer (wire
// reference 1.12, 1.16, 2.10).
//
//   /sandbox/{id}/proxy/{port}/...            what GET endpoints hands out. It stands for docker's
//                                             `<host>:<mapped execd port>/proxy/{port}`: execd's reverse proxy. For
//                                             44772 the daemon answers itself, as with docker's host network.
//   (/v1)?/sandboxes/{id}/proxy/{port}/...    the lifecycle server's proxy.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_SERVER_PROXY_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_SERVER_PROXY_H_

#include <string>
#include <string_view>

#include "emulator/opensandbox/execd_reply.h"

namespace opensandbox::emulator {

// The port without leading zeros; empty if it is none (0, over 65535, not a number).
std::string CanonicalPort(std::string_view text);

// execd's reverse proxy to a port of its sandbox; 502 "Bad Gateway" where nothing listens.
ReplyPlan ProxyToPort(const PortRequest& request, const std::string& port);

// What the lifecycle server makes of an answer from a sandbox: its own date and server in front, names in lower case,
// hop-by-hop headers gone, its request id behind.
ReplyPlan ThroughServerProxy(ReplyPlan plan, const Call& call);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_SERVER_PROXY_H_
