#include "vehicle/wheel.h"

#include <algorithm>

namespace mvsim {

WheelStance::WheelStance(std::span<const WheelModel> wheels) {
  const auto count = static_cast<double>(wheels.size());
  for (const WheelModel& w : wheels) middle_ = middle_ + 1 / count * w.position;
  for (const WheelModel& w : wheels) {
    const Vec2 d = w.position - middle_;
    xx_ += d.x * d.x;
    xy_ += d.x * d.y;
    yy_ += d.y * d.y;
  }
  const double determinant = xx_ * yy_ - xy_ * xy_, trace = xx_ + yy_;
  is_line_ = !(determinant > kInLine * trace * trace);
  if (!is_line_)
    inverse_ = 1 / determinant;
  else if (trace > 0)
    inverse_ = 1 / (trace * trace);
}

Vec2 WheelStance::gradient(Vec2 moment) const {
  if (inverse_ == 0) return {};
  if (is_line_) return inverse_ * Vec2{xx_ * moment.x + xy_ * moment.y, xy_ * moment.x + yy_ * moment.y};
  return inverse_ * Vec2{yy_ * moment.x - xy_ * moment.y, xx_ * moment.y - xy_ * moment.x};
}

void balance_loads(const WheelStance& stance, const LoadBalance& balance, std::span<const WheelModel> wheels,
                   std::span<WheelState> states) {
  const Vec2 middle = stance.middle();
  Vec2 moment = -1 * balance.moment - balance.chassis_weight * (middle - balance.center);
  for (const WheelModel& w : wheels)
    moment = moment - w.mass * balance.gravity * (w.position - balance.center);
  const Vec2 gradient = stance.gradient(moment);
  const double share = balance.chassis_weight / static_cast<double>(wheels.size());
  double sum = 0;
  for (size_t i = 0; i < wheels.size(); ++i) {
    const double load = share + dot(gradient, wheels[i].position - middle);
    states[i].load = std::max(0.0, load);
    sum += states[i].load;
  }
  if (!(sum > 0)) return;
  for (WheelState& s : states) s.load *= balance.chassis_weight / sum;
}

}  // namespace mvsim
