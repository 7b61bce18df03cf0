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

extern const Tags<WorldSpec> kWorldTags;

extern const PlainTags kPlacementTags;  // of block, vehicle and horizontal_plane
extern const Tags<BlockTraits> kBlockTraitTags;
extern const Tags<BlockSpec> kBlockTags;
extern const Tags<BlockSpec> kGeometryTags;
extern const Tags<Vec3> kGeometrySizeTags;
extern const Tags<WallsSpec> kWallsTags;

extern const Tags<VehicleSpec> kVehicleTags;
extern const Tags<ChassisSpec> kChassisTags;
extern const Tags<WheelSpec> kWheelTags;
extern const Tags<OdometrySpec> kOdometryTags;
extern const Tags<LimitSpec> kLinearLimitTags;
extern const Tags<LimitSpec> kAngularLimitTags;
extern const Tags<KinematicsSpec> kKinematicsTags;
extern const Tags<MotorSpec> kMotorTags;
extern const Tags<ServoSpec> kServoTags;

extern const Tags<ActorSpec> kActorTags;
extern const Tags<WaypointSpec> kWaypointTags;
extern const Tags<VisualSpec> kVisualTags;

extern const PlainTags kJointTags;
extern const Tags<JointSpec> kDistanceJointTags;
extern const Tags<JointSpec> kRevoluteJointTags;

extern const Tags<Rect> kExtentTags;  // of horizontal_plane, property_region and ground_grid
extern const Tags<OccupancyGridSpec> kOccupancyGridTags;
extern const Tags<ElevationMapSpec> kElevationMapTags;
extern const Tags<HorizontalPlaneSpec> kHorizontalPlaneTags;
extern const Tags<VerticalPlaneSpec> kVerticalPlaneTags;
extern const Tags<TextureSpec> kPlaneTextureTags;  // of both planes
extern const Tags<OpeningSpec> kOpeningTags;       // of its doors and windows
extern const Tags<PropertyRegionSpec> kPropertyRegionTags;
extern const Tags<GroundGridSpec> kGroundGridTags;
extern const Tags<PointCloudSpec> kPointCloudTags;

extern const Tags<PublicationSpec> kPublishTags;  // of vehicles and blocks
extern const PlainTags kSensorPublishTags;

extern const Tags<LightsSpec> kLightTags;

// Visible things that do not move, and georeferences. Tags that only a viewer uses are checked and have no
// effect.
extern const PlainTags kSensorViewerTags;
extern const PlainTags kGuiTags;
extern const Tags<MarkerSpec> kMarkerTags;
extern const PlainTags kSkyboxTags;
extern const Tags<GeoreferenceSpec> kGeoreferenceTags;

// For the docs and the tests.
struct TagRow {
  std::string element;  // "block", "element class=\"ground_grid\""...
  TagInfo tag;
  std::string fallback;  // as a file would give it; "" without one
};
std::vector<TagRow> all_tags();

}  // namespace mvsim
