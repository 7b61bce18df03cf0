// For every tag and attribute with a typed value: what no number, bool, colour or pose is, gets an error that
// names the place, the tag and what was expected.
#include "worldfile/world_text.h"

namespace mvsim::bad_value_test {
namespace {

enum class Type { kNumber, kNonNegative, kPositive, kInt, kBool, kColor, kNumbers };

struct Place {
  const char* name;
  Type type;
  const char* before;  // the text around the value; the value's tag starts on line 3
  const char* after;
};

constexpr const char* kWheel =
    "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'>\n<l_wheel ";
constexpr const char* kChassis =
    "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'>\n<chassis ";
constexpr const char* kEndDynamics = "'/></dynamics></vehicle>";
constexpr const char* kOdometry =
    "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/>\n<odometry ";
constexpr const char* kEndOdometry = "'/></vehicle>";

// Top level scalars and children of block, walls and elements are made by `child_of`.
const Place kAttributes[] = {
    {"pos", Type::kNumbers, kWheel, kEndDynamics},
    {"mass", Type::kPositive, kWheel, kEndDynamics},
    {"width", Type::kPositive, kWheel, kEndDynamics},
    {"diameter", Type::kPositive, kWheel, kEndDynamics},
    {"inertia", Type::kPositive, kWheel, kEndDynamics},
    {"color", Type::kColor, kWheel, kEndDynamics},
    {"linked_yaw_offset_deg", Type::kNumber, kWheel, kEndDynamics},
    {"mass", Type::kPositive, kChassis, kEndDynamics},
    {"zmin", Type::kNumber, kChassis, kEndDynamics},
    {"zmax", Type::kNumber, kChassis, kEndDynamics},
    {"color", Type::kColor, kChassis, kEndDynamics},
    {"linear_damping", Type::kNonNegative, kChassis, kEndDynamics},
    {"angular_damping", Type::kNonNegative, kChassis, kEndDynamics},
    {"x_multiplier", Type::kNumber, kOdometry, kEndOdometry},
    {"y_multiplier", Type::kNumber, kOdometry, kEndOdometry},
    {"yaw_multiplier", Type::kNumber, kOdometry, kEndOdometry},
    {"lx", Type::kPositive, "<block><init_pose>0 0 0</init_pose>\n<geometry type='box' ly='1' lz='1' ",
     "'/></block>"},
    {"ly", Type::kPositive, "<block><init_pose>0 0 0</init_pose>\n<geometry type='box' lx='1' lz='1' ",
     "'/></block>"},
    {"lz", Type::kPositive, "<block><init_pose>0 0 0</init_pose>\n<geometry type='ramp' ly='1' lx='1' ",
     "'/></block>"},
    {"radius", Type::kPositive, "<block><init_pose>0 0 0</init_pose>\n<geometry type='sphere' ",
     "'/></block>"},
    {"length", Type::kPositive, "<block><init_pose>0 0 0</init_pose>\n<geometry type='cylinder' radius='1' ",
     "'/></block>"},
    {"vertex_count", Type::kInt, "<block><init_pose>0 0 0</init_pose>\n<geometry type='sphere' radius='1' ",
     "'/></block>"},
    {"static", Type::kBool, "<block\n ", "'><init_pose>0 0 0</init_pose></block>"},
    {"from", Type::kInt, "<for var='i' to='1'\n ", "'><gravity>1</gravity></for>"},
    {"to", Type::kInt, "<for var='i' from='0'\n ", "'><gravity>1</gravity></for>"},
    {"enabled", Type::kBool, "<vehicle><init_pose>0 0 0</init_pose><dynamics class='d'/><visual\n ",
     "'/></vehicle>"},
};

constexpr const char* kBlock = "<block><init_pose>0 0 0</init_pose>\n";
constexpr const char* kVehicle =
    "<vehicle><dynamics class='differential'/><init_pose3d>0 0 0 0 0 0</init_pose3d>\n";
constexpr const char* kWalls = "<walls><shape><pt>0 0</pt><pt>1 0</pt></shape>\n";
constexpr const char* kPlane = "<element class='horizontal_plane'>\n";
constexpr const char* kGround = "<element class='ground_grid'>\n";
constexpr const char* kVisual = "<block><init_pose>0 0 0</init_pose><visual>\n";
constexpr const char* kSensor =
    "<vehicle><dynamics class='d'/><init_pose>0 0 0</init_pose><sensor class='laser'>\n";

const Place kChildren[] = {
    {"simul_timestep", Type::kNonNegative, "\n", ""},
    {"gravity", Type::kNonNegative, "\n", ""},
    {"b2d_vel_iters", Type::kInt, "\n", ""},
    {"b2d_pos_iters", Type::kInt, "\n", ""},
    {"collision_threshold", Type::kNonNegative, "\n", ""},
    {"joystick_enabled", Type::kBool, "\n", ""},
    {"rawlog_odometry_rate", Type::kPositive, "\n", ""},
    {"ground_truth_rate", Type::kPositive, "\n", ""},
    {"max_slope_to_collide", Type::kNumber, "\n", ""},
    {"min_slope_to_collide", Type::kNumber, "\n", ""},
    {"mass", Type::kNonNegative, kBlock, "</block>"},
    {"static", Type::kBool, kBlock, "</block>"},
    {"intangible", Type::kBool, kBlock, "</block>"},
    {"ground_friction", Type::kNonNegative, kBlock, "</block>"},
    {"lateral_friction", Type::kNonNegative, kBlock, "</block>"},
    {"restitution", Type::kNonNegative, kBlock, "</block>"},
    {"linear_damping", Type::kNonNegative, kBlock, "</block>"},
    {"angular_damping", Type::kNonNegative, kBlock, "</block>"},
    {"zmin", Type::kNumber, kBlock, "</block>"},
    {"zmax", Type::kNumber, kBlock, "</block>"},
    {"color", Type::kColor, kBlock, "</block>"},
    {"visual_scale", Type::kPositive, kBlock, "</block>"},
    {"pt", Type::kNumbers, "<block><init_pose>0 0 0</init_pose><shape>\n", "</shape></block>"},
    {"init_pose", Type::kNumbers, kVehicle, "</vehicle>"},
    {"init_pose", Type::kNumbers, "<block>\n", "</block>"},
    {"init_pose3d", Type::kNumbers, "<block>\n", "</block>"},
    {"init_vel", Type::kNumbers, kVehicle, "</vehicle>"},
    {"auto_start_recording", Type::kBool, kVehicle, "</vehicle>"},
    {"wallThickness", Type::kPositive, kWalls, "</walls>"},
    {"wallHeight", Type::kPositive, kWalls, "</walls>"},
    {"color", Type::kColor, kWalls, "</walls>"},
    {"scale", Type::kNumber, kWalls, "</walls>"},
    {"x_min", Type::kNumber, kPlane, "</element>"},
    {"x_max", Type::kNumber, kPlane, "</element>"},
    {"y_min", Type::kNumber, kPlane, "</element>"},
    {"y_max", Type::kNumber, kPlane, "</element>"},
    {"z", Type::kNumber, kPlane, "</element>"},
    {"color", Type::kColor, kPlane, "</element>"},
    {"texture_size_x", Type::kPositive, kPlane, "</element>"},
    {"enable_shadows", Type::kBool, kPlane, "</element>"},
    {"floating", Type::kBool, kGround, "</element>"},
    {"interval", Type::kPositive, kGround, "</element>"},
    {"line_width", Type::kNonNegative, kGround, "</element>"},
    {"color", Type::kColor, kGround, "</element>"},
    {"model_scale", Type::kPositive, kVisual, "</visual></block>"},
    {"model_roll", Type::kNumber, kVisual, "</visual></block>"},
    {"model_color", Type::kColor, kVisual, "</visual></block>"},
    {"viz_pointSize", Type::kNumber, kSensor, "</sensor></vehicle>"},
    {"viz_visiblePlane", Type::kBool, kSensor, "</sensor></vehicle>"},
    {"viz_pointsColor", Type::kColor, kSensor, "</sensor></vehicle>"},
};

std::vector<const char*> bad_values(Type type) {
  switch (type) {
    case Type::kBool:
      return {"", "yes", "2", "nan", "tru"};
    case Type::kColor:
      return {"", "red", "#12345", "#1234567", "#gggggg", "112233", "#123", "nan"};
    case Type::kNumbers:
      return {"", "1", "1 x 0", "nan 0 0", "inf 0 0 0 0 0", "1 2 3 4 5 6 7", "1,2,3", "1m 2 3"};
    case Type::kInt:
      return {"", "x", "nan", "inf", "3 m", "1e10", "0x10"};
    case Type::kPositive:
      return {"", "x", "nan", "inf", "-inf", "1 m", "0,5", "1e999", "-2", "0"};
    case Type::kNonNegative:
      return {"", "x", "nan", "inf", "1kg", "-2", "1 2"};
    case Type::kNumber:
      return {"", "x", "nan", "inf", "1deg", "1 2", "${undefined}", "$f{1/0}"};
  }
  return {};
}

void expect_refused(const Place& place, const std::string& text, const char* bad, int line) {
  const std::string body = std::string(place.before) + text + place.after;
  const std::string error = error_of(body);
  const std::string what = std::string(place.name) + " = '" + bad + "' in " + body;
  EXPECT_TRUE(has(error, "<text>:" + std::to_string(line) + ":")) << what;
  if (bad[0] == '$') return;  // expansion names the variable or the expression
  EXPECT_TRUE(has(error, place.name)) << what;
  EXPECT_TRUE(has(error, "expected ")) << what;
}

TEST(BadValue, InAnAttribute) {
  for (const Place& place : kAttributes)
    for (const char* bad : bad_values(place.type))
      expect_refused(place, std::string(place.name) + "='" + bad, bad, 3);
}

TEST(BadValue, LongOnesAreCutBetweenCharacters) {
  for (int shift = 0; shift < 3; ++shift) {
    std::string text(static_cast<size_t>(shift), 'x');
    for (int i = 0; i < 50; ++i) text += "\u20ac";
    const std::string error = error_of("<gravity>" + text + "</gravity>");
    const size_t end = error.find("...'");
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(error.substr(end - 3, 3), "\u20ac") << error;
  }
}

TEST(BadValue, InAChild) {
  for (const Place& place : kChildren)
    for (const char* bad : bad_values(place.type)) {
      const std::string name = place.name;
      expect_refused(place, "<" + name + ">" + bad + "</" + name + ">", bad, 3);
    }
}

}  // namespace
}  // namespace mvsim::bad_value_test
