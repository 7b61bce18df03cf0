#include "episode/observe.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/vector_kernels.h"
#include "episode/episode.h"
#include "task/observe_view.h"

namespace mvsim {
namespace {

// Returns the latest period that is observed. A diverged period keeps the observations of the period before.
size_t latest_of(const ObservationSlot& slot, const EnvState& env) {
  return static_cast<size_t>(env.steps - (env.diverged ? 1 : 0)) % slot.kept();
}

std::byte* frame_of(const ObservationSlot& slot, AgentState& agent, size_t place) {
  return reinterpret_cast<std::byte*>(agent.frames.data()) + slot.first_frame + place * slot.frame_bytes;
}

double* recipe_of(const ObservationSlot& slot, AgentState& agent, size_t place) {
  return agent.recipes.data() + slot.first_recipe + place * slot.term->picture()->recipe_size();
}

// Clips values to their bounds, and maps them to [0, 1] or [-1, 1] if the term asks for it.
void clip_frame(const ObservationSlot& slot, std::byte* frame) {
  if (!slot.clips) return;
  with_dtype(slot.dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values(reinterpret_cast<T*>(frame), slot.low.size());
    if constexpr (std::is_same_v<T, float>) {
      clip_values(slot.low.data(), slot.high.data(), values);
      if (slot.normalize) normalize_values(slot.low.data(), slot.high.data(), values);
    } else {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = std::clamp(values[i], static_cast<T>(slot.low[i]), static_cast<T>(slot.high[i]));
    }
  });
}

void repeat_frame(const ObservationSlot& slot, AgentState& agent, size_t place) {
  const std::byte* frame = frame_of(slot, agent, place);
  for (size_t i = 0; i < slot.kept(); ++i)
    if (i != place) std::memcpy(frame_of(slot, agent, i), frame, slot.frame_bytes);
}

// Returns the frame of `strides` strides ago.
const std::byte* past_frame(const ObservationSlot& slot, AgentState& agent, size_t latest, size_t strides) {
  const size_t kept = slot.kept(), back = strides * static_cast<size_t>(slot.stride);
  return frame_of(slot, agent, (latest + kept - back) % kept);
}

// Copies the latest frame, then the changes between frames, from the latest back. For float32.
void copy_changes(const ObservationSlot& slot, AgentState& agent, size_t latest, std::byte* out) {
  const size_t count = slot.low.size();
  const auto history = static_cast<size_t>(slot.history);
  const auto frame = [&](size_t back) {
    return reinterpret_cast<const float*>(past_frame(slot, agent, latest, back));
  };
  auto* values = reinterpret_cast<float*>(out);
  std::copy_n(frame(0), count, values);
  for (size_t back = 1; back < history; ++back)
    std::transform(frame(back - 1), frame(back - 1) + count, frame(back), values += count, std::minus<>());
}

void copy_history(const ObservationSlot& slot, AgentState& agent, size_t latest, std::byte* out) {
  if (slot.changes) return copy_changes(slot, agent, latest, out);
  const auto history = static_cast<size_t>(slot.history);
  if (slot.stride > 1) {
    for (size_t back = history; back-- > 0; out += slot.frame_bytes)
      std::memcpy(out, past_frame(slot, agent, latest, back), slot.frame_bytes);
    return;
  }
  const size_t older = history - latest - 1;  // frames behind the latest in the ring
  std::memcpy(out, frame_of(slot, agent, latest + 1), older * slot.frame_bytes);
  std::memcpy(out + older * slot.frame_bytes, frame_of(slot, agent, 0), (latest + 1) * slot.frame_bytes);
}

// Returns the memory where a frame is made: in the ring, or in its row if there is no ring.
std::byte* target_of(const ObservationSlot& slot, const ObservationRow& row, size_t place) {
  return slot.history > 1 ? frame_of(slot, *row.agent, place) : row.out;
}

// Returns the frame of the latest period, at its place.
Picture::Frame latest_frame(const ObservationSlot& slot, const ObservationRow& row) {
  const size_t latest = latest_of(slot, *row.env);
  return {&row.env->simulation.model(), recipe_of(slot, *row.agent, latest), target_of(slot, row, latest),
          row.on_device};
}

}  // namespace

