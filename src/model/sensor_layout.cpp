#include "model/sensor_layout.h"

#include <algorithm>

#include "scene/scene.h"

namespace mvsim {

size_t state_memory_size(const Model& model, const Sensor& sensor) {
  if (sensor.kind() != SensorKind::kView) return sensor.memory_size();
  return kViewRecipeHead + sensor.params().size() + model.scene->frame_count * kScenePoseNumbers;
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
