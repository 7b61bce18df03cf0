// The default: no further observations. A build with observations of its own (tests/cpp/task/test_terms.cpp)
// defines the function itself. This definition is alone in its object file, so the linker then leaves it out.
#include "task/terms.h"

namespace mvsim {

std::span<const TermClass<Observation>> more_observation_classes() {
  return {};
}

}  // namespace mvsim
