// Request rates, as ratios to a bare cpp-httplib server that answers the same bytes in the same run: absolute numbers
// mean nothing on a shared machine. usage: bench_http [--rounds N] [--requests N]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "load.h"
#include "subjects.h"

namespace opensandbox::bench {
namespace {

const char* const kJson = "Content-Type: application/json\r\n";

std::string Request(const std::string& method, const std::string& target, const std::string& body = "",
                    const std::string& headers = "") {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: */*\r\n" +
                     "OPEN-SANDBOX-API-KEY: bench\r\n" + headers;
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Options {
  int rounds = 7;
  int requests = 20000;
};

struct Contender {
  const char* name;
  const Subject* subject;
  std::vector<double> rates = {};
  std::vector<double> ratios = {};  // to the first contender in the same round
  std::vector<double> cpu_us = {};  // per request, without the load generator's
};

// All servers live in this process and only one is used at a time.
double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Rounds are interleaved, so that whatever else the machine does hits all alike.
bool Compare(LoadProcess& load, const char* title, const Options& options, int connections, int rounds_of_script,
             const std::vector<std::string>& script, std::vector<Contender> contenders) {
  for (Contender& contender : contenders) {
    load.Run({contender.subject->port(), connections, std::max(rounds_of_script / 10, connections), script});
  }
  bool ok = true;
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      // Each starts a round in turn.
      Contender& contender = contenders[(i + static_cast<std::size_t>(round)) % contenders.size()];
      const double cpu = CpuSeconds();
      const LoadResult result = load.Run({contender.subject->port(), connections, rounds_of_script, script});
      contender.cpu_us.push_back((CpuSeconds() - cpu) * 1e6 / static_cast<double>(result.replies));
      contender.rates.push_back(result.rate());
      if (result.failures > 0) {
        std::printf("%s: %llu failures\n", contender.name, static_cast<unsigned long long>(result.failures));
        ok = false;
      }
    }
    for (Contender& contender : contenders) {
      contender.ratios.push_back(contender.rates.back() / contenders[0].rates.back());
    }
  }
  for (const Contender& contender : contenders) {
    const auto [low, high] = std::minmax_element(contender.ratios.begin(), contender.ratios.end());
    std::printf("%-28s %-17s %8.0f req/s, %5.1f us CPU each; ratio %.2f (%.2f..%.2f)\n", title, contender.name,
                Median(contender.rates), Median(contender.cpu_us), Median(contender.ratios), *low, *high);
  }
  std::fflush(stdout);
  return ok;
}

std::string IdOf(const std::string& reply) {
  const std::size_t found = reply.find("\"id\":\"");
  if (found == std::string::npos) {
    std::fprintf(stderr, "no id in: %s\n", reply.c_str());
    std::exit(1);
  }
  return reply.substr(found + 6, reply.find('"', found + 6) - found - 6);
}

std::string Replace(std::string text, const std::string& id) {
  const std::size_t found = text.find("{id}");
  return found == std::string::npos ? text : text.replace(found, 4, id);
}

int Main(const Options& options) {
  LoadProcess load;
  const auto emulator = StartEmulator();

  const std::string create =
      Request("POST", "/v1/sandboxes",
              R"({"image":{"uri":"python:3.12"},"entrypoint":["tail","-f","/dev/null"],"timeout":3600,)"
              R"("resourceLimits":{"cpu":"1","memory":"2Gi"},"metadata":{"tag":"bench"}})",
              kJson);
  const std::string get = Request("GET", "/v1/sandboxes/{id}");
  const std::string endpoint = Request("GET", "/v1/sandboxes/{id}/endpoints/44772");
  const std::string run = Request("POST", "/sandbox/{id}/proxy/44772/code",
                                  R"json({"context":{"language":"python"},"code":"print(1)"})json", kJson);
  const std::string remove = Request("DELETE", "/v1/sandboxes/{id}");
  const std::vector<std::string> cycle = {create, get, get, get, endpoint, run, remove};

  // The bare server's bytes are the emulator's.
  const std::string created = FetchOnce(emulator->port(), create);
  const std::string id = IdOf(created);
  const auto fetch = [&](const std::string& request) { return FetchOnce(emulator->port(), Replace(request, id)); };
  const std::vector<CannedReply> canned = {
      Can("GET", R"(/v1/sandboxes/([^/]+))", fetch(get)),
      Can("GET", R"(/v1/sandboxes/([^/]+)/endpoints/(\d+))", fetch(endpoint)),
      Can("POST", R"(/sandbox/([^/]+)/proxy/44772/code)", fetch(run)),
      Can("DELETE", R"(/v1/sandboxes/([^/]+))", fetch(remove)),
      Can("POST", "/v1/sandboxes", created),
  };
  const std::string live = IdOf(FetchOnce(emulator->port(), create));
  const auto bare = StartBareServer(canned, 64);
  const auto layer = StartHttpLayer(canned);

  bool ok = true;
  for (const int connections : {10, 50}) {
    const std::string title = "GET sandbox, " + std::to_string(connections) + " connections";
    ok = Compare(load, title.c_str(), options, connections, options.requests, {Replace(get, live)},
                 {{"bare cpp-httplib", bare.get()}, {"our HTTP layer", layer.get()}, {"emulator", emulator.get()}}) &&
         ok;
  }
  const int cycles = std::max(options.requests / static_cast<int>(cycle.size()), 1);
  ok = Compare(load, "whole cycle, 10 connections", options, 10, cycles, cycle,
               {{"bare cpp-httplib", bare.get()}, {"emulator", emulator.get()}}) &&
       ok;
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace opensandbox::bench

int main(int argc, char** argv) {
  opensandbox::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (more && std::strcmp(argv[i], "--rounds") == 0) {
      options.rounds = std::atoi(argv[++i]);
    } else if (more && std::strcmp(argv[i], "--requests") == 0) {
      options.requests = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: bench_http [--rounds N] [--requests N]\n");
      return 2;
    }
  }
  if (options.rounds < 1 || options.requests < 1) return 2;
  return opensandbox::bench::Main(options);
}
