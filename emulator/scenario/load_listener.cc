#include "emulator/scenario/load_parts.h"

namespace opensandbox::emulator {

std::vector<ListenerRule> LoadListener(const ObjectReader& scenario, RuleIds& ids) {
  std::vector<ListenerRule> rules;
  const std::vector<Spot> items = scenario.Items("listener");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ObjectReader reader(scenario.context(), items[i], "listenerRule");
    ListenerRule rule;
    rule.id = ids.Take(reader, "listener/" + std::to_string(i));
    const std::string action = reader.Word("do").value_or("reset");
    rule.action = action == "refuse" ? ListenerRule::Action::kRefuse
                  : action == "hang" ? ListenerRule::Action::kHang
                                     : ListenerRule::Action::kReset;
    rule.nth = reader.Count("nth", 1);
    rule.first = reader.Count("first", 1);
    rule.every = reader.Count("every", 1);
    rule.probability = reader.Number("probability");
    reader.AtMostOne({"nth", "first", "every", "probability"});
    if (rule.probability && !(*rule.probability > 0 && *rule.probability <= 1)) {
      reader.Complain("probability", "found " + InWords(*reader.Find("probability")->node) +
                                         ", expected a number above 0 and at most 1");
    }
    if (reader.Has("probability") && !scenario.context().has_seed) {
      reader.Complain("probability", "found chance without a seed, expected the scenario to have a \"seed\"");
    }
    if (const std::optional<Spot> spot = reader.Find("window")) {
      const ObjectReader window(scenario.context(), *spot, "window");
      rule.from = window.Time("from").value_or(Duration::zero());
      rule.until = window.Time("until", false);
      if (rule.until && *rule.until <= rule.from) {
        window.Complain("until", "found a window that ends before it begins, expected \"until\" after \"from\"");
      }
    }
    rule.may_stay_unused = reader.Flag("mayStayUnused").value_or(false);
    if (rule.action == ListenerRule::Action::kRefuse) {
      for (const char* name : {"nth", "first", "every", "probability"}) {
        if (reader.Has(name)) {
          reader.Complain(name, "found \"" + std::string(name) +
                                    "\" of connections that are refused before anybody can count them, expected a "
                                    "\"window\"");
        }
      }
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace opensandbox::emulator
