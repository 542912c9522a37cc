#include "client/transport/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace opensandbox::internal {
namespace {

// The first entry of this thread's error queue, which is emptied.
std::string TakeOpenSslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown TLS error" : reason;
}

}  // namespace

SSL_CTX* TlsContext::Get(std::string* error) {
  std::lock_guard lock(mutex_);
  if (context_) return context_.get();
  ERR_clear_error();
  std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    *error = "TLS: " + TakeOpenSslError();
    return nullptr;
  }
  if (verify_) {
    const int loaded = ca_file_.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                        : SSL_CTX_load_verify_file(context.get(), ca_file_.c_str());
    if (loaded != 1) {
      *error = "TLS: can't load the trusted certificates" + (ca_file_.empty() ? "" : " from '" + ca_file_ + "'") +
               ": " + TakeOpenSslError();
      return nullptr;
    }
  }
  SSL_CTX_set_verify(context.get(), verify_ ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  context_ = std::move(context);
  return context_.get();
}

std::unique_ptr<TlsSession> TlsSession::Make(TlsContext& context, const std::string& host, bool host_is_ip,
                                             std::string* error) {
  SSL_CTX* const shared = context.Get(error);
  if (shared == nullptr) return nullptr;
  ERR_clear_error();
  std::unique_ptr<TlsSession> session(new TlsSession(SSL_new(shared)));
  SSL* const ssl = session->ssl_.get();
  session->input_ = BIO_new(BIO_s_mem());
  session->output_ = BIO_new(BIO_s_mem());
  if (ssl == nullptr || session->input_ == nullptr || session->output_ == nullptr) {
    BIO_free(session->input_);
    BIO_free(session->output_);
    *error = "TLS: " + TakeOpenSslError();
    return nullptr;
  }
  // An empty memory BIO must mean "later", not "end".
  BIO_set_mem_eof_return(session->input_, -1);
  SSL_set_bio(ssl, session->input_, session->output_);
  SSL_set_connect_state(ssl);
  bool set = true;
  if (host_is_ip) {
    if (context.verify()) set = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  } else {
    // Server name indication carries names only (RFC 6066, 3).
    set = SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
    if (set && context.verify()) set = SSL_set1_host(ssl, host.c_str()) == 1;
  }
  if (!set) {
    *error = "TLS: " + TakeOpenSslError();
    return nullptr;
  }
  return session;
}

TlsSession::Step TlsSession::Judge(int result) {
  if (result > 0) return Step::kDone;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return Step::kNeedsInput;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kClosed;
    default:
      break;
  }
  error_ = "TLS: " + TakeOpenSslError();
  const long verdict = SSL_get_verify_result(ssl_.get());
  if (verdict != X509_V_OK) error_ += std::string(" (") + X509_verify_cert_error_string(verdict) + ")";
  return Step::kFailed;
}

TlsSession::Step TlsSession::Handshake() {
  ERR_clear_error();
  return Judge(SSL_do_handshake(ssl_.get()));
}

TlsSession::Step TlsSession::Write(std::string_view data) {
  ERR_clear_error();
  std::size_t written = 0;
  return Judge(SSL_write_ex(ssl_.get(), data.data(), data.size(), &written));
}

TlsSession::Step TlsSession::Read(char* buffer, std::size_t size, std::size_t* count) {
  ERR_clear_error();
  return Judge(SSL_read_ex(ssl_.get(), buffer, size, count));
}

void TlsSession::GiveInput(std::string_view bytes) {
  std::size_t written = 0;
  // Fails only when memory runs out; the session then fails at its next read.
  BIO_write_ex(input_, bytes.data(), bytes.size(), &written);
}

std::string TlsSession::TakeOutput() {
  std::string output(BIO_ctrl_pending(output_), '\0');
  std::size_t count = 0;
  if (output.empty() || BIO_read_ex(output_, output.data(), output.size(), &count) != 1) return "";
  output.resize(count);
  return output;
}

}  // namespace opensandbox::internal
