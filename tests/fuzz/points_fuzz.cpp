// Rows of numbers: point clouds, elevation models and centrelines.
#include "assets/data_files.h"

#include "fuzz.h"
#include "task/plan/centreline.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  for (const size_t columns : {size_t{2}, size_t{6}}) try {
      LoadGuard guard(fuzz::kMemory);
      const auto rows =
          read_point_rows(fuzz::file_of(fuzz::text_of(data, size), "p.txt"), columns, 1000, {}, guard);
      fuzz::require(!rows.empty() && rows.size() % columns == 0);
    } catch (const Error&) {
    }
  try {
    LoadGuard guard(fuzz::kMemory);
    fuzz::require(!read_centreline(fuzz::file_of(fuzz::text_of(data, size), "p.csv"), {}, guard).empty());
  } catch (const Error&) {
  }
  return 0;
}
