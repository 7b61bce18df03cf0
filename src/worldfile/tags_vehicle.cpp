#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr Tag<VehicleSpec> kVehicle[] = {
    own("dynamics", "`class=`: `NAME_wheel` tags, `chassis`, `controller`, and scalars of the class"),
    own("friction", "`class=`: its parameters; absent: `default`"),
    own("load_transfer",
        "absent: every wheel carries the same share of the chassis. Given: the shares follow the centre of "
        "mass, slope, acceleration, braking and turning; `cg_height` (m above ground, absent: the middle of "
        "`zmin` and `zmax`)"),
    own("odometry", "see below"),
    own("limits",
        "of commanded speeds: `linear` and `angular` ([Drives](world-drives.md#limits-of-commands))"),
    own("kinematics", "what the controller believes of its wheels ([Drives](world-drives.md#kinematics))"),
    own("motor", "curve and gear of the motors ([Drives](world-drives.md#motors))"),
    own("servo", "rate and lag of the steering ([Drives](world-drives.md#steering-servo))"),
    {number(
         "command_delay", 0, 1, "s",
         "from a command to its effect; at most 1,000 steps ([Drives](world-drives.md#delay-of-commands))"),
     &VehicleSpec::command_delay},
    {boolean("coupled_sides",
             "the wheels of a side turn alike, as by a chain ([Drives](world-drives.md#coupled-sides))"),
     &VehicleSpec::coupled_sides},
    own("sensor", "`class= name=`: its parameters; default name `laser1`, `imu2`..."),
    own("visual", "a mesh, see below; with one that is there the chassis is not drawn"),
    any_text("log_path").without_effect(),
    {boolean("auto_start_recording",
             "chooses vehicles where the caller names a folder for logs ([python.md](python.md#logs))"),
     &VehicleSpec::auto_start_recording}};

constexpr Tag<ChassisSpec> kChassis[] = {
    {number("mass", kMinMass, 1e7, "kg", "absent: that of the class").randomised(), &ChassisSpec::mass},
    {number("zmin", -kMaxLength, kMaxLength, "m", "absent: that of the class"), &ChassisSpec::z_min},
    {number("zmax", -kMaxLength, kMaxLength, "m", "absent: that of the class"), &ChassisSpec::z_max},
    {number("linear_damping", 0, 1e4, "1/s").randomised(), &ChassisSpec::linear_damping},
    {number("angular_damping", 0, 1e4, "1/s").randomised(), &ChassisSpec::angular_damping},
    {number("inertia", 1e-12, 1e12, "kg m2", "about z, through the centre of mass of the chassis alone")
         .or_value(-1, "of its outline")
         .randomised(),
     &ChassisSpec::inertia},
    {number("com_x", -kMaxLength, kMaxLength, "m", "centre of mass of the chassis; absent: of its outline")
         .randomised(),
     &ChassisSpec::com_x},
    {number("com_y", -kMaxLength, kMaxLength, "m", "as `com_x`").randomised(), &ChassisSpec::com_y},
    {number("com_z", 0, 100, "m",
            "height of the centre of mass above the ground: the default of `cg_height` in `load_transfer`"),
     &ChassisSpec::com_z},
    {color("color", "absent: that of the class"), &ChassisSpec::color},
    own("shape", "a polygon; absent: that of the class"),
    own("visual", "as one of the vehicle"),
    own("shape_from_visual",
        "outline, `zmin` and `zmax` are those of the visuals' meshes; `shape` wins where both stand")};

constexpr Tag<WheelSpec> kWheel[] = {
    own("pos", "x y [yaw] (m, m, degrees); absent: that of the class"),
    {number("mass", kMinMass, 1e6, "kg"), &WheelSpec::mass},
    {number("width", 1e-3, 100, "m"), &WheelSpec::width},
    {number("diameter", 1e-3, 100, "m"), &WheelSpec::diameter},
    {number("inertia", 1e-12, 1e9, "kg m2", "about its axle").or_value(-1, "mass diameter^2 / 8"),
     &WheelSpec::inertia},
    {color("color"), &WheelSpec::color},
    own("linked_yaw",
        "the name of a `visual` of the vehicle that turns with the wheel (one without a name is called "
        "`group`)"),
    {degrees("linked_yaw_offset_deg", -kMaxTurn, kMaxTurn), &WheelSpec::linked_yaw_offset},
    own("visual",
        "a mesh in the frame of the wheel: it steers and spins, and is drawn instead of a cylinder")};

constexpr double kMaxMultiplier = 1e3;
constexpr std::string_view kDrawn = "absent: drawn from N(1, 0.02) per vehicle";
constexpr Tag<OdometrySpec> kOdometry[] = {
    {number("x_multiplier", -kMaxMultiplier, kMaxMultiplier, "", kDrawn).randomised(), &OdometrySpec::x},
    {number("y_multiplier", -kMaxMultiplier, kMaxMultiplier, "", kDrawn).randomised(), &OdometrySpec::y},
    {number("yaw_multiplier", -kMaxMultiplier, kMaxMultiplier, "", kDrawn).randomised(), &OdometrySpec::yaw}};

}  // namespace

constinit const Tags<VehicleSpec> kVehicleTags = kVehicle;
constinit const Tags<ChassisSpec> kChassisTags = kChassis;
constinit const Tags<WheelSpec> kWheelTags = kWheel;
constinit const Tags<OdometrySpec> kOdometryTags = kOdometry;

}  // namespace mvsim
