// The tables of tags, a family a file (tags_*.cpp). Where several stand for one element, all of them are its
// tags.
#pragma once

#include "worldfile/tag.h"

namespace mvsim {

inline constexpr double kFarthest = 1e7;  // m: beyond, a millimetre is lost even in double precision products
inline constexpr double kMaxLength = 1e6;  // m, of bodies and their parts
inline constexpr double kMaxTurn = 36000 * kDegree;
inline constexpr double kThinnest = 0.004;  // m, of a wall: what the solver takes
inline constexpr double kMinMass = 1e-6;    // kg, of what moves; forces on less leave single precision

// Elements that become blocks when they are read.
struct WallsSpec {
  double thickness = 0.10, height = 2;
  Color color{0x32, 0x32, 0x32, 255};
};
struct VerticalPlaneSpec {
  double x0 = -10, y0 = -10, x1 = -10, y1 = 10, z = 0, height = 3, thickness = 0.02;
  Color color{0xa0, 0xa0, 0xa0, 255};
  bool casts_shadow = true;
  TextureSpec texture;
};
struct OpeningSpec {
  double position = 0.5, width = 1, z_min = 0, z_max = 2.1;
};

Tags<WorldSpec> world_tags();

PlainTags placement_tags();  // of block, vehicle and horizontal_plane
Tags<BlockTraits> block_trait_tags();
Tags<BlockSpec> block_tags();
Tags<BlockSpec> geometry_tags();
Tags<Vec3> geometry_size_tags();
Tags<WallsSpec> walls_tags();

Tags<VehicleSpec> vehicle_tags();
Tags<ChassisSpec> chassis_tags();
Tags<WheelSpec> wheel_tags();
Tags<OdometrySpec> odometry_tags();
Tags<LimitSpec> linear_limit_tags();
Tags<LimitSpec> angular_limit_tags();
Tags<KinematicsSpec> kinematics_tags();
Tags<MotorSpec> motor_tags();
Tags<ServoSpec> servo_tags();

Tags<ActorSpec> actor_tags();
Tags<WaypointSpec> waypoint_tags();
Tags<VisualSpec> visual_tags();

PlainTags joint_tags();
Tags<JointSpec> distance_joint_tags();
Tags<JointSpec> revolute_joint_tags();

Tags<Rect> extent_tags();  // of horizontal_plane, property_region and ground_grid
Tags<OccupancyGridSpec> occupancy_grid_tags();
Tags<ElevationMapSpec> elevation_map_tags();
Tags<HorizontalPlaneSpec> horizontal_plane_tags();
Tags<VerticalPlaneSpec> vertical_plane_tags();
Tags<TextureSpec> plane_texture_tags();  // of both planes
Tags<OpeningSpec> opening_tags();        // of its doors and windows
Tags<PropertyRegionSpec> property_region_tags();
Tags<GroundGridSpec> ground_grid_tags();
Tags<PointCloudSpec> point_cloud_tags();

Tags<PublicationSpec> publish_tags();  // of vehicles and blocks
PlainTags sensor_publish_tags();

Tags<LightsSpec> light_tags();

// Visible things that do not move, and georeferences. Tags that only a viewer uses are checked and have no
// effect.
PlainTags sensor_viewer_tags();
PlainTags gui_tags();
Tags<MarkerSpec> marker_tags();
PlainTags skybox_tags();
Tags<GeoreferenceSpec> georeference_tags();

// For the docs and the tests.
struct TagRow {
  std::string element;  // "block", "element class=\"ground_grid\""...
  TagInfo tag;
  std::string fallback;  // as a file would give it; "" without one
};
std::vector<TagRow> all_tags();

}  // namespace mvsim
