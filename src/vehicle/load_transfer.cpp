#include "vehicle/load_transfer.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr double kInLine = 1e-9;  // smaller share of the wheels' spread: they stand in a line

// A symmetric matrix of second moments.
struct Spread {
  double xx = 0, xy = 0, yy = 0;

  // The gradient g with spread * g = moment; of wheels in a line what they can carry of it.
  Vec2 solve(Vec2 moment) const {
    const double determinant = xx * yy - xy * xy, trace = xx + yy;
    if (determinant > kInLine * trace * trace)
      return 1 / determinant * Vec2{yy * moment.x - xy * moment.y, xx * moment.y - xy * moment.x};
    if (!(trace > 0)) return {};
    return 1 / (trace * trace) * Vec2{xx * moment.x + xy * moment.y, xy * moment.x + yy * moment.y};
  }
};

}  // namespace

void balance_loads(const LoadBalance& balance, std::span<const WheelModel> wheels,
                   std::span<WheelState> states) {
  const auto count = static_cast<double>(wheels.size());
  Vec2 middle{};
  for (const WheelModel& w : wheels) middle = middle + 1 / count * w.position;
  Spread spread;
  Vec2 moment = -1 * balance.moment - balance.chassis_weight * (middle - balance.center);
  for (const WheelModel& w : wheels) {
    const Vec2 d = w.position - middle;
    spread.xx += d.x * d.x;
    spread.xy += d.x * d.y;
    spread.yy += d.y * d.y;
    moment = moment - w.mass * balance.gravity * (w.position - balance.center);
  }
  const Vec2 gradient = spread.solve(moment);
  double sum = 0;
  for (size_t i = 0; i < wheels.size(); ++i) {
    const double load = balance.chassis_weight / count + dot(gradient, wheels[i].position - middle);
    states[i].load = std::max(0.0, load);
    sum += states[i].load;
  }
  if (!(sum > 0)) return;
  for (WheelState& s : states) s.load *= balance.chassis_weight / sum;
}

}  // namespace mvsim
