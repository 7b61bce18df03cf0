// The closed line of a race track: distances along it, the nearest place to a point, its course. It may cross
// itself, such as an eight. Immutable, any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "assets/open_file.h"
#include "base/geometry.h"

namespace mvsim {

class Centreline {
 public:
  static constexpr size_t kMinPoints = 3, kMaxPoints = 10000;

  // `points`: the corners in the order of travel; the last one is joined to the first. Throws Error for fewer
  // than three, for more than kMaxPoints, and for two equal ones in a row.
  explicit Centreline(std::vector<Vec2> points);

  const std::vector<Vec2>& points() const { return points_; }
  double length() const { return length_; }  // m

  // Returns the distance along the line, from the first corner, of the place nearest to a point: in [0,
  // length()).
  double nearest(Vec2 point) const;
  // The same, plus the number of laps that brings it nearest to `along`. A lap adds length().
  double nearest(Vec2 point, double along) const;

  static constexpr double kWindow = 0.125;  // share of the length that follow() searches to either side
  // Whether two pieces that are no neighbours have a point in common.
  bool crosses_itself() const { return crosses_itself_; }
  // Returns the place nearest to a point that was at `along` a moment before, at most kWindow of the length
  // away from there: near a crossing the nearest place of all may be on the other branch.
  double follow(Vec2 point, double along) const;

  // Returns the pose at a distance along the line, with the direction of travel; any number of laps, also
  // negative.
  Pose2 at(double along) const;

 private:
  struct Piece {
    Vec2 start, direction;  // a unit vector
    double length, along;   // m, of its start
    double yaw;
  };
  // The circle around kRun consecutive pieces.
  static constexpr size_t kRun = 8;
  struct Run {
    Vec2 center;
    double radius = 0;
  };
  // The place on a piece nearest to a point.
  struct Place {
    double on, square;  // m from its start; m2 to the point
  };
  // The part of the piece between two distances from its start, m, is searched.
  static Place place_on(const Piece& piece, Vec2 point, double from, double to);
  bool meet(size_t i, size_t k) const;
  bool has_crossing() const;
  double nearest_within(Vec2 point, double within) const;
  double on_line(double along) const;  // in [0, length())
  size_t piece_at(double on) const;

  std::vector<Vec2> points_;
  std::vector<Piece> pieces_;
  std::vector<Run> runs_;
  std::vector<size_t> first_of_;  // for equal parts of the line: the piece at the begin of each
  double length_ = 0;
  bool crosses_itself_ = false;
};

// Parses lines of a file of a centreline: their columns, and the indices of x and y. Pure functions.

struct Column {
  std::string_view text;  // without blanks around it
  size_t begin = 0;       // position in the line
};

inline constexpr size_t kMaxColumns = 100;

// Splits a line at semicolons if it has some, else at commas, else at blanks. Returns at most kMaxColumns + 1
// columns.
std::vector<Column> columns_of(std::string_view line);

struct XyColumns {
  size_t x = 0, y = 1;
};

// Finds the columns of a header with names for x (x, "x_m", pos_x, X [m]) and the same name for y.
std::optional<XyColumns> named_xy(const std::vector<Column>& header);

// Whether the first of three numbers a row is the arc length along the points of the other two.
bool is_length_along(const std::vector<double>& rows);

// Reads files of centrelines and racing lines in the formats of track databases. Thread-safe.
//
// Text with a point a line. Semicolons, commas, or blanks and tabs separate columns; '#' begins a comment. A
// header, in a comment or not, names the columns. x and y are read; the others (widths, curvature, speed) are
// not used. Without a header x and y are the first two of 2 to 4 columns, or the second and third if the
// first is the length along them.

// Returns the corners of the closed line, without a last corner that repeats the first. Throws WorldFileError
// with line and column, or at `where` if memory does not suffice.
std::vector<Vec2> read_centreline(const OpenFile& file, const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
