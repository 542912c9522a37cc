#include "subjects.h"

#include <httplib.h>
#include <sys/socket.h>

#include <cctype>
#include <thread>
#include <utility>

#include "emulator/http/http_server.h"

namespace opensandbox::bench {
namespace {

std::string LowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string JoinChunks(std::string_view chunked) {
  std::string body;
  while (true) {
    const std::size_t line_end = chunked.find("\r\n");
    const std::size_t size = std::stoul(std::string(chunked.substr(0, line_end)), nullptr, 16);
    if (size == 0) return body;
    body += chunked.substr(line_end + 2, size);
    chunked.remove_prefix(line_end + 2 + size + 2);
  }
}

class BareServer : public Subject, private httplib::Server {
 public:
  BareServer(std::vector<CannedReply> replies, int workers) {
    set_tcp_nodelay(true);
    set_keep_alive_max_count(1u << 30);
    new_task_queue = [workers] { return new httplib::ThreadPool(static_cast<std::size_t>(workers)); };
    for (CannedReply& canned : replies) {
      const std::string method = canned.method;
      const std::string pattern = canned.pattern;
      Handler handler = [reply = std::move(canned)](const httplib::Request&, httplib::Response& response) {
        response.status = reply.status;
        std::string type = "text/plain";
        for (const auto& [name, value] : reply.headers) {
          if (LowerCase(name) == "content-type") {
            type = value;
          } else {
            response.set_header(name, value);
          }
        }
        response.set_content(reply.body, type);
      };
      if (method == "GET") Get(pattern, std::move(handler));
      if (method == "POST") Post(pattern, std::move(handler));
      if (method == "DELETE") Delete(pattern, std::move(handler));
    }
    port_ = bind_to_any_port("127.0.0.1");
    ::listen(svr_sock_, 4096);
    thread_ = std::thread([this] { listen_after_bind(); });
    while (!is_running()) std::this_thread::yield();
  }
  ~BareServer() override {
    stop();
    thread_.join();
  }
  int port() const override { return port_; }

 private:
  int port_ = 0;
  std::thread thread_;
};

class HttpLayer : public Subject {
 public:
  explicit HttpLayer(std::vector<CannedReply> replies) : replies_(std::move(replies)) {
    server_ = emulator::HttpServer::Start({}, [this](const emulator::Request& request) { return Handle(request); }, {})
                  .value();
  }
  int port() const override { return server_->port(); }

 private:
  emulator::HttpServer::Handled Handle(const emulator::Request& request) const {
    emulator::ReplyPlan plan;
    for (const CannedReply& reply : replies_) {
      if (reply.method != request.method) continue;
      plan.status = reply.status;
      for (const auto& [name, value] : reply.headers) plan.headers.push_back({name, value});
      plan.headers.push_back({"content-length", std::to_string(reply.body.size())});
      plan.body = reply.body;
      break;
    }
    return {std::move(plan), nullptr};
  }

  const std::vector<CannedReply> replies_;
  std::unique_ptr<emulator::HttpServer> server_;
};

}  // namespace

CannedReply Can(std::string method, std::string pattern, const std::string& reply) {
  CannedReply canned{.method = std::move(method), .pattern = std::move(pattern)};
  canned.status = std::stoi(reply.substr(9, 3));
  const std::size_t head_end = reply.find("\r\n\r\n");
  bool chunked = false;
  std::size_t begin = reply.find("\r\n") + 2;
  while (begin < head_end) {
    const std::size_t end = reply.find("\r\n", begin);
    const std::size_t colon = reply.find(": ", begin);
    const std::string name = reply.substr(begin, colon - begin);
    if (LowerCase(name) == "transfer-encoding") chunked = true;
    if (LowerCase(name) != "transfer-encoding" && LowerCase(name) != "content-length") {
      canned.headers.emplace_back(name, reply.substr(colon + 2, end - colon - 2));
    }
    begin = end + 2;
  }
  canned.body = reply.substr(head_end + 4);
  if (chunked) canned.body = JoinChunks(canned.body);
  return canned;
}

std::unique_ptr<Subject> StartBareServer(std::vector<CannedReply> replies, int workers) {
  return std::make_unique<BareServer>(std::move(replies), workers);
}

std::unique_ptr<Subject> StartHttpLayer(std::vector<CannedReply> replies) {
  return std::make_unique<HttpLayer>(std::move(replies));
}

}  // namespace opensandbox::bench
