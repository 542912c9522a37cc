// How scenario files spell the closed sets of the client library and of the core.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_WORDS_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/lifecycle.h"
#include "emulator/core/reply_plan.h"
#include "opensandbox/base/error.h"

namespace opensandbox::emulator {

// camelCase of what ToString() says: "terminalState", "runDeadline", "didNotHappen", "notNeeded".
std::string ScenarioWord(ErrorKind kind);
std::string ScenarioWord(TimeoutClock clock);
std::string ScenarioWord(Outcome outcome);
std::string ScenarioWord(Cleanup cleanup);
// "noTerminator", "fin", "rst", "silence", "clean", "complete".
std::string ScenarioWord(Ending ending);
std::optional<Ending> EndingFromWord(std::string_view word);

// "404", "410", "502", "rst", "blackHole", "cleanEnd", "healthyPing".
std::optional<DeathFace> DeathFaceFromWord(std::string_view word);
std::vector<std::string> DeathFaceWords();

// All words of each set; kNone is no word of a clock.
std::vector<std::string> ErrorWords();
std::vector<std::string> TimeoutClockWords();
std::vector<std::string> OutcomeWords();
std::vector<std::string> CleanupWords();

// The candidate that `found` was most likely meant to be: one that it begins, or else the one nearest in edits (letters
// added, left out, changed or swapped; case aside), at most a third of its length away. Empty if none is near.
std::string NearestWord(std::string_view found, const std::vector<std::string>& candidates);
// "a", "a or b", "a, b or c".
std::string OneOf(const std::vector<std::string>& words);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_WORDS_H_
