#include "task/plan/crop_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"

namespace mvsim {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// A row in the frame of the field: x along the rows, y across.
struct Row {
  double begin = kNoLimit, end = -kNoLimit, y = 0;
};

Row measure(const std::vector<Vec2>& plants, Rotation2 field) {
  Row row;
  for (const Vec2 plant : plants) {
    const Vec2 p = field.unrotate(plant);
    row.begin = std::min(row.begin, p.x);
    row.end = std::max(row.end, p.x);
    row.y += p.y / static_cast<double>(plants.size());
  }
  return row;
}

void check(const std::vector<std::vector<Vec2>>& rows) {
  if (rows.size() < CropPath::kMinRows)
    throw Error("found " + std::to_string(rows.size()) + " rows, expected 2 at least");
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].size() < CropPath::kMinPlants)
      throw Error("found " + std::to_string(rows[i].size()) + " plants in row " + std::to_string(i + 1) +
                  ", expected 2 at least");
  if (norm(rows[0].back() - rows[0].front()) <= 0)
    throw Error("found the first and the last plant of row 1 at one place, expected two places");
}

}  // namespace

CropPath::CropPath(const std::vector<std::vector<Vec2>>& plants, double headland) {
  check(plants);
  const Vec2 along = plants[0].back() - plants[0].front();
  const Rotation2 field(math::atan2(along.y, along.x));
  std::vector<Row> rows;
  for (const auto& row : plants) rows.push_back(measure(row, field));
  for (size_t i = 1; i < rows.size(); ++i) {
    const double before = i > 1 ? rows[i - 1].y - rows[i - 2].y : rows[i].y - rows[i - 1].y;
    if (!((rows[i].y - rows[i - 1].y) * before > 0))
      throw Error("found row " + std::to_string(i + 1) +
                  " not beyond the row before it, expected the rows in their order across the field");
  }

  begins_.push_back(0);
  Vec2 last;
  const auto go = [&](Vec2 to, double half_width, double outwards, double edge) {
    const Vec2 step = to - last;
    const double length = norm(step);
    pieces_.push_back({.start = field.rotate(last),
                       .direction = field.rotate(1 / length * step),
                       .length = length,
                       .half_width = half_width,
                       .outwards = field.rotate({outwards, 0}),
                       .edge = outwards * edge});
    points_.push_back(field.rotate(to));
    begins_.push_back(begins_.back() + length);
    last = to;
  };
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const Row &one = rows[i], &other = rows[i + 1];
    const double low = std::min(one.begin, other.begin), high = std::max(one.end, other.end);
    const double y = (one.y + other.y) / 2, half_width = std::fabs(other.y - one.y) / 2;
    const double way = i % 2 == 0 ? 1 : -1;
    const double begin = way > 0 ? low : high, end = way > 0 ? high : low;
    if (i == 0) {
      last = {begin - way * headland, y};
      points_.push_back(field.rotate(last));
    }
    go({begin, y}, 0, -way, begin);
    go({end, y}, half_width, 0, 0);
    ends_.push_back(begins_.back());
    if (i + 2 == rows.size()) {
      go({end + way * headland, y}, 0, way, end);
      break;
    }
    const Row& next = rows[i + 2];
    const double there = way > 0 ? std::max(other.end, next.end) : std::min(other.begin, next.begin);
    const double farthest = way * std::max(way * end, way * there) + way * headland;
    go({farthest, y}, 0, way, end);
    go({farthest, (other.y + next.y) / 2}, 0, way, way * std::min(way * end, way * there));
  }
}

size_t CropPath::alleys_before(double along) const {
  return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), along) - ends_.begin());
}

size_t CropPath::piece_at(double along) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end() - 1, along);
  return static_cast<size_t>(std::max<ptrdiff_t>(after - begins_.begin(), 1)) - 1;
}

Pose2 CropPath::at(double along) const {
  const size_t i = piece_at(along);
  const Piece& piece = pieces_[i];
  const Vec2 place = piece.start + (along - begins_[i]) * piece.direction;
  return {place.x, place.y, math::atan2(piece.direction.y, piece.direction.x)};
}

bool CropPath::is_on(const Piece& piece, Vec2 point, double along, double distance) const {
  // an alley ends at the headland; places beyond its ends are not on it
  if (piece.half_width > 0) return along >= 0 && along <= piece.length && distance <= piece.half_width;
  return dot(point, piece.outwards) >= piece.edge;
}

double CropPath::search(Vec2 point, size_t first, size_t last, double otherwise) const {
  double best = kNoLimit, along = otherwise;
  for (size_t i = first; i <= last; ++i) {
    const Piece& piece = pieces_[i];
    const Vec2 d = point - piece.start;
    const double ahead = dot(d, piece.direction), on = std::clamp(ahead, 0.0, piece.length);
    const double distance = norm(d - on * piece.direction);
    if (distance >= best || !is_on(piece, point, ahead, distance)) continue;
    best = distance;
    along = begins_[i] + on;
  }
  return along;
}

double CropPath::nearest(Vec2 point) const {
  return search(point, 0, pieces_.size() - 1, 0);
}

double CropPath::nearest(Vec2 point, double along) const {
  const size_t at = piece_at(along);
  return search(point, at - std::min<size_t>(at, 1), std::min(at + 1, pieces_.size() - 1), along);
}

}  // namespace mvsim
