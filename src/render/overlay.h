// What people see in a picture beside the scene: lines on the ground, rings, hits, headings. No OpenGL.
#pragma once

#include "render/mark_mesh.h"
#include "scene/marks.h"

namespace mvsim {

struct Overlay {
  MarkMesh ground;  // lies under all that moves
  MarkMesh above;
};

// As seen from `view`; positions relative to `origin`.
Overlay make_overlay(const Scene& scene, const Marks& marks, const MarkView& view, Vec3 origin);

}  // namespace mvsim
