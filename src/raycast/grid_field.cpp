#include "raycast/grid_field.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace mvsim {
namespace {

constexpr int64_t kMaxCells = int64_t{1} << 28;  // four planes of them stay within 32-bit offsets
constexpr int kTile = 8;
constexpr size_t kLineSide = 8, kCellsALine = kLineSide * kLineSide;  // of GridField::CacheLine

// Cells along a side with a border cell at each end, up to whole cache lines of 8 x 8.
int border_and_padding(int cells) {
  return (cells + 2 + 7) / 8 * 8;
}

double clamp_index(double value, int size) {
  return std::clamp(value, -1.0, static_cast<double>(size));
}

// Distance along one axis from `value` to the interval [low, low + 1].
double outside_by(double value, double low) {
  return std::max({low - value, value - low - 1, 0.0});
}

Cell cell_of_code(uint8_t code) {
  return code == GridField::kOccupiedCode  ? Cell::kOccupied
         : code == GridField::kUnknownCode ? Cell::kUnknown
                                           : Cell::kFree;
}

}  // namespace

GridField::GridField(std::span<const uint8_t> cells, int width, int height, double resolution,
                     const std::function<void()>& poll)
    : width_(width), height_(height), resolution_(resolution) {
  if (width < 1 || height < 1 || (int64_t{width} + 9) * (int64_t{height} + 9) > kMaxCells)
    throw std::invalid_argument("grid of " + std::to_string(width) + " x " + std::to_string(height) +
                                " cells: expected at least 1 x 1 and at most 2^28 cells");
  if (!(resolution > 0) || !std::isfinite(resolution))
    throw std::invalid_argument("grid resolution " + std::to_string(resolution) +
                                ": expected a number above 0");
  if (cells.size() != static_cast<size_t>(width) * static_cast<size_t>(height))
    throw std::invalid_argument("grid of " + std::to_string(cells.size()) +
                                " cells: expected width * height");
  if (std::any_of(cells.begin(), cells.end(),
                  [](uint8_t c) { return c > static_cast<uint8_t>(Cell::kUnknown); }))
    throw std::invalid_argument("grid cell value: expected 0 (free), 1 (occupied) or 2 (unknown)");
  stride_ = border_and_padding(width);
  plane_size_ = stride_ * border_and_padding(height);
  CacheLine unknown;
  std::fill(std::begin(unknown.cells), std::end(unknown.cells), uint8_t{kUnknownCode});
  tiles_per_row_ = (width_ + kTile - 1) / kTile;
  const auto tables = std::make_shared<Tables>();
  tables->codes.assign(4 * static_cast<size_t>(plane_size_) / sizeof(CacheLine) + 1, unknown);
  for (int plane = 0; plane < 4; ++plane) fill_plane(plane, cells, poll, *tables);
  fill_tiles(cells, *tables);
  tables_ = tables;
}

// Distance from each free cell to the nearest stop among the cells that a ray of the quadrant can reach:
// first along columns, then the minimum over the columns ahead. Exact up to kMaxGap; a farther stop is as
// good as none.
void GridField::fill_plane(int plane, std::span<const uint8_t> cells, const std::function<void()>& poll,
                           Tables& tables) const {
  const int ahead_x = (plane & 1) != 0 ? -1 : 1, ahead_y = (plane & 2) != 0 ? -1 : 1;
  const size_t lines_a_plane = static_cast<size_t>(plane_size_) / kCellsALine;
  const size_t lines_a_row = static_cast<size_t>(stride_) / kLineSide;
  CacheLine* const lines = tables.codes.data() + static_cast<size_t>(plane) * lines_a_plane;
  // a row each, from the border's cell on; the borders stop
  const size_t padded = static_cast<size_t>(stride_) + 2 * size_t{kRowBorder};
  std::vector<uint8_t> row_cells(padded, static_cast<uint8_t>(Cell::kUnknown)), codes(padded);
  std::vector<int16_t> steps(padded), squares(padded), nearest(padded);
  int16_t* const square = squares.data() + kRowBorder;
  for (int row = 0; row < height_; ++row) {
    if (poll) poll();
    const int iy = ahead_y > 0 ? height_ - 1 - row : row;
    std::copy_n(cells.data() + static_cast<size_t>(iy) * width_, width_, row_cells.data() + 1);
    step_over_row(row_cells.data(), stride_, steps.data(), square);
    nearest_ahead(square, stride_, ahead_x, nearest.data());
    write_distance_codes(row_cells.data(), nearest.data(), stride_, codes.data());
    // a row of cells is the same row of each cache line in a row of these
    const size_t y = static_cast<size_t>(iy) + 1;
    CacheLine* const line = lines + y / kLineSide * lines_a_row;
    for (size_t i = 0; i < lines_a_row; ++i)
      std::memcpy(line[i].cells + y % kLineSide * kLineSide, &codes[i * kLineSide], kLineSide);
  }
}

