#include "model/sensor_layout.h"

#include <algorithm>

#include "scene/scene.h"

namespace mvsim {

size_t state_memory_size(const Model& model, const Sensor& sensor) {
  if (sensor.kind() != SensorKind::kView) return sensor.memory_size();
  return kViewRecipeHead + sensor.params().size() + model.recipe_frames.frames.size() * kScenePoseNumbers;
}

void find_recipe_frames(Model& model) {
  RecipeFrames& out = model.recipe_frames;
  out.place.assign(model.scene->frame_count, 0);
  out.place[kWorldFrame] = -1;
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const BlockModel& block = model.blocks[i];
    if (block.frame != kWorldFrame)
      out.blocks.push_back(i);
    else if (block.body >= 0)
      out.place[frame_of_body(static_cast<size_t>(block.body))] = -1;
  }
  for (size_t frame = 0; frame < out.place.size(); ++frame) {
    if (out.place[frame] < 0) continue;
    out.place[frame] = static_cast<int>(out.frames.size());
    out.frames.push_back(static_cast<uint32_t>(frame));
  }
}

void lay_out_sensors(Model& model) {
  constexpr size_t kWord = 4;  // bytes of which a state holds a whole number
  const auto round_up = [](size_t size, size_t to) { return (size + to - 1) / to * to; };
  for (SensorModel& s : model.sensors) {
    s.values = model.reading_count;
    s.bytes = model.reading_bytes;
    s.memory = model.memory_size;
    model.memory_size += state_memory_size(model, *s.sensor);
    if (s.sensor->kind() == SensorKind::kView) continue;
    const ReadingSpec& reading = s.sensor->reading();
    s.bytes = round_up(s.bytes, std::max(kWord, size_of(reading.dtype)));
    model.reading_count += reading.size();
    model.reading_bytes = round_up(s.bytes + reading.bytes(), kWord);
  }
}

}  // namespace mvsim
