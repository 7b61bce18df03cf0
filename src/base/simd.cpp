#include "base/simd.h"

#include "base/highway_targets.h"

#include <stdexcept>

namespace mvsim {
namespace {

int64_t best_target() {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets == 0 ? HWY_STATIC_TARGET : targets & -targets;  // a lower bit is a better target
}

void use_targets(int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets())
    names.emplace_back(hwy::TargetName(target));
  return names;
}

const char* simd_level() {
  return hwy::TargetName(best_target());
}

ScopedSimdTarget::ScopedSimdTarget(std::string_view name) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) {
      use_targets(target);
      return;
    }
  }
  throw std::invalid_argument("no SIMD target named '" + std::string(name) + "' on this machine");
}

ScopedSimdTarget::~ScopedSimdTarget() {
  use_targets(0);
}

}  // namespace mvsim
