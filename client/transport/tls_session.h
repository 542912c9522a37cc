// TLS without a socket: bytes in, bytes out. So every wait and every byte on the wire stays in the connection's hands.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_TLS_SESSION_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_TLS_SESSION_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace opensandbox::internal {

// What the connections of one transport share. Thread-safe.
class TlsContext {
 public:
  TlsContext(std::string ca_file, bool verify) : ca_file_(std::move(ca_file)), verify_(verify) {}
  // Made on first use; null with the reason in `error` if that fails (an unreadable CA file).
  SSL_CTX* Get(std::string* error);
  bool verify() const { return verify_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  const std::string ca_file_;
  const bool verify_;
  std::mutex mutex_;
  std::unique_ptr<SSL_CTX, Free> context_;
};

class TlsSession {
 public:
  enum class Step {
    kDone,
    kNeedsInput,  // give it more bytes of the peer, after the output was sent
    kClosed,      // the peer ended the session in an orderly way
    kFailed,      // see error()
  };

  // A session with `host` (its name, or its address), whose certificate must be valid for it if the context verifies.
  // Null with the reason in `error`.
  static std::unique_ptr<TlsSession> Make(TlsContext& context, const std::string& host, bool host_is_ip,
                                          std::string* error);

  Step Handshake();
  // All of `data` or nothing.
  Step Write(std::string_view data);
  Step Read(char* buffer, std::size_t size, std::size_t* count);
  // Bytes from the peer, and bytes for it.
  void GiveInput(std::string_view bytes);
  std::string TakeOutput();
  const std::string& error() const { return error_; }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  explicit TlsSession(SSL* ssl) : ssl_(ssl) {}
  Step Judge(int result);

  std::unique_ptr<SSL, Free> ssl_;
  BIO* input_ = nullptr;   // owned by ssl_
  BIO* output_ = nullptr;  // owned by ssl_
  std::string error_;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_TLS_SESSION_H_
