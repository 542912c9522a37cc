// Faults of streams, seen over raw sockets: which events came, in which chunks, when, and how the connection ended.
#include "tests/conformance/fault_wire.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kWhole[] = "init ping one two three execution_complete";

std::string Fault(const std::string& effect) { return R"("faults": [{"id": "a", "on": "runCode", )" + effect + "}]"; }

struct EventCase {
  const char* name;
  const char* effect;
  const char* words;
};
void PrintTo(const EventCase& row, std::ostream* out) { *out << row.name; }

class EventFaultWireTest : public testing::TestWithParam<EventCase> {};

TEST_P(EventFaultWireTest, TheseEventsCome) {
  FaultWire wire(Fault(GetParam().effect));
  const Wire got = wire.Run();
  EXPECT_EQ(EventWords(got.body), GetParam().words);
  EXPECT_TRUE(got.terminated);
  EXPECT_EQ(got.end, StreamEnd::kFin);
  wire.ExpectHealthy();
  EXPECT_TRUE(wire.Judge().failures.size() <= 1u);  // the sandbox that the test leaves alive
}

INSTANTIATE_TEST_SUITE_P(
    All, EventFaultWireTest,
    testing::Values(
        EventCase{"DropOne", R"("drop": {"event": 4})", "init ping one three execution_complete"},
        EventCase{"DropTwo", R"("drop": {"event": 3, "count": 2})", "init ping three execution_complete"},
        EventCase{"DropByText", R"("drop": {"match": "/execution_complete/"})", "init ping one two three"},
        EventCase{"DropEverySecond", R"("drop": {"event": 1, "every": 2})", "ping two execution_complete"},
        EventCase{"Duplicate", R"("duplicate": {"event": 3})", "init ping one one two three execution_complete"},
        EventCase{"DuplicateTwice", R"("duplicate": {"match": "/three/", "times": 2})",
                  "init ping one two three three three execution_complete"},
        EventCase{"Reorder", R"("reorder": {"event": 3, "behind": 5})", "init ping two three one execution_complete"},
        EventCase{"ReorderBehindTheEnd", R"("reorder": {"event": 5, "behind": 6})",
                  "init ping one two execution_complete three"}),
    [](const auto& test) { return test.param.name; });

TEST(StreamFaultWireTest, WithoutFaultsEachEventIsAChunk) {
  FaultWire wire(R"("tags": [])");
  const Wire got = wire.Run();
  EXPECT_EQ(EventWords(got.body), kWhole);
  EXPECT_EQ(got.chunks.size(), 6u);
}

