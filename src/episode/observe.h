// Makes the rows of observations of an agent from its terms: frames, their history, and pictures.
//
// An observation with `history` h and `stride` s keeps a ring of k = (h - 1) s + 1 frames in
// AgentState::frames. The frame of control period n is at place n mod k. Every s-th frame is copied once into
// the row, oldest first. A picture also has a ring of recipes.
#pragma once

#include <span>
#include <vector>

#include "task/task.h"
#include "views/draw_views.h"

namespace mvsim {

// The agent and the memory of an observation. `first` is true after a reset, when the history starts again.
struct ObservationRow {
  EnvState* env;
  AgentState* agent;
  bool first;
  std::byte* out;                          // memory for a row of its spec
  const DeviceImage* on_device = nullptr;  // not null: `out` is an address in a GPU's memory
};

// Writes an observation that is no picture.
void write_observation(const ObservationSlot& slot, const ObservationRow& row, Scratch& scratch);

// -- pictures, in two steps: a worker records the recipes, then all envs are drawn at once
void record_picture(const ObservationSlot& slot, const ObservationRow& row);
// Collects the views of an agent's pictures for draw_egl_views(). Call it before draw_pictures(), which skips
// pictures on a GPU, since they are complete.
void collect_views(std::span<const ObservationSlot> slots, std::span<const ObservationRow> rows,
                   std::vector<ViewDrawing>& views);
// Draws the pictures of an agent. There is a row for each slot; rows of slots that are no pictures are not
// changed.
void draw_pictures(std::span<const ObservationSlot> slots, std::span<const ObservationRow> rows);
// Draws every frame of the rows again from their recipes.
void redraw_pictures(const ObservationSlot& slot, std::span<const ObservationRow> rows);

}  // namespace mvsim
