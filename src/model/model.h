// The compiled world: its structs, its fingerprint, and the layout of its sensors.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/geometry.h"
#include "base/params.h"
#include "raycast/grid_field.h"
#include "raycast/static_shapes.h"
#include "sensor/sensor.h"
#include "terrain/ground.h"
#include "tire/tire_model.h"
#include "vehicle/actuators.h"
#include "vehicle/controller.h"
#include "vehicle/dynamics.h"
#include "vehicle/wheel.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// A compiled world: immutable, shared by any number of simulations and threads.
//
// Everything that an environment may randomise is listed in `params` and copied by each Simulation; what
// stands here besides is nominal and fixed.

struct Scene;
class ViewDrawer;

// A convex outline in its body's frame, with the properties that a rigid body needs.
struct ShapeModel {
  Polygon outline;              // convex hull, counter-clockwise, 3 to 14 vertices
  std::vector<Polygon> pieces;  // the outline cut into polygons of at most 8 vertices, Box2D's limit
  double radius = 0;            // largest distance of a vertex from the body origin
  Vec2 centroid;
  double unit_inertia = 0;  // about the body origin, per kg
};

// One randomisable number, e.g. "vehicle:r1/friction/mu".
struct ParamEntry {
  std::string path;
  double nominal = 0;
  ParamInfo info;  // range and type; `name` is the last part of the path
};

// Parameters of a vehicle's body: the randomised tags of chassis and odometry (worldfile/tags_vehicle.cpp),
// in this order from VehicleModel::body_params on.
enum VehicleParam {
  kChassisMass,
  kChassisLinearDamping,
  kChassisAngularDamping,
  kChassisInertia,
  kChassisComX,
  kChassisComY,
  kOdometryX,
  kOdometryY,
  kOdometryYaw,
  kVehicleParamCount
};

// A visual of a vehicle whose yaw is that of a wheel.
struct LinkedVisual {
  uint32_t frame = 0;  // in the scene
  size_t wheel = 0;    // of the vehicle
  Vec3 place;          // body frame
  double yaw_offset = 0;
};

// Numbers that a vehicle remembers of its drive, from DriveModel::memory on.
enum DriveMemory {
  kCommandInForce,                                 // of the last step
  kCommandBefore = kCommandInForce + kMaxCommand,  // of the step before
  kServoAngle = kCommandBefore + kMaxCommand,      // rad
  kDelayLine                                       // vehicle/command_filters.h
};

// Parts of a drive that datasheets describe. Each number is the first index of its parameters in
// Model::params; an absent one has no effect.
struct DriveModel {
  std::optional<size_t> limits;         // LimitParam: of the speed, then of the turning speed
  std::optional<size_t> kinematics;     // Belief
  std::optional<size_t> motor;          // MotorParam
  std::optional<size_t> servo;          // ServoParam
  std::optional<size_t> command_delay;  // s
  MotorDriver driver = MotorDriver::kVoltage;
  bool coupled_sides = false;  // four wheels, of which those of a side have one spin
  size_t memory = 0;           // first index in a Simulation's memory
  size_t delay_line = 0;       // size, numbers

  // These follow from the above and the controller.
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();
  size_t command_size = 0, delay_places = 0;
  std::array<size_t, kMaxCommand> command_limits{kUnlimited, kUnlimited, kUnlimited, kUnlimited};

  bool shapes_commands() const { return limits || command_delay; }
};

struct VehicleModel {
  std::string name, class_name;
  const Dynamics* dynamics = nullptr;
  const Controller* controller = nullptr;
  const TireModel* tire = nullptr;
  std::vector<WheelModel> wheels;
  ShapeModel chassis;
  double z_min = 0, z_max = 0;
  double radius = 0;  // of chassis and wheels about the reference point
  Pose3 initial_pose;
  Twist2 initial_twist;  // body frame
  // Odometry multipliers that the world leaves open are drawn from N(1, 0.02) at each reset.
  std::array<bool, 3> odometry_drawn{};
  // first index in Model::params
  size_t body_params = 0, tire_params = 0, controller_params = 0, dynamics_params = 0;
  size_t transfer_params = 0;           // the same (model/transfer_params.h)
  std::optional<size_t> load_transfer;  // index in Model::params of its cg_height; off when absent
  size_t controller_state = 0;          // first index in a Simulation's memory
  DriveModel drive;
  size_t first_wheel = 0;  // first index in a Simulation's wheels
  size_t body = 0;
  std::optional<Vec2> first_joint_anchor;  // body frame: where a two-wheeled trailer rests besides
  std::vector<LinkedVisual> linked_visuals;
  std::optional<bool> auto_start_recording;            // from the world; used only by a caller's log
  std::shared_ptr<const PublicationSpec> publication;  // topics for programs that publish; null: none given
  SourceLocation where;
};

