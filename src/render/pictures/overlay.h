// Marks of a picture in addition to the scene: lines on the ground, rings, hits, headings. No OpenGL.
#pragma once

#include <span>

#include "render/pictures/mark_mesh.h"
#include "scene/marks.h"
#include "scene/scene.h"

namespace mvsim {

struct Overlay {
  MarkMesh ground;  // is below all moving bodies
  MarkMesh above;
};

// Makes the marks for the eye `view`; positions are relative to `origin`. `poses`: one for each frame of the
// scene.
Overlay make_overlay(const Scene& scene, std::span<const ScenePose> poses, const Marks& marks,
                     const MarkView& view, Vec3 origin);

}  // namespace mvsim
