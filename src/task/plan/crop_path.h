// The path of a robot through a field of crop rows: up one alley, around the headland, down the next.
// Immutable, any thread.
#pragma once

#include <vector>

#include "base/geometry.h"

namespace mvsim {

class CropPath {
 public:
  static constexpr size_t kMinRows = 2, kMinPlants = 2;

  // `rows`: the plants of each row, in the order of neighbouring rows; at least two rows of two plants. Rows
  // are parallel. Their direction is that from the first plant of the first row to its last, and the first
  // alley is driven that way. `headland`: distance beyond the rows at which robots turn, m. Throws Error.
  CropPath(const std::vector<std::vector<Vec2>>& rows, double headland);

  // Corners, from the headland before the first alley to the headland after the last.
  const std::vector<Vec2>& points() const { return points_; }
  double length() const { return begins_.back(); }  // m
  size_t alleys() const { return ends_.size(); }
  // Returns the number of alleys that end before a place: the index of its alley, or of the alley after its
  // headland.
  size_t alleys_before(double along) const;

  // Returns the pose at a distance along the path, with the direction of travel. The path is straight beyond
  // its ends.
  Pose2 at(double along) const;

  // Returns the distance along the path of the nearest place of all.
  double nearest(Vec2 point) const;
  // The same, but only on the piece of the path at `along` and on those before and after, so that no alley is
  // skipped. A point that is in no such alley and on no such headland keeps `along`.
  double nearest(Vec2 point, double along) const;

 private:
  struct Piece {
    Vec2 start, direction;  // a unit vector
    double length;
    double half_width;  // of an alley, which ends at this distance; of a headland: 0
    Vec2 outwards;      // of a headland, a unit vector; points less than `edge` along it are between rows
    double edge;
  };

  bool is_on(const Piece& piece, Vec2 point, double along, double distance) const;

  double search(Vec2 point, size_t first, size_t last, double otherwise) const;
  size_t piece_at(double along) const;

  std::vector<Vec2> points_;
  std::vector<Piece> pieces_;
  std::vector<double> begins_;  // begin of each piece, m along the path, and the end of the last
  std::vector<double> ends_;    // end of each alley
};

}  // namespace mvsim
