// Occupancy grids as MRPT serializes them, packed by gzip or not.
#include "assets/map_files.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  try {
    LoadGuard guard(4 * fuzz::kMemory);  // what is unpacked counts as the largest map
    const MrptGrid grid = read_mrpt_grid(fuzz::file_of(fuzz::text_of(data, size), "a.gridmap"), {}, guard);
    fuzz::require(grid.cells.size() == static_cast<size_t>(grid.width) * static_cast<size_t>(grid.height));
  } catch (const Error&) {
  }
  return 0;
}