void GridField::fill_tiles(std::span<const uint8_t> cells, Tables& tables) const {
  tables.tiles.assign(static_cast<size_t>(tiles_per_row_) * ((height_ + kTile - 1) / kTile), 0);
  for (int iy = 0; iy < height_; ++iy)
    for (int ix = 0; ix < width_; ++ix)
      if (cells[static_cast<size_t>(iy) * width_ + ix] == static_cast<uint8_t>(Cell::kOccupied))
        tables.tiles[static_cast<size_t>(iy / kTile) * tiles_per_row_ + ix / kTile] |=
            uint64_t{1} << (iy % kTile * kTile + ix % kTile);
}

Cell GridField::cell(int ix, int iy) const {
  if (ix < 0 || iy < 0 || ix >= width_ || iy >= height_) return Cell::kUnknown;
  return cell_of_code(codes()[code_offset(ix, iy)]);
}

void GridField::copy_row(int iy, Cell* out) const {
  constexpr uint64_t kOnes = 0x0101010101010101;
  for (int ix = 0; ix < width_;) {
    const uint8_t* const code = codes() + code_offset(ix, iy);
    const int side_by_side = 8 - ((ix + 1) & 7);  // cells in this cache line
    if (side_by_side < 8 || ix + 8 > width_) {
      out[ix++] = cell_of_code(*code);
      continue;
    }
    // eight at a time: 1 for the codes 0 and 1, else 0, plus 1 for the code 1
    uint64_t word;
    std::memcpy(&word, code, sizeof word);
    const uint64_t is_free = ((word & 0x7f * kOnes) + 0x7e * kOnes) | word;  // by the highest bit of a byte
    const uint64_t blocked = (~is_free >> 7) & kOnes;
    word = blocked + (word & blocked);
    std::memcpy(out + ix, &word, sizeof word);
    ix += 8;
  }
}
static_assert(static_cast<int>(Cell::kOccupied) == GridField::kOccupiedCode + 1 &&
              static_cast<int>(Cell::kUnknown) == GridField::kUnknownCode + 1 && GridField::kFreeCode == 2 &&
              static_cast<int>(Cell::kFree) == 0);

Cell GridField::cell_at(double x, double y) const {
  if (!std::isfinite(x) || !std::isfinite(y)) return Cell::kUnknown;
  return cell(static_cast<int>(clamp_index(std::floor(x / resolution_), width_)),
              static_cast<int>(clamp_index(std::floor(y / resolution_), height_)));
}

GridField::Window GridField::window(double x, double y, double radius) const {
  const auto index = [this](double v, int size) {
    return static_cast<int>(clamp_index(std::floor(v / resolution_), size));
  };
  // one cell more than needed on each side: a square that ends at the circle's border touches it
  return {std::max(index(x - radius, width_) - 1, 0), std::min(index(x + radius, width_) + 1, width_ - 1),
          std::max(index(y - radius, height_) - 1, 0), std::min(index(y + radius, height_) + 1, height_ - 1)};
}

