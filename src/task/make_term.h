// Makes a term of a class, for the files of the terms. After its class a file writes, for example,
//
//   template std::unique_ptr<const Reward> term<TimeReward>(TermReader&, TaskContext&);
//
// and terms.cpp has the row {"time", term<class TimeReward>}. A class that needs other arguments specialises
// term<>().
#pragma once

#include <memory>

#include "task/terms.h"

namespace mvsim {

template <class T, class Term>
std::unique_ptr<const Term> term(TermReader& reader, TaskContext& context) {
  return std::make_unique<T>(reader, context);
}

// Bounds of an observation on both sides of zero.
inline Interval symmetric(double limit) {
  return {-limit, limit};
}

}  // namespace mvsim