TEST(StreamFaultWireTest, InsertedBytesAreAChunkOfTheirOwn) {
  FaultWire wire(Fault(R"("insert": {"event": 4, "base64": "//4K"})"));
  const Wire got = wire.Run();
  ASSERT_EQ(got.chunks.size(), 7u);
  EXPECT_EQ(got.chunks[3], "\xff\xfe\n");
  EXPECT_EQ(EventWords(got.body), kWhole);
}

TEST(StreamFaultWireTest, UnframedBytesBreakTheFraming) {
  FaultWire wire(Fault(R"("insert": {"event": 4, "text": "zzz\r\n", "unframed": true})"));
  const Wire got = wire.Run();
  EXPECT_THAT(got.bytes, HasSubstr("\r\nzzz\r\n"));
  EXPECT_THAT(got.bytes, EndsWith("0\r\n\r\n"));
  wire.ExpectHealthy();
}

TEST(StreamFaultWireTest, CoalescedEventsAreOneChunk) {
  FaultWire wire(Fault(R"("coalesce": {"event": 3, "count": 2})"));
  const Wire got = wire.Run();
  ASSERT_EQ(got.chunks.size(), 5u);
  EXPECT_EQ(EventWords(got.chunks[2]), "one two");
}

TEST(StreamFaultWireTest, EverythingComesAtTheEndInOnePacket) {
  FaultWire wire(Fault(R"("coalesce": {})"), R"({"stdout": "one"}, {"stdout": "two", "delay": "5s"})");
  const std::string id = wire.NewSandbox();
  const std::string path = wire.client().ExecdPath(id);
  RawClient raw = wire.Connect();
  raw.Send(
      HttpRequest("POST", path + "/code", R"({"code":"x","context":{"language":"python"}})", "Connection: close\r\n"));
  raw.ReadUntil("\r\n\r\n");
  const TimePoint head = wire.clock().Now();
  std::string piece;
  StreamEnd end = StreamEnd::kSilence;
  ASSERT_TRUE(raw.ReadPiece(&piece, 1h, &end));
  EXPECT_EQ(wire.clock().Now() - head, 5s);
  EXPECT_EQ(EventWords(piece), "init ping one ping two execution_complete");
  EXPECT_THAT(piece, EndsWith("\r\n0\r\n\r\n"));  // the end of the stream is in the same packet
}

TEST(StreamFaultWireTest, ASplitEventComesInTwoChunksWithTimeBetween) {
  FaultWire wire(Fault(R"("split": {"match": "/execution_complete/", "fromEnd": 3, "gap": "2s"})"));
  const Wire got = wire.Run();
  ASSERT_EQ(got.chunks.size(), 7u);
  EXPECT_EQ(got.chunks[6].size(), 3u);
  EXPECT_EQ(EventWords(got.body), kWhole);
  EXPECT_EQ(got.took, 2s);
}

TEST(StreamFaultWireTest, CharactersAreSplitAtEachOfTheirBytes) {
  FaultWire wire(Fault(R"("split": {"event": 3, "inCharacters": true})"),
                 R"({"stdout": "a\u00e4\u20ac\ud83d\ude00z"})");
  const Wire got = wire.Run();
  ASSERT_EQ(got.chunks.size(), 3u + 1 + 6);  // 1 + 2 + 3 boundaries in the event
  EXPECT_THAT(got.chunks[2], EndsWith("a\xc3"));
  EXPECT_THAT(got.chunks[3], StartsWith("\xa4\xe2"));
  EXPECT_THAT(got.body, HasSubstr("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"));
}

TEST(StreamFaultWireTest, PiecesOfSoManyBytes) {
  FaultWire wire(Fault(R"("split": {"event": 3, "bytes": 10})"));
  const Wire got = wire.Run();
  EXPECT_EQ(got.chunks[2].size(), 10u);
  EXPECT_EQ(EventWords(got.body), kWhole);
}

TEST(StreamFaultWireTest, AStallComesBetweenTwoEventsAndIsNoEnd) {
  FaultWire wire(Fault(R"("stall": {"atEvent": 3, "for": "40s"})"));
  const std::string id = wire.NewSandbox();
  HttpConnection run = wire.client().BeginRun(id, "one");
  const TimePoint before = wire.clock().Now();
  run.raw().ReadUntil("two");
  EXPECT_EQ(wire.clock().Now() - before, 40s);
  run.raw().ReadUntil("0\r\n\r\n");
}

TEST(StreamFaultWireTest, EventsDripOneBySecond) {
  FaultWire wire(Fault(R"("throttle": {"events": 1, "every": "1s"})"));
  const Wire got = wire.Run();
  EXPECT_EQ(EventWords(got.body), "init ping one two ping three execution_complete");
  EXPECT_EQ(got.took, 7s);
}

struct ChunkCase {
  const char* name;
  const char* cut;
  const char* tail;  // of all bytes
  StreamEnd end;
};
void PrintTo(const ChunkCase& row, std::ostream* out) { *out << row.name; }

class ChunkCutWireTest : public testing::TestWithParam<ChunkCase> {};

TEST_P(ChunkCutWireTest, BreaksOffThere) {
  FaultWire wire(Fault(GetParam().cut));
  const Wire got = wire.Run();
  EXPECT_THAT(got.bytes, EndsWith(GetParam().tail));
  EXPECT_EQ(got.end, GetParam().end);
  EXPECT_FALSE(got.terminated);
  wire.ExpectHealthy();
}

INSTANTIATE_TEST_SUITE_P(
    All, ChunkCutWireTest,
    testing::Values(
        ChunkCase{"InTheSize", R"("cut": {"atEvent": 3, "inChunk": "size"})", "}\n\n\r\n3", StreamEnd::kFin},
        ChunkCase{"InTheData", R"("cut": {"atEvent": 3, "inChunk": "data", "atByte": 5, "how": "rst"})", "\r\n{\"typ",
                  StreamEnd::kRst},
        ChunkCase{"BeforeTheClosingLineEnd", R"("cut": {"atEvent": 3, "inChunk": "crlf"})", "}\n\n", StreamEnd::kFin},
        ChunkCase{"BehindAWholeEvent", R"("cut": {"atEvent": 3, "how": "rst"})", "}\n\n\r\n", StreamEnd::kRst},
        ChunkCase{"InSilence", R"("cut": {"atEvent": 3, "how": "silence"})", "}\n\n\r\n", StreamEnd::kSilence},
        ChunkCase{"InsideAnEvent", R"("cut": {"atEvent": 3, "atByte": 5})", "\r\n5\r\n{\"typ\r\n", StreamEnd::kFin}),
    [](const auto& test) { return test.param.name; });

TEST(StreamFaultWireTest, FaultsActThroughTheServerProxyToo) {
  FaultWire wire(Fault(R"("drop": {"event": 4})"));
  const std::string id = wire.NewSandbox();
  const Wire got =
      wire.Send("POST", "/v1/sandboxes/" + id + "/proxy/44772/code", R"({"code":"x","context":{"language":"python"}})");
  EXPECT_EQ(EventWords(got.body), "init ping one three execution_complete");
}

TEST(StreamFaultWireTest, APlaceThatNeverCameIsNoFault) {
  FaultWire wire(Fault(R"("drop": {"event": 99})"));
  const std::string id = wire.NewSandbox();
  EXPECT_EQ(EventWords(wire.Run(id).body), kWhole);
  wire.client().Send("DELETE", "/v1/sandboxes/" + id);
  EXPECT_THAT(wire.Judge().failures, testing::ElementsAre(HasSubstr("the fault a never fired")));
}

}  // namespace
}  // namespace opensandbox::emulator
