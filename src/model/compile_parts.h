// Steps of compile_world(), and limits of the motion in one step. Private to model/ and its callers.
#pragma once

#include "base/load_guard.h"
#include "base/math.h"
#include "model/mesh_outline.h"
#include "model/model.h"
#include "terrain/ground_index.h"
#include "terrain/height_map.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// The steps of compile_world(): each takes one part of the WorldSpec into the Model under construction.

// Appends the rows of `table` with `values` under `prefix` to Model::params; returns the index of the first.
size_t add_params(Model& model, const std::string& prefix, std::span<const ParamInfo> table,
                  std::span<const double> values);

// Counts the work of all height maps of a world, which is limited.
struct HeightMapWork {
  size_t nodes = 0, products = 0;  // the products of convolutions
};

// Images and matrices of heights -> height maps.
HeightMap make_height_map(const ElevationMapSpec& spec, LoadGuard& guard, HeightMapWork& work);

// <element class="property_region"> -> regions of the ground, with their parameters.
void compile_regions(const WorldSpec& spec, const LoadGuard& guard, Model& model);

// <georeference> and the regions without satellites; one warning where a receiver has no place on the Earth.
void compile_site(const WorldSpec& spec, const LoadGuard& guard, Model& model);
bool is_coverage(const PropertyRegionSpec& region);

// Returns the initial pose, with z on the ground that the preceding elements of the document make.
Pose3 settle(GroundIndex& ground, const PlacementSpec& placement, double query_height);

// Throws for a class that none of `names` is.
[[noreturn]] void unknown_class(const ParamSet& set, const std::vector<std::string>& names);

// The sensors of a vehicle, and, after all of these, those that stand in the world.
void compile_sensors(const VehicleSpec& spec, size_t vehicle, LoadGuard& guard, Model& model);
void compile_standalone_sensors(const WorldSpec& spec, LoadGuard& guard, Model& model);

// `ground` has the elements before them in the document. Each block is added to it, so Model::blocks must not
// move.
void compile_vehicle(const VehicleSpec& spec, GroundIndex& ground, MeshOutlines& outlines, LoadGuard& guard,
                     Model& model);
// How an environment moves a block: it places it, or its policies drive it.
struct BlockRole {
  bool placed = false, driven = false;
};
void compile_block(const BlockSpec& spec, BlockRole role, GroundIndex& ground, MeshOutlines& outlines,
                   Model& model);

// Limits, motors, servo and delay of a vehicle whose controller and tire are known.
void add_drive(const VehicleSpec& spec, VehicleModel& vehicle, Model& model);

// Keyframes of a block or vehicle that was compiled last; planes that move; people on paths.
void add_animation(const PlacementSpec& placement, BodyKind kind, Model& model);
void compile_moving_plane(const HorizontalPlaneSpec& spec, GroundIndex& ground, Model& model);
// Returns Model::lowest_moving_ground.
double find_lowest_moving_ground(const Model& model);
void compile_actor(const ActorSpec& spec, GroundIndex& ground, Model& model);

// JointSpec to JointModel, and which bodies hang together. Runs once the bodies are compiled.
void compile_joints(const WorldSpec& spec, Model& model);

// Checks that the speed controllers of a compiled world settle at its time step. Otherwise adds a warning
// with gains that do.
void check_drives(const WorldSpec& spec, Model& model);

// Checks that the default bearing friction of tires is small enough for a light vehicle. Otherwise adds a
// warning with a value.
void check_dampings(const WorldSpec& spec, Model& model);

// Sets model.scene and the blocks' frames, after all else of the model. It makes no triangles: shapes stay
// exact.
void compile_scene(const WorldSpec& spec, LoadGuard& guard, Model& model);

// Which frames of the scene stand upright at all times, and which images look level; after the scene.
void find_level_views(Model& model);

// Limits of the motion of a body in one step.

struct Model;

// Box2D's: a body that is faster is moved by no more in a step.
inline constexpr double kMostTravel = 2;        // m, of the centre of mass
inline constexpr double kMostTurn = 0.5 * kPi;  // rad

// Warns of each kind of speed in the world file that a step cannot make. Also warns of vehicles without a
// speed limit of their own, if the step is so long that usual commands exceed what it can make.
void check_speeds(const WorldSpec& spec, bool is_commanded_elsewhere, Model& model);

}  // namespace mvsim
