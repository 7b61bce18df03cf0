// What an agent is paid for among people.
#include <algorithm>

#include "env/move/people.h"
#include "env/people_terms.h"

namespace mvsim {
namespace {

// Of the nearest person: how much nearer than `limit`, times the time that it lasts.
class Discomfort final : public Reward {
 public:
  Discomfort(TermReader& reader, TaskContext& context)
      : limit_(reader.number("limit", 0.4, {0, kFarFromPeople})), period_(context.control_period) {
    if (!context.has_people)
      reader.fail("class", "the world has no people, expected a <people> or an <actor> with solid");
  }
  double value(const EnvState&, const AgentState& agent) const override {
    return std::max(0.0, limit_ - agent.people.now) * period_;
  }

 private:
  double limit_, period_;
};

}  // namespace

std::unique_ptr<const Reward> make_discomfort(TermReader& reader, TaskContext& context) {
  return std::make_unique<Discomfort>(reader, context);
}

}  // namespace mvsim
