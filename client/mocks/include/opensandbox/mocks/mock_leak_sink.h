// GoogleMock double of LeakSink, for tests of code that may leave a sandbox behind.
#ifndef OPENSANDBOX_MOCKS_MOCK_LEAK_SINK_H_
#define OPENSANDBOX_MOCKS_MOCK_LEAK_SINK_H_

#include <gmock/gmock.h>

#include "opensandbox/providers/leak_sink.h"

namespace opensandbox::mocks {

class MockLeakSink : public LeakSink {
 public:
  MOCK_METHOD(void, OnLeak, (const Leak& leak), (override));
};

}  // namespace opensandbox::mocks

#endif  // OPENSANDBOX_MOCKS_MOCK_LEAK_SINK_H_