void write_observation(const ObservationSlot& slot, const ObservationRow& row, Scratch& scratch) {
  if (slot.history == 1) {
    arriving_frame(slot, *row.env, *row.agent, row.first, scratch, row.out);
    clip_frame(slot, row.out);
    return;
  }
  const size_t latest = latest_of(slot, *row.env);
  std::byte* const frame = frame_of(slot, *row.agent, latest);
  arriving_frame(slot, *row.env, *row.agent, row.first, scratch, frame);
  clip_frame(slot, frame);
  if (row.first) repeat_frame(slot, *row.agent, latest);
  copy_history(slot, *row.agent, latest, row.out);
}

void record_picture(const ObservationSlot& slot, const ObservationRow& row) {
  const size_t latest = latest_of(slot, *row.env);
  const size_t size = slot.term->picture()->recipe_size();
  double* const recipe = recipe_of(slot, *row.agent, latest);
  arriving_recipe(slot, *row.env, *row.agent, row.first, recipe);
  if (!row.first) return;
  for (size_t i = 0; i < slot.kept(); ++i)
    if (i != latest) std::copy(recipe, recipe + size, recipe_of(slot, *row.agent, i));
}

void collect_views(std::span<const ObservationSlot> slots, std::span<const ObservationRow> rows,
                   std::vector<ViewDrawing>& views) {
  for (size_t k = 0; k < slots.size(); ++k) {
    if (!slots[k].is_picture()) continue;
    if (const auto image = slots[k].term->picture()->image())
      views.push_back({image->sensor, image->image, latest_frame(slots[k], rows[k])});
  }
}

void draw_pictures(std::span<const ObservationSlot> slots, std::span<const ObservationRow> rows) {
  std::vector<ViewDrawing> images;
  std::vector<Picture::Frame> frames(slots.size());
  for (size_t k = 0; k < slots.size(); ++k) {
    if (!slots[k].is_picture() || rows[k].on_device) continue;
    frames[k] = latest_frame(slots[k], rows[k]);
    const Picture& picture = *slots[k].term->picture();
    if (const auto image = picture.image())
      images.push_back({image->sensor, image->image, frames[k]});
    else
      picture.draw({&frames[k], 1});
  }
  complete_views(images);
  for (size_t k = 0; k < slots.size(); ++k) {
    if (!slots[k].is_picture() || rows[k].on_device) continue;
    const Picture& picture = *slots[k].term->picture();
    if (picture.image()) replace_zeros_of(picture, slots[k].low.size(), frames[k].out);
    clip_frame(slots[k], frames[k].out);
    if (slots[k].history == 1) continue;
    const size_t latest = latest_of(slots[k], *rows[k].env);
    if (rows[k].first) repeat_frame(slots[k], *rows[k].agent, latest);
    copy_history(slots[k], *rows[k].agent, latest, rows[k].out);
  }
}

void redraw_pictures(const ObservationSlot& slot, std::span<const ObservationRow> rows) {
  std::vector<Picture::Frame> frames;
  for (const ObservationRow& row : rows)
    for (size_t place = 0; place < slot.kept(); ++place)
      frames.push_back(
          {&row.env->simulation.model(), recipe_of(slot, *row.agent, place), target_of(slot, row, place)});
  slot.term->picture()->draw(frames);
  for (const Picture::Frame& frame : frames) clip_frame(slot, frame.out);
  if (slot.history == 1) return;
  for (const ObservationRow& row : rows) copy_history(slot, *row.agent, latest_of(slot, *row.env), row.out);
}

}  // namespace mvsim
