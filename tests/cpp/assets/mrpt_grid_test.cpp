// Serialized MRPT grids, written here byte by byte.
#include "assets/map_files.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "model/compile.h"
#include "worldfile/load_world.h"

namespace mvsim::mrpt_grid_test {
namespace {

std::string word(uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string real(float value) {
  return word(std::bit_cast<uint32_t>(value));
}

// 3 x 2 cells of half a metre from (-1, 2): the lower left one occupied, the one above it unknown, the others
// free.
std::string grid(uint8_t version = 3, uint8_t bits = 8, uint32_t width = 3) {
  std::string out =
      "\x93"
      "COccupancyGridMap2D";
  out += static_cast<char>(version);
  out += static_cast<char>(bits);
  out += word(width) + word(2) + real(-1) + real(0.5f) + real(2) + real(3) + real(0.5f);
  for (const int cell : {-40, 40, 40, 0, 40, 40}) out += static_cast<char>(cell);
  return out + "what follows is not read";
}

std::string write(const std::string& name, const std::string& content, bool packed) {
  const std::string folder = ::testing::TempDir() + "/mvsim_mrpt_grid";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/" + name;
  if (packed) {
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
  } else {
    std::ofstream(path, std::ios::binary) << content;
  }
  return path;
}

MrptGrid read(const std::string& path) {
  LoadGuard guard;
  return read_mrpt_grid(open_file(path), {}, guard);
}

std::string error_of(const std::string& content, bool packed = false) {
  try {
    read(write("bad.gridmap", content, packed));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MrptGrid, PackedAndPlain) {
  for (const bool packed : {false, true}) {
    const MrptGrid found = read(write("a.gridmap", grid(), packed));
    EXPECT_EQ(found.width, 3);
    EXPECT_EQ(found.height, 2);
    EXPECT_EQ(found.resolution, 0.5);
    EXPECT_EQ(found.x_min, -1);
    EXPECT_EQ(found.y_min, 2);
    EXPECT_EQ(found.cells, (std::vector<int8_t>{-40, 40, 40, 0, 40, 40}));
  }
}

TEST(MrptGrid, StandsInTheWorldWhereItSays) {
  const std::string path = write("b.gridmap.gz", grid(), true);
  const auto model =
      compile_world(load_world_text("<mvsim_world><element class='occupancy_grid'><file>b.gridmap.gz</file>"
                                    "<resolution>7</resolution></element></mvsim_world>",
                                    std::filesystem::path(path).parent_path().string(), {}),
                    {});
  const GridModel& placed = model->grids.at(0);
  EXPECT_EQ(placed.T_world_grid.x, -1);
  EXPECT_EQ(placed.T_world_grid.y, 2);
  EXPECT_EQ(placed.field.resolution(), 0.5);
  EXPECT_EQ(placed.field.distance_to_occupied(0.25, 0.25, 9), 0);
  EXPECT_NEAR(placed.field.distance_to_occupied(1, 0.25, 9), 0.5, 1e-6);
  ASSERT_EQ(model->warnings.size(), 1u);
  EXPECT_NE(model->warnings[0].find("<resolution> is ignored"), std::string::npos);
}

TEST(MrptGrid, SaysWhatIsWrong) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of("a text"), "not a serialized MRPT occupancy grid");
  has(error_of(grid(2)), "version 2, expected 3 to 6");
  has(error_of(grid(3, 16)), "16 bits a cell, expected 8");
  has(error_of(grid(3, 8, 0)), "grid of 0 x 2 cells");
  has(error_of(grid(3, 8, 4000000000u)), "grid of 4000000000 x 2 cells");
  has(error_of(grid(3, 8, 16000)), "truncated");
  has(error_of(""), "truncated");
  has(error_of("\x1f\x8b nothing of the kind"), "not a readable gzip file");
  std::string bad = grid();
  bad.replace(46, 4, real(0));  // the resolution
  has(error_of(bad), "resolution");
  // 200 MB of zeros in 200 kB
  has(error_of(std::string(size_t{200} << 20, '\0'), true), "bytes unpacked");
}

}  // namespace
}  // namespace mvsim::mrpt_grid_test
