// Contacts of an agent, by the kinds of bodies: the attribute `with`, and the termination of a number of
// them.
#include "task/terms.h"

#include <algorithm>
#include <sstream>

#include "task/make_term.h"
#include "task/track/tracker.h"

namespace mvsim {

uint8_t read_contact_kinds(TermReader& reader) {
  if (!reader.has("with")) return 0xff;
  std::istringstream words(reader.text("with", ""));
  uint8_t bits = 0;
  for (std::string word; words >> word;) {
    const auto* const kind = std::find_if(kContactKinds.begin(), kContactKinds.end(),
                                          [&](const ContactKind& k) { return k.name == word; });
    if (kind == kContactKinds.end())
      reader.fail("with", "found '" + shortened(word) + "', expected some of wall, block, agent, person");
    bits |= kind->bit;
  }
  if (bits == 0) reader.fail("with", "found nothing, expected some of wall, block, agent, person");
  return bits;
}

// Counts contacts: a tracker for each term `contacts`, and the termination that uses it.

namespace {

struct ContactCount {
  double begun = 0;  // contacts that began in this episode
};

class ContactTracker final : public TrackerOf<ContactCount> {
 public:
  explicit ContactTracker(uint8_t with) : with_(with) {}
  void start(const TrackerView& view) const override { state(view.agent) = {}; }
  void measure(const TrackerView& view) const override {
    const AgentState& agent = view.agent;
    if ((agent.now.contacts & with_) != 0 && (agent.before.contacts & with_) == 0) ++state(view.agent).begun;
  }
  void hash(ArchiveHasher&) const override {}

 private:
  uint8_t with_;  // bits of Contact
};

}  // namespace

// Ends after a number of contacts.
template <>
std::unique_ptr<const Termination> term<class ContactsTermination>(TermReader& reader, TaskContext& context) {
  const int max = reader.integer("max", 5, 1, 1000000);
  const auto& contacts = context.needs.track<ContactTracker>(read_contact_kinds(reader));
  return failure([&contacts, max](const EnvState&, const AgentState& agent) {
    return contacts.state(agent).begun >= max;
  });
}

}  // namespace mvsim
