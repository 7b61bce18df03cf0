// The way of a robot through a field of crop rows: up one alley, round the headland, down the next.
// Immutable, any thread.
#pragma once

#include <vector>

#include "base/geometry.h"

namespace mvsim {

class CropPath {
 public:
  static constexpr size_t kMinRows = 2, kMinPlants = 2;

  // `rows`: the plants of each row, neighbouring rows in turn, at least two of them with two plants each.
  // Rows are parallel in the direction from the first plant of the first row to its last, in which the first
  // alley is driven. `headland`: how far beyond the rows robots turn, m. Throws Error.
  CropPath(const std::vector<std::vector<Vec2>>& rows, double headland);

  // Corners, from the headland before the first alley to that after the last.
  const std::vector<Vec2>& points() const { return points_; }
  double length() const { return begins_.back(); }  // m
  size_t alleys() const { return ends_.size(); }
  // How many alleys end before a place: the index of the one that it lies in, or that the headland leads to.
  size_t alleys_before(double along) const;

  // The place that far along, with the direction of travel; before the beginning and beyond the end straight
  // on.
  Pose2 at(double along) const;

  // How far along the nearest place of all lies.
  double nearest(Vec2 point) const;
  // The same near a place, on its piece of the path and on those before and after, so that nobody leaves out
  // an alley. Who is in no such alley and on no such headland has not moved.
  double nearest(Vec2 point, double along) const;

 private:
  struct Piece {
    Vec2 start, direction;  // a unit vector
    double length;
    double half_width;  // of an alley: what is farther aside is not in it; of a headland: 0
    Vec2 outwards;      // of a headland, a unit vector: what is less than `edge` that way is between rows
    double edge;
  };

  bool is_on(const Piece& piece, Vec2 point, double along, double distance) const;

  double search(Vec2 point, size_t first, size_t last, double otherwise) const;
  size_t piece_at(double along) const;

  std::vector<Vec2> points_;
  std::vector<Piece> pieces_;
  std::vector<double> begins_;  // of each piece, m along the path, and its end
  std::vector<double> ends_;    // of each alley
};

}  // namespace mvsim
