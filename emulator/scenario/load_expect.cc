#include "emulator/scenario/load_parts.h"

namespace opensandbox::emulator {
namespace {

RequestExpectation LoadRequest(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "requestExpect");
  RequestExpectation request;
  request.operation = reader.Word("operation").value_or("");
  request.count = reader.Count("count", 0);
  request.at_least = reader.Count("atLeast", 1);
  request.at_most = reader.Count("atMost", 0);
  request.within = reader.Time("within");
  if (!reader.is_object()) return request;
  if (reader.FirstOf({"count", "atLeast", "atMost", "within"}).empty()) {
    reader.ComplainHere(
        "found an expectation that cannot fail, expected \"count\", \"atLeast\", \"atMost\" or \"within\"");
  }
  if (reader.Has("count")) {
    for (const char* name : {"atLeast", "atMost"}) {
      if (reader.Has(name)) {
        reader.Complain(name, "found \"" + std::string(name) + "\" beside \"count\", expected only one of them");
      }
    }
    if (request.count == 0 && reader.Has("within")) {
      reader.Complain("within", "found \"within\" of a request that is not to come, expected it gone");
    }
  }
  if (request.at_least && request.at_most && *request.at_most < *request.at_least) {
    reader.Complain("atMost", "found \"atMost\" below \"atLeast\", expected it above");
  }
  return request;
}

}  // namespace

Expectations LoadExpectations(const ObjectReader& scenario) {
  Expectations expect;
  expect.all_faults_consumed = true;
  const std::optional<Spot> spot = scenario.Find("expect");
  if (!spot) return expect;
  const ObjectReader reader(scenario.context(), *spot, "expect");
  expect.live = reader.Count("live", 0);
  expect.created = reader.Count("created", 0);
  expect.deleted = reader.Count("deleted", 0);
  expect.expired = reader.Count("expired", 0);
  expect.died = reader.Count("died", 0);
  expect.leaks = reader.Count("leaks", 0);
  expect.all_faults_consumed = reader.Word("faults").value_or("allConsumed") == "allConsumed";
  for (const Spot& item : reader.Items("requests", false)) {
    expect.requests.push_back(LoadRequest(scenario.context(), item));
  }
  expect.order = reader.WordItems("order");
  expect.within = reader.Time("within");
  if (expect.live && expect.leaks && *expect.leaks < *expect.live) {
    reader.Complain("leaks",
                    "found fewer leaks than sandboxes alive, expected at least as many (each one alive is a leak)");
  } else if (expect.live.value_or(0) > 0 && !reader.Has("leaks")) {
    reader.Complain("live", "found sandboxes that stay alive but no \"leaks\", expected \"leaks\" to count them too");
  }
  return expect;
}

}  // namespace opensandbox::emulator
