// Spatial index of the ground of a world that is being compiled: answers as highest_under() does without a
// search through all pieces. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/load_guard.h"
#include "terrain/ground.h"

namespace mvsim {

class GroundIndex {
 public:
  explicit GroundIndex(const LoadGuard& guard) : guard_(guard) {}

  // Adds a piece of ground, which must outlive the index and stay at its address.
  void add(const HeightMap& map);
  void add(const GroundPlane& plane);
  void add(const PlacedTop& top);

  // The same as the functions of terrain/ground.h. Both throw Error if a hostile world makes them search
  // through too many pieces.
  double highest_under(Vec2 at, double z);
  std::optional<double> highest_map(Vec2 at);

 private:
  // One of the three. Its heights are at most `top`.
  struct Piece {
    const HeightMap* map = nullptr;
    const GroundPlane* plane = nullptr;
    PlacedTop block{};
    std::optional<double> height_at(Vec2 at) const;
  };
  using ByHeight = std::multimap<double, Piece>;
  // A square of a grid whose squares are 2^level m wide; a piece lies in that of its centre, on the level
  // whose squares are as wide as its radius, so that it reaches into the squares around at most.
  struct Square {
    ByHeight level, uneven;  // by height, by the largest height
  };
  using Key = std::tuple<int, int64_t, int64_t>;

  void add(Vec2 center, double radius, double highest, bool is_level, const Piece& piece);
  void look();
  template <typename Visit>
  void for_squares(Vec2 at, const Visit& visit);
  template <typename Visit>
  void for_maps(Vec2 at, const Visit& visit);

  const LoadGuard& guard_;
  std::map<Key, Square> squares_;
  std::set<int> levels_;
  int64_t looks_ = 0;
};

}  // namespace mvsim
