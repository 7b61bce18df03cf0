// Readers of the top-level tags; each appends to LoadState::world. Not thread-safe, as LoadState.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worldfile/tags.h"

namespace mvsim {

inline constexpr size_t kMaxShapePoints = 14;
// init_pose, init_pose3d, init_vel, skip_elevation_adjust, animation, publish.
PlacementSpec parse_placement(LoadState& state, const Fields& fields, const SourceLocation& object);
// Six numbers x y z yaw pitch roll, or three x y yaw, from `numbers` on.
Pose3 pose_of_numbers(const NamedText& text, std::span<const double> numbers);
std::vector<Keyframe> parse_animation(LoadState& state, const Element& e, const Scope& scope);
// Warns if `number`, which is read as degrees, looks like radians (1.5708, 3.14...). The warning has its
// value in degrees.
void warn_of_radians(LoadState& state, double number, const NamedText& text);
void require_pose(const PlacementSpec& placement, std::string_view tag, std::string_view name);

void parse_vehicle(LoadState& state, const Element& e);
void parse_drive(LoadState& state, const Fields& fields, VehicleSpec& vehicle);
void parse_sensors(LoadState& state, const Fields& fields, VehicleSpec& vehicle);
void parse_standalone_sensor(LoadState& state, const Element& e);
void parse_block(LoadState& state, const Element& e);
void parse_joint(LoadState& state, const Element& e);
void parse_actor(LoadState& state, const Element& e);
void parse_walls(LoadState& state, const Element& e);
// A static block that stands on a line, named by the count of walls.
// The mesh that <model_uri> names, if it is there.
std::shared_ptr<const MeshFile> read_model(LoadState& state, NamedText uri);
// The image that a tag names, if it is there.
std::shared_ptr<const ColorImage> read_texture(LoadState& state, NamedText uri);
std::shared_ptr<const ColorImage> read_texture(LoadState& state, const Fields& fields, std::string_view tag);
BlockSpec make_wall(LoadState& state, Vec2 from, Vec2 to, double thickness, double height);
void parse_element(LoadState& state, const Element& e);
void parse_vertical_plane(LoadState& state, const Fields& fields, const Element& e);
void read_dem(LoadState& state, const Fields& fields, const NamedText& name, ElevationMapSpec& out);
void parse_point_cloud(LoadState& state, const Fields& fields, const Element& e);
void parse_elevation_map(LoadState& state, const Fields& fields, const Element& e);

// The <visual>s of an object that are enabled and name a mesh; those of an element join the world.
std::vector<VisualSpec> parse_visuals(LoadState& state, const Fields& object);
void add_element_visuals(LoadState& state, const Fields& fields, int order, const Pose3& pose = {});

// Reads a <publish>. Returns null, or "" instead of a sensor's topic, if it is switched off.
std::shared_ptr<const PublicationSpec> parse_publish(LoadState& state, const Element& e, const Scope& scope);
std::string parse_sensor_publish(LoadState& state, const Element& e, const Scope& scope);
// Warns of names in <publish_relative_pose_objects> that nothing of the world has, once it has been read.
void warn_of_absent_objects(LoadState& state);
// Warns of a <publish> of an object that is never published.
void warn_of_publish(LoadState& state, const PlacementSpec& placement, std::string_view tag);

void parse_lights(LoadState& state, const Element& e);
void parse_skybox(LoadState& state, const Fields& fields, const Element& e);

// Read elements of the world as a whole. The check_... functions only check values, which have no effect.
void parse_marker(LoadState& state, const Element& e);
void parse_georeference(LoadState& state, const Element& e);
void check_gui(LoadState& state, const Element& e);
}  // namespace mvsim
