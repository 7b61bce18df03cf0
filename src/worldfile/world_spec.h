// Content of a world file, after includes, variables, loops, expressions and class merging: plain values in
// SI units (angles in radians) that remember their line in the file. A value that remembers no line was
// checked against its range when it was read; model/ checks each ParamSet and the shapes.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assets/map_files.h"
#include "assets/read_image.h"
#include "base/error.h"
#include "base/geometry.h"
#include "base/geometry3.h"
#include "base/params.h"

namespace mvsim {

struct ColorImage;  // assets/read_image.h
struct MeshFile;    // assets/read_mesh.h

// Topics of a body from a <publish> that is switched on. A simulation does not publish them by itself.
struct PublicationSpec {
  std::string topic;                          // of its pose; "": no name is given
  double period = 0.1;                        // s of the wall between two poses
  std::string relative_topic;                 // "" for none
  std::vector<std::string> relative_objects;  // whose poses in the frame of the body go there
  SourceLocation where;
};

// Common to all placed objects.
struct PlacementSpec {
  Pose3 pose;  // z of <init_pose> is 0
  bool has_pose = false;
  Twist2 velocity;  // body frame, m/s and rad/s, of the reference point
  bool adjust_elevation = true;
  std::vector<Keyframe> animation;  // with respect to the pose; none: it does not move by itself
  std::shared_ptr<const PublicationSpec> publication;  // none: no <publish> that is switched on
  SourceLocation where;                                // of the pose tag, or of the object without one
};

// A mesh that is drawn for an object: p_object = pose(offset, yaw, pitch, roll) * (scale * p_mesh).
struct VisualSpec {
  std::shared_ptr<const MeshFile> mesh;  // none: its file is absent
  std::string name = "group";
  double scale = 1;
  double x = 0, y = 0, z = 0, yaw = 0, pitch = 0, roll = 0;
  Color color;  // white: those of the materials
  CullFaces cull = CullFaces::kNone;
  SourceLocation where;
};

struct WheelSpec {
  std::string tag;  // "l_wheel", "lf_wheel"...
  std::optional<Vec2> position;
  double yaw = 0;
  double mass = 2, width = 0.2, diameter = 0.4;
  double inertia = -1;  // spin inertia, -1: mass * diameter^2 / 8
  Color color{0x32, 0x32, 0x32, 255};
  std::string linked_yaw;  // the name of a visual of the vehicle that turns with the wheel; "" for none
  double linked_yaw_offset = 0;
  std::vector<VisualSpec> visuals;
  SourceLocation where;
};

struct ChassisSpec {
  std::optional<double> mass, z_min, z_max;  // absent: those of the dynamics class
  double linear_damping = 0.1, angular_damping = 0.1;
  double inertia = -1;                        // about z through its centre of mass, -1: of the outline
  std::optional<double> com_x, com_y, com_z;  // absent: those of the outline, the middle of the heights
  std::optional<Color> color;
  std::optional<Polygon> shape;
  bool shape_from_visual = false;
  SourceLocation where, shape_where;
};

struct SensorSpec {
  std::string name;  // never empty
  ParamSet params;   // class_name "laser"...; poses and colours too, as text
  std::vector<VisualSpec> visuals;
  std::string publish_topic;  // of a <publish> that is switched on; "": no name is given
};

// Scale factors of odometry; absent ones are drawn per vehicle.
struct OdometrySpec {
  std::optional<double> x, y, yaw;
};

// Limits of a commanded speed, with the names and signs of ros2_control; absent: no limit.
struct LimitSpec {
  std::optional<double> max_velocity, min_velocity;
  std::optional<double> max_acceleration, max_deceleration;
  std::optional<double> max_acceleration_reverse, max_deceleration_reverse;
  std::optional<double> max_jerk, min_jerk;
};
struct LimitsSpec {
  LimitSpec linear, angular;
  SourceLocation where;
};

// Beliefs of a controller about its wheels, as factors of what is true.
struct KinematicsSpec {
  double wheel_separation = 1, left_radius = 1, right_radius = 1;
  SourceLocation where;
};

struct MotorSpec {
  std::optional<double> stall_torque, no_load_speed;  // needed
  double gear_ratio = 1, efficiency = 1, rotor_inertia = 0, rated_voltage = 12;
  std::optional<double> battery_voltage;  // absent: the rated one
  bool torque_control = false;
  SourceLocation where;
};

struct ServoSpec {
  std::optional<double> rate;  // rad/s, absent: no limit
  double time_constant = 0;    // s
  SourceLocation where;
};

struct VehicleSpec {
  std::string name, class_name;
  PlacementSpec placement;
  ParamSet dynamics;  // class and its own scalar children, without wheels, chassis, controller
                      // (of <drivetrain>: "drivetrain/NAME")
  std::vector<WheelSpec> wheels;
  ChassisSpec chassis;
  ParamSet controller;                    // class_name "raw" when absent
  ParamSet friction;                      // class_name "default" when absent
  std::optional<ParamSet> load_transfer;  // off when absent
  OdometrySpec odometry;
  std::optional<LimitsSpec> limits;  // these five have no effect when absent
  std::optional<KinematicsSpec> kinematics;
  std::optional<MotorSpec> motor;
  std::optional<ServoSpec> servo;
  std::optional<double> command_delay;  // s
  SourceLocation command_delay_where;
  std::optional<bool> coupled_sides;
  std::vector<SensorSpec> sensors;
  std::vector<VisualSpec> visuals;
  std::optional<bool> auto_start_recording;
  int order = 0;  // position in the document, shared by all kinds of objects
  SourceLocation where;
};

enum class GeometryType { kPolygon, kBox, kCylinder, kSphere, kRamp, kSemiCylinderBump };

// Scalars of a block that the Model keeps as the file has them.
struct BlockTraits {
  bool is_static = false, intangible = false;
};

// Texture that repeats over a surface. Its size is that of one copy, not that of the surface.
struct TextureSpec {
  std::shared_ptr<const ColorImage> image;  // none: the colour alone
  double size_x = 1, size_y = 1;            // m that one copy covers
};

struct BlockSpec : BlockTraits {
  std::string name, class_name;
  PlacementSpec placement;
  GeometryType geometry = GeometryType::kPolygon;
  Vec3 size;  // lx, ly, lz of box, ramp and bump
  double radius = 0, length = 0;
  int vertex_count = 10;
  std::optional<Polygon> shape;    // of kPolygon; absent: the default square
  bool shape_from_visual = false;  // of kPolygon without a shape
  std::vector<VisualSpec> visuals;
  std::optional<double> visual_scale;  // in place of the scale of the visuals
  double mass = 30, ground_friction = 0.5, lateral_friction = 0.5, restitution = 0.01;
  double linear_damping = 0.1, angular_damping = 0.1;
  std::optional<double> z_min, z_max;
  Color color{0, 0, 255, 255};
  bool is_wall = false;    // made by <walls>
  bool is_person = false;  // the body of an actor, which is drawn in its place
  TextureSpec texture;     // of the sides of a wall
  bool is_drawn = true;    // false: panels stand for it
  bool casts_shadow = true;
  int order = 0;
  SourceLocation where;
};

// An occupancy grid; its yaml (if any) and its image have been read.
struct OccupancyGridSpec {
  std::string image_path;                    // real, for messages
  std::shared_ptr<const GrayLevels> image;   // none: `mrpt`
  std::shared_ptr<const MrptGrid> mrpt;      // a serialized grid, which says itself where it lies
  double resolution = 0.1;                   // m per pixel
  std::optional<double> center_x, center_y;  // pixels from the left and from the bottom row; both or none
  // ROS map_server yaml
  bool is_ros = false;
  Pose2 origin;  // world pose of the lower left corner of the image
  bool negate = false;
  double occupied_threshold = 0.65, free_threshold = 0.196;
  std::string mode = "trinary";
  double restitution = 0.01, lateral_friction = 0.5;
  int order = 0;
  SourceLocation where;
};

// Numbers in rows, as [a b; c d] gives them.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;  // row by row
};

