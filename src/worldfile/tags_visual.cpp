// <visual>: a mesh that is drawn for a vehicle, a wheel, a block or a sensor.
#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr Tag<VisualSpec> kVisual[] = {
    boolean("enabled", "`false`: as if it were not there"),
    any_text("model_uri", "a mesh: `dae`, `stl`, `obj`, `fbx`, `glb` or `ply`; absent: the tag is ignored"),
    {number_above("model_scale", 0, 1e6), &VisualSpec::scale},
    {number("model_offset_x", -kFarthest, kFarthest, "m"), &VisualSpec::x},
    {number("model_offset_y", -kFarthest, kFarthest, "m"), &VisualSpec::y},
    {number("model_offset_z", -kFarthest, kFarthest, "m"), &VisualSpec::z},
    {degrees("model_yaw", -kMaxTurn, kMaxTurn), &VisualSpec::yaw},
    {degrees("model_pitch", -kMaxTurn, kMaxTurn, "positive: nose down"), &VisualSpec::pitch},
    {degrees("model_roll", -kMaxTurn, kMaxTurn, "90 stands a mesh upright, which is read with y up"),
     &VisualSpec::roll},
    boolean("show_bounding_box").without_effect(),
    any_text("name", "what `linked_yaw` of a wheel calls it; absent: `group`"),
    {color("model_color", "another one than white: instead of the colours of the materials"),
     &VisualSpec::color},
    {choice("model_cull_faces", kFaces, "the side of the triangles that is not drawn"), &VisualSpec::cull},
    any_number("model_split_size", "m", "a mesh is one here").without_effect()};

}  // namespace

Tags<VisualSpec> visual_tags() {
  return kVisual;
}

}  // namespace mvsim
