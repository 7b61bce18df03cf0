// Makes terms, for their files. A reward, a termination and most observations are a function of an env and an
// agent:
//
//   template <>
//   std::unique_ptr<const Reward> term<class TimeReward>(TermReader&, TaskContext&) {
//     return reward([](const EnvState&, const AgentState&) { return 1; });
//   }
//
// and terms.cpp has the row {"time", term<class TimeReward>}. A term of another kind is a class, after which
// its file writes, for example,
//
//   template std::unique_ptr<const Action> term<TwistAction>(TermReader&, TaskContext&);
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "task/terms.h"

namespace mvsim {

template <class T, class Term>
std::unique_ptr<const Term> term(TermReader& reader, TaskContext& context) {
  return std::make_unique<T>(reader, context);
}

// Makes the reward whose value is `value(env, agent)`, a number.
template <typename Value>
std::unique_ptr<const Reward> reward(Value value) {
  class RewardOf final : public Reward {
   public:
    explicit RewardOf(Value of) : of_(std::move(of)) {}
    double value(const EnvState& env, const AgentState& agent) const override { return of_(env, agent); }

   private:
    Value of_;
  };
  return std::make_unique<RewardOf>(std::move(value));
}

// Makes the termination that ends an episode where `holds(env, agent)` is true.
template <typename Holds>
std::unique_ptr<const Termination> termination(Verdict verdict, Holds holds) {
  class TerminationOf final : public Termination {
   public:
    TerminationOf(Verdict as, Holds if_true) : as_(as), if_true_(std::move(if_true)) {}
    bool holds(const EnvState& env, const AgentState& agent) const override { return if_true_(env, agent); }
    Verdict verdict() const override { return as_; }

   private:
    Verdict as_;
    Holds if_true_;
  };
  return std::make_unique<TerminationOf>(verdict, std::move(holds));
}

template <typename Holds>
std::unique_ptr<const Termination> failure(Holds holds) {
  return termination(Verdict::kFailure, std::move(holds));
}

// Makes the observation of floats that `write(env, agent, out)` writes.
template <typename Write>
std::unique_ptr<const Observation> observation(std::vector<Interval> bounds, Write write) {
  class ObservationBy final : public ObservationOf<float> {
   public:
    ObservationBy(std::vector<Interval> bounds, Write by) : bounds_(std::move(bounds)), by_(std::move(by)) {}
    std::vector<Interval> bounds() const override { return bounds_; }
    void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
      by_(env, agent, out);
    }

   private:
    std::vector<Interval> bounds_;
    Write by_;
  };
  return std::make_unique<ObservationBy>(std::move(bounds), std::move(write));
}

// Bounds of an observation on both sides of zero.
inline Interval symmetric(double limit) {
  return {-limit, limit};
}

}  // namespace mvsim