// Heights of the ground.
struct ElevationMapSpec {
  std::string image_path;                    // real, for messages
  std::shared_ptr<const GrayLevels> image;   // none: `data` holds the heights
  double min_z = 0, max_z = 5;               // m, of the darkest and the brightest pixel
  Matrix data;                               // m; row along +x, column along +y
  double data_scale = 1;                     // that `data` has been multiplied with
  Matrix kernel;                             // the heights are convolved with it; no rows: they are not
  double resolution = 1;                     // m between two nodes
  std::optional<double> corner_x, corner_y;  // of node (0, 0); absent: the map is centred, a DEM at its data
  std::shared_ptr<const std::vector<Color>> colors;  // of the nodes of a DEM; none: `color`
  Color color{0xa0, 0xe0, 0xa0, 255};
  TextureSpec texture{.image = {}, .size_x = 0, .size_y = 0};  // size 0: all of the map
  int texture_turns = 0;                                       // quarters, counterclockwise
  int order = 0;
  SourceLocation where;
};

struct HorizontalPlaneSpec {
  Rect extent{-10, 10, -10, 10};
  double z = 0;
  Pose3 pose;                                      // identity unless has_pose
  bool has_pose = false, adjust_elevation = true;  // as in PlacementSpec
  std::vector<Keyframe> animation;                 // the same
  Color color{0xa0, 0xa0, 0xa0, 255};
  CullFaces cull = CullFaces::kNone;
  bool casts_shadow = true;
  TextureSpec texture;
  std::vector<VisualSpec> visuals;
  int order = 0;
  SourceLocation where;
};