// Parameters of a block: its scale and the randomised tags (worldfile/tags_block.cpp), in this order from
// BlockModel::params on. Scale multiplies the outline (not the height).
enum BlockParam {
  kBlockScale,
  kBlockMass,
  kBlockGroundFriction,
  kBlockFriction,
  kBlockRestitution,
  kBlockLinearDamping,
  kBlockAngularDamping,
  kBlockParamCount
};

struct BlockModel {
  std::string name;
  BlockTraits traits;
  bool is_wall = false;
  bool placed = false;     // an environment moves or resizes it: not in Model::static_shapes even if static
  bool is_person = false;  // the body of an actor
  bool is_driven = false;  // a policy of the environment gives its velocity; nothing pushes it
  bool is_led = false;     // a person, a driven block, or one that keyframes move
  ShapeModel shape;
  BlockTop top;
  double z_min = 0, z_max = 0;
  Pose3 initial_pose;
  Twist2 initial_twist;
  size_t params = 0;
  int body = -1;                                       // -1: intangible, no rigid body
  uint32_t frame = 0;                                  // that its shapes hang on in the scene
  std::shared_ptr<const PublicationSpec> publication;  // as of a vehicle
  SourceLocation where;
};

struct GridModel {
  GridField field;
  Pose2 T_world_grid;  // grid frame: origin at the lower left corner of the map
  double restitution = 0, friction = 0;
};

// Two bodies held together; anchors in their frames.
struct JointModel {
  JointType type = JointType::kRevolute;
  size_t body_a = 0, body_b = 0;
  Vec2 anchor_a, anchor_b;
  double min_length = 0, max_length = 0, stiffness = 0, damping = 0;  // of a distance joint
  bool limited = false;                                               // of a revolute joint
  double lower_angle = 0, upper_angle = 0;
  double initial_angle = 0;  // yaw of b less that of a at the start; joint angles are relative to it
};

// Bodies that joints hold together, directly or through others; static ones are in none.
struct JointGroup {
  std::vector<size_t> bodies;  // ascending
  bool tied = false;           // to a static block
};

enum class BodyKind { kVehicle, kBlock };

struct BodyModel {
  BodyKind kind;
  size_t index;
  int joint_group = -1;  // in Model::joint_groups; -1: free
};

struct SensorModel {
  static constexpr size_t kNoVehicle = std::numeric_limits<size_t>::max();

  std::string name;
  size_t vehicle = kNoVehicle;  // none: it stands in the world, and its mount is T_world_sensor
  double period = 0.1;          // s

  bool is_standalone() const { return vehicle == kNoVehicle; }
  size_t params = 0;           // first index in Model::params
  size_t transfer_params = 0;  // the same (model/transfer_params.h)
  size_t values = 0;           // first index in a Simulation's flags of readings
  size_t bytes = 0;            // first index in its readings
  size_t memory = 0;           // first index in its memory
  std::string_view class_name;
  std::string publish_topic;  // from the world, for programs that publish; "": none
  std::unique_ptr<const Sensor> sensor;
  std::vector<uint8_t> level_images{};  // of a view sensor's images: whether the plane draws them
};

enum class GroundProperty { kMu, kCRr, kSurface, kConeIndex };

// Parameters of a region's box, in this order from RegionModel::box on: centre and size, m.
enum RegionParam { kRegionX, kRegionY, kRegionSizeX, kRegionSizeY, kRegionParamCount };

// A box of the world in which the ground has a value of its own.
struct RegionModel {
  GroundProperty property = GroundProperty::kMu;
  size_t box = 0;  // first index in Model::params
  int value =
      -1;  // index in Model::params; -1: of a type that says nothing, later regions do not count there
};

// A block or vehicle whose pose is imposed by time.
struct AnimationModel {
  BodyKind kind = BodyKind::kBlock;
  size_t index = 0;  // of the block or vehicle
  std::vector<Keyframe> frames;
  Pose3 start;
};

// A level plane that moves: ground as a block's top is.
struct MovingPlane {
  BlockTop top;
  std::vector<Keyframe> frames;
  Pose3 start;
  uint32_t frame = 0;  // of the scene
};

// Leg of an actor's path: a walk from one point to the next, then a pause.
struct ActorLeg {
  double start = 0, duration = 0;  // s of the walk; it ends where the next begins, after the pause
  Pose3 from{}, to{};              // level
  double heading = 0;              // rad, of the walk
};

struct ActorModel {
  std::string name;
  std::vector<ActorLeg> legs{};  // none: it stands
  Pose3 initial_pose{};
  double loop_start = 0, end = 0;  // s: from `end` on it goes as from `loop_start`; the same: it stays
  double radius = 0, height = 0;   // m, of the figure
  uint32_t frame = 0;              // of the scene
  int block = -1;                  // its body; -1: seen by eyes only
};

