// From the terms of an agent to its rows of observations: frames, their history, and pictures.
//
// An observation with `history` h and `stride` s keeps a ring of k = (h - 1) s + 1 frames in
// AgentState::frames, the one of control period n at place n mod k, and is copied from there once, into its
// row: every s-th of them, oldest first. A picture has a ring of recipes beside it.
#pragma once

#include <span>
#include <vector>

#include "task/task.h"
#include "views/draw_views.h"

namespace mvsim {

// Whose frames an observation is made of; `first` is true after a reset, when the history starts anew.
struct ObservationRow {
  EnvState* env;
  AgentState* agent;
  bool first;
  std::byte* out;                          // of its spec
  const DeviceImage* on_device = nullptr;  // not null: `out` is an address in a GPU's memory
};

// Of all observations that are no pictures.
void write_observation(const ObservationSlot& slot, const ObservationRow& row, Scratch& scratch);

// -- pictures, in two parts: recording in a worker, then drawing for all envs at once
void record_picture(const ObservationSlot& slot, const ObservationRow& row);
// What OpenGL draws of an agent's pictures, for draw_egl_views(); before draw_pictures(), which leaves those
// alone that lie on a GPU: they are complete.
void collect_views(std::span<const ObservationSlot> slots, std::span<const ObservationRow> rows,
                   std::vector<ViewDrawing>& views);
// Those of an agent: a row for each slot, of which those that are no pictures stay as they are.
void draw_pictures(std::span<const ObservationSlot> slots, std::span<const ObservationRow> rows);
// Every frame of the rows anew, from their recipes.
void redraw_pictures(const ObservationSlot& slot, std::span<const ObservationRow> rows);

}  // namespace mvsim