enum class Gait { kWalk, kRun, kIdle };

// Next place of an actor, and its gait on the way.
struct WaypointSpec {
  Pose3 pose;
  bool has_z = false;  // else it stays on its height
  double pause = 0;    // s, there
  Gait gait = Gait::kWalk;
};

// A person on a path. Only cameras and 3D lidars see it unless it is solid.
struct ActorSpec {
  std::string name, class_name;
  PlacementSpec placement;
  double walking_speed = 1.4, running_speed = 3.5;  // m/s
  double height = 1.75, collision_radius = 0.3, collision_height = 1.7;
  std::vector<VisualSpec> visuals;  // in place of a plain figure
  std::vector<WaypointSpec> path;
  bool loops = true;
  bool solid = false;            // vehicles run into it, lidars see it
  std::optional<size_t> body{};  // of a solid one: in WorldSpec::blocks
  int order = 0;
  SourceLocation where;
};

// Box of the world in which a property has another value, e.g. the friction of the ground.
struct PropertyRegionSpec {
  std::string name;      // regions of one name share their box
  std::string property;  // "friction_mu"...
  NamedText value;       // its name tells the type: value_double, value_bool or value_string
  Rect extent{-1, 1, -1, 1};
  double z_min = -1000, z_max = 1000;
  SourceLocation where;
};

// Visible points without a body.
struct PointCloudSpec {
  std::vector<Vec3> points;
  double size = 3;  // px in MVSim
  Pose3 pose;
  int order = 0;
  SourceLocation where;
};

// A piece of a wall as it is drawn around doors and windows.
struct PanelSpec {
  Vec2 from, to;
  double thickness = 0, z_min = 0, z_max = 0;
  Color color;
  TextureSpec texture;
  bool casts_shadow = true;
  int order = 0;
};

// Direction and strength of the sun's light, and the light that remains in shadow.
struct LightsSpec {
  double azimuth = 45 * kDegree, elevation = 70 * kDegree;  // of the sun, seen from the world
  Color color;
  double ambient = 0.5;
  bool has_shadows = true;
};

