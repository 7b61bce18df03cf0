#include "assets/mrpt_grid.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "assets/read_image.h"

namespace mvsim {
namespace {

constexpr std::string_view kClass = "COccupancyGridMap2D";
constexpr size_t kMaxGridBytes = static_cast<size_t>(kMaxImagePixels) + 4096;  // with data after the grid

// Little-endian values one after the other.
class Bytes {
 public:
  Bytes(const std::string& path, std::string_view data) : path_(path), rest_(data) {}

  std::string_view take(size_t count) {
    if (count > rest_.size()) throw Error(path_ + ": truncated MRPT grid");
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  uint32_t word() {
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; ++i) out |= static_cast<uint32_t>(byte()) << (8 * i);
    return out;
  }
  double real() { return std::bit_cast<float>(word()); }

 private:
  const std::string& path_;
  std::string_view rest_;
};

}  // namespace

MrptGrid read_mrpt_grid(const OpenFile& file, const SourceLocation& where, LoadGuard& guard) {
  const std::string& path = file.path();
  const TemporaryMemory memory(guard, kMaxGridBytes, where, "the map");
  const std::string content = file.read_unpacked(kMaxGridBytes, guard);
  Bytes bytes(path, content);
  const auto length = static_cast<size_t>(bytes.byte() & 0x7f);
  if (length != kClass.size() || bytes.take(length) != kClass)
    throw Error(path + ": not a serialized MRPT occupancy grid, expected one of class " +
                std::string(kClass));
  const int version = bytes.byte();
  if (version < 3 || version > 6)
    throw Error(path + ": MRPT grid of version " + std::to_string(version) + ", expected 3 to 6");
  if (const int bits = bytes.byte(); bits != 8)
    throw Error(path + ": MRPT grid of " + std::to_string(bits) + " bits a cell, expected 8");
  const uint32_t width = bytes.word(), height = bytes.word();
  const double x_min = bytes.real(), x_max = bytes.real(), y_min = bytes.real(), y_max = bytes.real();
  const double resolution = bytes.real();
  if (width < 1 || height < 1 || width > kMaxImageSide || height > kMaxImageSide ||
      static_cast<long long>(width) * height > kMaxImagePixels)
    throw Error(path + ": grid of " + std::to_string(width) + " x " + std::to_string(height) +
                " cells, expected 1 to " + std::to_string(kMaxImageSide) + " a side");
  if (!std::isfinite(x_min + x_max + y_min + y_max) || !(resolution > 1e-4 && resolution <= 1e3))
    throw Error(path + ": MRPT grid without a place or a resolution in (0.0001, 1000]");
  MrptGrid grid{static_cast<int>(width), static_cast<int>(height), resolution, x_min, y_min, {}};
  guard.take(static_cast<double>(width) * height, where, "the map");
  const std::string_view cells = bytes.take(static_cast<size_t>(width) * height);
  grid.cells.resize(cells.size());
  std::memcpy(grid.cells.data(), cells.data(), cells.size());
  return grid;
}

}  // namespace mvsim
