#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr TagInfo kPlacement[] = {
    own("init_pose", "x y yaw (m, m, degrees); this or `init_pose3d` is needed"),
    own("init_pose3d", "x y z yaw pitch roll"),
    own("init_vel", "vx vy omega in the body frame (m/s, m/s, degrees/s); of no use to a plane"),
    own("skip_elevation_adjust", "its z is kept; else it is set on the ground below"),
    own("publish", "topics of a vehicle or block, see [Topics](#topics)"),
    own("animation", "poses by time, see below")};

constexpr Tag<BlockTraits> kBlockTraits[] = {
    {boolean("static", "never moves"), &BlockTraits::is_static},
    {boolean("intangible", "no body: nothing collides with it, wheels stand on it"),
     &BlockTraits::intangible}};

constexpr Tag<BlockSpec> kBlock[] = {
    {number("mass", kMinMass, 1e9, "kg").or_value(0, "for a block that nothing moves").randomised(),
     &BlockSpec::mass},
    {number("ground_friction", 0, 1e3, "", "of the ground under it").randomised(),
     &BlockSpec::ground_friction},
    {number("lateral_friction", 0, 1e3, "", "of its sides, in contacts").randomised(),
     &BlockSpec::lateral_friction},
    {number("restitution", 0, 1).randomised(), &BlockSpec::restitution},
    {number("linear_damping", 0, 1e4, "1/s").randomised(), &BlockSpec::linear_damping},
    {number("angular_damping", 0, 1e4, "1/s").randomised(), &BlockSpec::angular_damping},
    {number("zmin", -kMaxLength, kMaxLength, "m", "absent: that of its `geometry`, or 0"), &BlockSpec::z_min},
    {number("zmax", -kMaxLength, kMaxLength, "m", "absent: that of its `geometry`, or 1"), &BlockSpec::z_max},
    {color("color"), &BlockSpec::color},
    {number_above("visual_scale", 0, 1e6, "", "instead of `model_scale` of its visuals"),
     &BlockSpec::visual_scale},
    own("shape", "a polygon; its convex hull collides; sides that cross give a warning"),
    own("geometry", "see below"),
    own("shape_from_visual",
        "outline, `zmin` and `zmax` are those of the visuals' meshes, between `zmin` and `zmax` where both "
        "are given"),
    own("visual", "a mesh, see below; with one that is there the block's own shape is not drawn")};

constexpr Tag<BlockSpec> kGeometry[] = {
    own("type"),
    {number_above("radius", 0, kMaxLength, "m"), &BlockSpec::radius},
    {number_above("length", 0, kMaxLength, "m"), &BlockSpec::length},
    {integer("vertex_count", 3, 1000, "of `cylinder`, `sphere` and `semi_cylinder_bump`"),
     &BlockSpec::vertex_count}};

constexpr Tag<Vec3> kGeometrySize[] = {{number_above("lx", 0, kMaxLength, "m"), &Vec3::x},
                                       {number_above("ly", 0, kMaxLength, "m"), &Vec3::y},
                                       {number_above("lz", 0, kMaxLength, "m"), &Vec3::z}};

constexpr Tag<WallsSpec> kWalls[] = {
    own("shape", "pairs of points, each pair one wall; or `model_uri`"),
    own("transformation", "of these points, or of the mesh: a 4x4 matrix `[a b c d; ...]`"),
    {number("wallThickness", kThinnest, kMaxLength, "m"), &WallsSpec::thickness},
    {number_above("wallHeight", 0, kMaxLength, "m"), &WallsSpec::height},
    {color("color"), &WallsSpec::color},
    any_number("scale").without_effect(),
    own("model_uri", "a mesh whose lines and edges, seen from above, are walls")};

}  // namespace

constinit const PlainTags kPlacementTags = kPlacement;
constinit const Tags<BlockTraits> kBlockTraitTags = kBlockTraits;
constinit const Tags<BlockSpec> kBlockTags = kBlock;
constinit const Tags<BlockSpec> kGeometryTags = kGeometry;
constinit const Tags<Vec3> kGeometrySizeTags = kGeometrySize;
constinit const Tags<WallsSpec> kWallsTags = kWalls;

}  // namespace mvsim