// Background pictures: Front, Back, Down, Up, Left, Right (scene/scene.h).
using SkyboxSpec = std::array<std::shared_ptr<const ColorImage>, 6>;

// Visuals that are drawn in addition to an element.
struct ElementVisualsSpec {
  std::vector<VisualSpec> visuals;
  Pose3 pose;
  int order = 0;  // that of the element
};

// Line that viewers draw. No sensor sees it.
struct MarkerSpec {
  std::vector<Vec3> points;  // world frame
  Color color{255, 255, 255, 255};
  SourceLocation where;
};

// Place of the world on the Earth.
struct GeoreferenceSpec {
  double latitude = 0, longitude = 0, height = 0, rotation = 0;  // degrees, m; world to east-north
  bool is_utm = false;
};

// Grid on the ground by which people judge distances.
struct GroundGridSpec {
  bool floating = true;  // it moves along with a vehicle, in steps of the interval
  std::string focus;     // that vehicle; "": the one whose name comes first
  SourceLocation focus_where;
  Rect extent{-25, 25, -25, 25};
  double interval = 5, line_width = 1;
  Color color{0xe0, 0xe0, 0xe0, 255};
  SourceLocation where;
};

// One of the two bodies that a joint holds: a vehicle or block that stands before the joint in the file.
struct JointEndSpec {
  bool is_vehicle = false;
  size_t index = 0;  // in WorldSpec::vehicles or WorldSpec::blocks
  Vec2 anchor;       // body frame
  SourceLocation where;
};

enum class JointType { kDistance, kRevolute };

struct JointSpec {
  JointType type = JointType::kRevolute;
  JointEndSpec a, b;
  double max_length = 5, min_length = 0;    // m, of kDistance
  double stiffness = 0, damping = 0;        // N/m, N s/m, of kDistance
  bool limited = false;                     // of kRevolute
  double lower_angle = 0, upper_angle = 0;  // rad, of b in the frame of a with respect to the start
  SourceLocation where;
};

inline constexpr double kShortestPeriod = 1e-6;  // s, of time steps and sensors

struct WorldSpec {
  std::string path;
  std::map<std::string, SourceLocation> includes;  // by the path of the included file: the latest <include>
  double timestep = 0;                             // s; 0: min(5 ms, smallest sensor period of a vehicle)
  SourceLocation timestep_where;
  double gravity = 9.81;
  int velocity_iterations = 8, position_iterations = 3;
  double collision_threshold = 0.03;  // m
  std::vector<VehicleSpec> vehicles;  // document order
  std::vector<BlockSpec> blocks;      // document order, walls included
  std::vector<OccupancyGridSpec> grids;
  std::vector<ElevationMapSpec> elevation_maps;
  std::vector<HorizontalPlaneSpec> planes;
  std::vector<PropertyRegionSpec> regions;  // document order: the first that holds a point counts
  std::vector<GroundGridSpec> ground_grids;
  std::vector<JointSpec> joints;
  std::vector<ActorSpec> actors;
  std::vector<PointCloudSpec> point_clouds;
  std::vector<PanelSpec> panels;
  std::vector<MarkerSpec> markers;
  std::vector<ElementVisualsSpec> element_visuals;  // of elements that stay where they are
  std::optional<LightsSpec> lights;                 // none: those of scene/scene.h
  std::optional<SkyboxSpec> skybox;
  std::optional<GeoreferenceSpec> georeference;
  std::vector<SensorSpec> sensors;    // outside of vehicles; poses are world poses
  std::vector<std::string> warnings;  // "path:line:column: text", each once
  // unused_variables: variables of the caller that no file mentions, not even one that an <if> left out; only
  // if such variables are allowed. asked_variables: all names that files have used.
  std::vector<std::string> unused_variables, asked_variables;
};

// Appends an actor, and the body of a solid one: a disc that nothing pushes.
void add_actor(WorldSpec& world, ActorSpec actor);

}  // namespace mvsim