// The frames of the scene whose poses a picture's recipe holds: all but the world and those of blocks that
// are drawn where they were compiled.
struct RecipeFrames {
  std::vector<uint32_t> frames;
  std::vector<int> place;      // by frame, in `frames`; -1: it is not there
  std::vector<size_t> blocks;  // which have a frame there
};

struct Model {
  std::string path;
  double timestep = 5e-3;
  double gravity = 9.81;
  int velocity_iterations = 8, position_iterations = 3;
  double collision_threshold = 0.03;

  std::vector<VehicleModel> vehicles;
  std::vector<BlockModel> blocks;
  std::vector<GridModel> grids;
  std::vector<BodyModel> bodies;  // document order: Box2D's results depend on the order of creation
  std::vector<AnimationModel> animations;
  std::vector<MovingPlane> moving_planes;
  std::vector<ActorModel> actors;
  std::vector<size_t> walkers;        // actors whose bodies follow their paths
  std::vector<size_t> driven_blocks;  // BlockModel::is_driven
  // Bodies that a step may put elsewhere: all but static blocks that nothing leads, of which a world may have
  // thousands.
  std::vector<size_t> moving_bodies;
  std::vector<JointModel> joints;
  std::vector<JointGroup> joint_groups;
  std::vector<SensorModel> sensors;  // of the vehicles, then those that stand in the world
  Terrain terrain;
  bool has_steps = false;  // ground that a chassis may run against: maps, planes, blocks without a body
  // Height that animated ground, planes and tops of blocks, never goes below, m; infinite without such
  // ground.
  double lowest_moving_ground = std::numeric_limits<double>::infinity();
  std::optional<Site> site;          // none: the world is nowhere on the Earth
  std::vector<RegionModel> regions;  // the first of a property that holds a point counts

  // Outlines of static tangible blocks that no environment moves, in the world frame.
  StaticShapes static_shapes;

  std::vector<ParamEntry> params;
  size_t wheel_count = 0;
  size_t memory_size = 0;    // numbers that controllers and sensors keep
  size_t reading_count = 0;  // values of all readings that a state holds
  size_t reading_bytes = 0;  // the same with their padding
  // Bounds of static geometry, grids and elevation maps; without these, of horizontal planes; without these,
  // of the initial poses with a margin.
  Rect bounds;
  // First origin of Box2D's positions, in whole metres: the middle of the world, or (0, 0) if all of the
  // world is near that.
  Vec2 origin;
  std::vector<std::string> warnings;
  double load_bytes = 0;     // that loading it took, about
  uint64_t fingerprint = 0;  // by fingerprint() below

  // Visible form (scene/scene.h), no part of the fingerprint. It refers to the maps above. A caller that
  // keeps it holds it by a pointer that shares the Model's life (scene_of).
  std::shared_ptr<const Scene> scene;
  RecipeFrames recipe_frames;
  // Flags by frame of the scene: it stands upright at all times. Empty: no sensor looks level.
  std::vector<uint8_t> level_frames;
  // Draws what sensors see (model/scene_view.h), no part of the fingerprint; null: nothing draws.
  std::shared_ptr<const ViewDrawer> drawer;

  // Index of a name, or throws Error with the nearest name.
  size_t vehicle_index(std::string_view name) const;
  size_t block_index(std::string_view name) const;
  size_t sensor_index(std::string_view vehicle, std::string_view sensor) const;
  // The name of its vehicle, "" where it stands in the world.
  std::string_view owner_name(const SensorModel& sensor) const;
  // The other vehicles that joints hold to this one, directly or through others.
  std::vector<size_t> joined_vehicles(size_t vehicle) const;
  // Indices into `params` whose path matches; `*` in the pattern stands for any run of characters.
  std::vector<size_t> find_params(std::string_view pattern) const;
};

// The scene of a model, which lives as long as the pointer does.
std::shared_ptr<const Scene> scene_of(const std::shared_ptr<const Model>& model);

bool matches_pattern(std::string_view pattern, std::string_view name);

// Fingerprint of a compiled world, by which snapshots recognise it: a hash of everything that shapes motion
// and readings. It covers no address, path, colour or source location.

uint64_t fingerprint(const Model& model);

// Layout of the memory and the readings of sensors in a state.

// Sets Model::recipe_frames. Call it after compile_scene.
void find_recipe_frames(Model& model);

// Sets values, bytes and memory of all sensors and the sizes in the Model. Call it after compile_scene and
// find_recipe_frames, because a sensor with pictures keeps a recipe of poses in its memory instead of pixels.
void lay_out_sensors(Model& model);

// Layout of a recipe (sim/sense.h): the place of the mounting error, the size of the part before the
// parameters, and the numbers of a pose.
inline constexpr size_t kViewRecipeAskew = 3, kViewRecipeHead = 6, kScenePoseNumbers = 13;
// Returns how many numbers a sensor keeps in a state: memory_size(), or the size of its recipe.
size_t state_memory_size(const Model& model, const Sensor& sensor);

}  // namespace mvsim
