#include "env/crop.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "env/term_reader.h"

namespace mvsim {
namespace {

std::vector<Vec2> plants_of(const Model& model, const std::string& pattern) {
  std::vector<Vec2> plants;
  for (const BlockModel& block : model.blocks)
    if (matches_pattern(pattern, block.name)) plants.push_back({block.initial_pose.x, block.initial_pose.y});
  return plants;
}

}  // namespace

std::vector<CropPath> crop_paths(const TermSpec& term,
                                 const std::vector<std::shared_ptr<const Model>>& models, LoadGuard& guard) {
  constexpr size_t kMaxRows = 1000;
  TermReader reader(term);
  std::istringstream words(reader.required_text("blocks"));
  std::vector<std::string> patterns;
  for (std::string word; words >> word;) patterns.push_back(std::move(word));
  if (patterns.size() < CropPath::kMinRows || patterns.size() > kMaxRows)
    reader.fail("blocks", "found " + std::to_string(patterns.size()) +
                              " patterns of names, expected one for each row, 2 to 1000 of them");
  const double headland = reader.number("headland", 1.5, kPositive);
  reader.finish();
  std::vector<CropPath> paths;
  for (const auto& model : models) {
    std::vector<std::vector<Vec2>> rows;
    for (const std::string& pattern : patterns) {
      guard.poll();
      rows.push_back(plants_of(*model, pattern));
      if (rows.back().size() >= CropPath::kMinPlants) continue;
      std::vector<std::string> names(model->blocks.size());
      std::ranges::transform(model->blocks, names.begin(), &BlockModel::name);
      reader.fail("blocks", "found '" + shortened(pattern) + "', which matches " +
                                std::to_string(rows.back().size()) +
                                " blocks of the world, expected the plants of a row, 2 at least" +
                                did_you_mean(pattern, names));
    }
    try {
      paths.emplace_back(rows, headland);
    } catch (const WorldFileError&) {
      throw;
    } catch (const Error& e) {
      reader.fail("blocks", e.what());
    }
  }
  return paths;
}

void start_crop(const CropPath& path, Vec2 position, CropState& crop) {
  crop = {};
  crop.along = crop.before = crop.farthest = crop.start = path.nearest(position);
}

void begin_crop_period(CropState& crop) {
  crop.before = crop.along;
  crop.done_before = crop.done;
}

void follow_crop(const CropPath& path, Vec2 position, CropState& crop) {
  crop.along = path.nearest(position, crop.along);
  if (crop.along <= crop.farthest) return;
  crop.done += static_cast<int>(path.alleys_before(crop.along) - path.alleys_before(crop.farthest));
  crop.farthest = crop.along;
}

void move_in_crop(const CropPath& path, Vec2 position, CropState& crop) {
  const double was = crop.along;
  crop.along = crop.before = crop.farthest = path.nearest(position);
  crop.start += crop.along - was;
}

}  // namespace mvsim