double GridField::distance_to_occupied(double x, double y, double limit) const {
  if (!(limit > 0) || !std::isfinite(x) || !std::isfinite(y)) return limit;
  const double px = x / resolution_, py = y / resolution_;  // cells from here on
  double radius = limit / resolution_;
  const int ix = static_cast<int>(clamp_index(std::floor(px), width_));
  const int iy = static_cast<int>(clamp_index(std::floor(py), height_));
  const uint8_t* at = codes() + code_offset(ix, iy);
  uint8_t code = *at;
  for (int plane = 1; plane < 4; ++plane) code = std::min(code, at[static_cast<size_t>(plane) * plane_size_]);
  if (code == kOccupiedCode) return 0;
  if (code >= kFreeCode && code - kFreeCode >= kCodesPerCell * radius) return limit;

  // look at tiles in growing square rings around the point's own, until no nearer cell can follow
  double best = radius * radius;
  const int tx = ix < 0 ? 0 : ix / kTile, ty = iy < 0 ? 0 : iy / kTile;
  const int tile_rows = (height_ + kTile - 1) / kTile;
  const int rings = std::max({tx, ty, tiles_per_row_ - 1 - tx, tile_rows - 1 - ty, 0});
  const uint64_t* tiles = tables_->tiles.data();
  const auto look = [&](int column, int row) {
    uint64_t bits = tiles[static_cast<size_t>(row) * tiles_per_row_ + column];  // a byte a row
    const double ox = std::max({column * kTile - px, px - column * kTile - kTile, 0.0});
    const double oy = std::max({row * kTile - py, py - row * kTile - kTile, 0.0});
    if (bits == 0 || ox * ox + oy * oy >= best) return;
    // of each row the last cell up to the point's column, and the first beyond it
    const int own = std::clamp(ix - column * kTile, -1, kTile - 1);
    const unsigned up_to_own = (1u << (own + 1)) - 1;
    for (int y = row * kTile; bits != 0; bits >>= kTile, ++y) {
      const auto cells = static_cast<unsigned>(bits & 0xff);
      if (cells == 0) continue;
      const double gy = outside_by(py, y);
      const auto consider = [&](int x) {
        const double gx = outside_by(px, column * kTile + x);
        best = std::min(best, gx * gx + gy * gy);
      };
      if (const unsigned before = cells & up_to_own) consider(std::bit_width(before) - 1);
      if (const unsigned beyond = cells & ~up_to_own) consider(std::countr_zero(beyond));
    }
  };
  for (int ring = 0; ring <= rings; ++ring) {
    const double inner = std::max(ring - 1, 0) * static_cast<double>(kTile);  // no tile of the ring is nearer
    if (inner * inner >= best) break;
    for (int row = std::max(ty - ring, 0); row <= std::min(ty + ring, tile_rows - 1); ++row) {
      const bool whole_row = row == ty - ring || row == ty + ring;
      const int stride = whole_row ? 1 : std::max(2 * ring, 1);
      for (int column = tx - ring; column <= tx + ring; column += stride)
        if (column >= 0 && column < tiles_per_row_) look(column, row);
    }
  }
  return best < radius * radius ? std::min(std::sqrt(best) * resolution_, limit) : limit;
}

void GridField::occupied_cells(double x, double y, double radius, std::vector<CellIndex>& found) const {
  found.clear();
  if (!(radius >= 0) || !std::isfinite(x) || !std::isfinite(y)) return;
  const double px = x / resolution_, py = y / resolution_, limit = radius / resolution_;
  const Window w = window(x, y, radius);
  const int first = w.x_min / kTile, last = w.x_max / kTile;
  for (int iy = w.y_min; iy <= w.y_max; ++iy) {
    const uint64_t* const tiles = tables_->tiles.data() + static_cast<size_t>(iy / kTile) * tiles_per_row_;
    if (iy == w.y_min || iy % kTile == 0) {  // rows of tiles without any cell are passed over
      const bool any = std::any_of(tiles + first, tiles + last + 1, [](uint64_t tile) { return tile != 0; });
      if (!any) {
        iy += kTile - 1 - iy % kTile;
        continue;
      }
    }
    const double gy = outside_by(py, iy);
    if (gy > limit) continue;
    for (int column = first; column <= last; ++column) {
      for (unsigned bits = tiles[column] >> (iy % kTile * kTile) & 0xff; bits != 0; bits &= bits - 1) {
        const int ix = column * kTile + std::countr_zero(bits);
        const double gx = outside_by(px, ix);
        if (gx * gx + gy * gy <= limit * limit) found.push_back({ix, iy});
      }
    }
  }
}

size_t GridField::bytes() const {
  return tables_->codes.size() * sizeof(CacheLine) + tables_->tiles.size() * sizeof(uint64_t);
}

double GridField::bytes_of(int width, int height) {
  return (4 + 1.0 / 8) * border_and_padding(width) * border_and_padding(height);
}

}  // namespace mvsim
