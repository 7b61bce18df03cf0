#include "worldfile/nearest_sample.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace mvsim {
namespace {

constexpr size_t kLeaf = 8;  // points of a box that is not divided

// Boxes of a tree whose leaves have at most kLeaf points.
size_t box_count(size_t count) {
  return 2 * std::bit_ceil((count + kLeaf - 1) / kLeaf) - 1;
}

}  // namespace

double NearestSample::memory_of(size_t count) {
  return static_cast<double>(count * sizeof(Sample) + box_count(count) * sizeof(Box));
}

NearestSample::NearestSample(const std::vector<double>& points, size_t stride, const LoadGuard& guard)
    : points_(points), stride_(stride) {
  const size_t count = points.size() / stride;
  samples_.reserve(count);
  for (size_t i = 0; i < count; ++i)
    samples_.push_back({points[stride * i], points[stride * i + 1], static_cast<uint32_t>(i)});
  boxes_.resize(box_count(count));
  sort(0, 0, count, guard);
}

// The middle of [begin, end) divides it along the longer side of its box.
void NearestSample::sort(size_t box, size_t begin, size_t end, const LoadGuard& guard) {
  if (end - begin > 4096) guard.poll();
  Box b{samples_[begin].x, samples_[begin].y, samples_[begin].x, samples_[begin].y, samples_[begin].index};
  for (size_t i = begin; i < end; ++i) {
    const Sample& s = samples_[i];
    b = {std::min(b.x_min, s.x), std::min(b.y_min, s.y), std::max(b.x_max, s.x), std::max(b.y_max, s.y),
         std::min(b.first_index, s.index)};
  }
  boxes_[box] = b;
  if (end - begin <= kLeaf) return;
  const size_t middle = begin + (end - begin) / 2;
  const auto at = [&](size_t i) { return samples_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto divide = [&](const auto& is_before) {
    std::nth_element(at(begin), at(middle), at(end), is_before);
  };
  // points at one place go to the halves by their indices, so that one half can be left out
  if (b.x_max - b.x_min >= b.y_max - b.y_min)
    divide([](const Sample& p, const Sample& q) {
      return std::tie(p.x, p.y, p.index) < std::tie(q.x, q.y, q.index);
    });
  else
    divide([](const Sample& p, const Sample& q) {
      return std::tie(p.y, p.x, p.index) < std::tie(q.y, q.x, q.index);
    });
  sort(2 * box + 1, begin, middle, guard);
  sort(2 * box + 2, middle, end, guard);
}

// As exact as the distance of a point: a box of one point is as far as this point.
double NearestSample::squared_distance(const Search& search, const Box& box) {
  const double dx = search.x < box.x_min   ? box.x_min - search.x
                    : search.x > box.x_max ? box.x_max - search.x
                                           : 0;
  const double dy = search.y < box.y_min   ? box.y_min - search.y
                    : search.y > box.y_max ? box.y_max - search.y
                                           : 0;
  return dx * dx + dy * dy;
}

void NearestSample::look(Search& search, size_t box, size_t begin, size_t end) {
  if (end - begin <= kLeaf) {
    looks_ += static_cast<int64_t>(end - begin);
    for (size_t i = begin; i < end; ++i) {
      const Sample& s = samples_[i];
      const double dx = s.x - search.x, dy = s.y - search.y, squared = dx * dx + dy * dy;
      if (squared < search.squared || (squared == search.squared && s.index < search.found))
        search.found = s.index, search.squared = squared;
    }
    return;
  }
  looks_ += 2;
  const size_t middle = begin + (end - begin) / 2;
  const Box &low = boxes_[2 * box + 1], &high = boxes_[2 * box + 2];
  const double to_low = squared_distance(search, low), to_high = squared_distance(search, high);
  const auto look_low = [&] {
    if (may_hold(search, low, to_low)) look(search, 2 * box + 1, begin, middle);
  };
  const auto look_high = [&] {
    if (may_hold(search, high, to_high)) look(search, 2 * box + 2, middle, end);
  };
  if (std::pair(to_low, low.first_index) < std::pair(to_high, high.first_index))
    look_low(), look_high();
  else
    look_high(), look_low();
}

uint32_t NearestSample::find(double x, double y, uint32_t guess) {
  const double dx = points_[stride_ * guess] - x, dy = points_[stride_ * guess + 1] - y;
  Search search{x, y, dx * dx + dy * dy, guess};
  if (may_hold(search, boxes_[0], squared_distance(search, boxes_[0]))) look(search, 0, 0, samples_.size());
  return search.found;
}

}  // namespace mvsim
