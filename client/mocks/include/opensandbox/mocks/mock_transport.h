// GoogleMock double of Transport, for tests of code that uses one.
#ifndef OPENSANDBOX_MOCKS_MOCK_TRANSPORT_H_
#define OPENSANDBOX_MOCKS_MOCK_TRANSPORT_H_

#include <gmock/gmock.h>

#include "opensandbox/transport/transport.h"

namespace opensandbox::mocks {

// clock() is the system's unless the test says otherwise.
class MockTransport : public Transport {
 public:
  MockTransport() { ON_CALL(*this, clock()).WillByDefault(::testing::ReturnRef(SystemClock::Instance())); }

  MOCK_METHOD(Result<HttpResponse>, Send, (const HttpRequest& request, const ExchangeOptions& options), (override));
  MOCK_METHOD(Result<StreamEnd>, Stream,
              (const HttpRequest& request, const ExchangeOptions& options, const StreamHandler& handler), (override));
  MOCK_METHOD(Clock&, clock, (), (override));
};

}  // namespace opensandbox::mocks

#endif  // OPENSANDBOX_MOCKS_MOCK_TRANSPORT_H_
