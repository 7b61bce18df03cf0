// Vehicles that make no sense: each mistake at its line and column, with what was found and expected.
#include "model/compile.h"
#include "worldfile/world_text.h"

namespace mvsim::bad_vehicle_test {
namespace {

// The error of a whole world, from reading to the compiled model.
std::string error_of_world(const std::string& body) {
  const TempFolder folder;
  try {
    compile_world(load_world_text(world_of(body), folder.path(), {}), {});
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0) << e.what();
    EXPECT_GT(e.where().column, 0) << e.what();
    return e.what();
  }
  return "";
}

// A sound vehicle whose parts a test replaces; the dynamics stand in line 3, the friction in line 4.
std::string vehicle(const std::string& wheels, const std::string& chassis = "<chassis mass='9'/>",
                    const std::string& friction = "<friction class='default'/>",
                    const std::string& controller = "<controller class='raw'/>",
                    const std::string& dynamics = "differential") {
  return "<vehicle name='r'><init_pose>0 0 0</init_pose>\n<dynamics class='" + dynamics + "'>" + wheels +
         chassis + controller + "</dynamics>\n" + friction + "</vehicle>";
}

const char* const kWheels = "<l_wheel pos='0 0.2'/><r_wheel pos='0 -0.2'/>";

struct Mistake {
  std::string body;
  const char* place;  // line within the world
  std::vector<const char*> parts;
};

TEST(BadVehicle, MistakesHaveAPlaceAndAReason) {
  const std::string raw = "<controller class='raw'/>", chassis = "<chassis mass='9'/>",
                    friction = "<friction class='default'/>";
  const auto tire = [&](const char* text) {
    return vehicle(kWheels, chassis, std::string("<friction class='") + text + "</friction>");
  };
  const auto pid = [&](const char* text) {
    return vehicle(kWheels, chassis, friction,
                   std::string("<controller class='twist_pid'>") + text + "</controller>");
  };
  const Mistake mistakes[] = {
      {vehicle("<l_wheel pos='0 0.2'/><r_wheel pos='0 0.2'/>"),
       ":3:",
       {"wheels l_wheel and r_wheel are at the same place"}},
      {vehicle("<l_wheel pos='0 0.2' mass='0'/>"), ":3:", {"mass", "found 0", "expected >= 1e-06"}},
      {vehicle("<l_wheel pos='0 0.2' mass='-1'/>"), ":3:", {"mass", "expected"}},
      {vehicle("<l_wheel pos='0 0.2' inertia='-0.1'/>"), ":3:", {"inertia", "expected"}},
      {vehicle("<l_wheel pos='0 0.2' inertia='0'/>"), ":3:", {"inertia", "expected"}},
      {vehicle("<l_wheel pos='0 0.2' diameter='0'/>"), ":3:", {"diameter", "expected"}},
      {vehicle("<l_wheel pos='0 0.2' width='nan'/>"), ":3:", {"width", "nan", "expected"}},
      {vehicle("<l_wheel pos='0 nan'/>"), ":3:", {"pos", "nan", "expected"}},
      {vehicle("<l_wheel pos='0 1e9'/>"), ":3:", {"pos", "expected"}},
      {vehicle("<left_wheel pos='0 1'/>"), ":3:", {"<left_wheel>", "not a wheel of dynamics 'differential'"}},
      {vehicle("<l_wheel pos='0 -0.2'/><r_wheel pos='0 0.2'/>", chassis, friction,
               "<controller class='twist_pid'/>"),
       ":3:",
       {"left wheel must have a larger y"}},
      {vehicle(kWheels, "<chassis mass='0'/>"), ":3:", {"mass", "expected"}},
      {vehicle(kWheels, "<chassis mass='nan'/>"), ":3:", {"mass", "nan", "expected"}},
      {vehicle(kWheels, "<chassis zmin='1' zmax='0.5'/>"), ":3:", {"zmax is not above zmin"}},
      {vehicle(kWheels, "<chassis><shape><pt>0 0</pt><pt>1 0</pt></shape></chassis>"),
       ":3:",
       {"<shape> has fewer than 3 points"}},
      {vehicle(kWheels, "<chassis><shape><pt>0 0</pt><pt>1 0</pt><pt>2 0</pt></shape></chassis>"),
       ":3:",
       {"<shape>"}},
      {tire("defalut'>"), ":4:", {"class 'defalut'", "expected one of", "did you mean 'default'?"}},
      {tire("default'><mu>-1</mu>"), ":4:", {"mu", "-1", "expected"}},
      {tire("default'><mu>inf</mu>"), ":4:", {"mu", "inf", "expected"}},
      {tire("vti'><surface>snwo</surface>"), ":4:", {"surface", "snwo", "did you mean 'snow'?"}},
      {tire("vti'><cone_index_Pa>0</cone_index_Pa>"), ":4:", {"cone_index_Pa", "expected"}},
      {tire("ellipse'><slip_angle_saturation>0</slip_angle_saturation>"),
       ":4:",
       {"slip_angle_saturation", "expected"}},
      {pid("<KP>nan</KP>"), ":3:", {"KP", "nan", "expected"}},
      {pid("<max_torque>-5</max_torque>"), ":3:", {"max_torque", "expected"}},
      {pid("<enable_antiwindup>perhaps</enable_antiwindup>"), ":3:", {"enable_antiwindup", "expected"}},
      {vehicle(kWheels, chassis, friction, "<controller class='twist_pdi'/>"),
       ":3:",
       {"'twist_pdi'", "did you mean 'twist_pid'?"}},
      {vehicle(kWheels, chassis, friction, raw, "diferential"),
       ":3:",
       {"'diferential'", "did you mean 'differential'?"}},
  };
  for (const Mistake& m : mistakes) {
    const std::string error = error_of_world(m.body);
    EXPECT_TRUE(has(error, "<text>" + std::string(m.place))) << m.body << "\n" << error;
    for (const char* part : m.parts)
      EXPECT_TRUE(has(error, part)) << part << " in\n" << m.body << "\n" << error;
  }
}

TEST(BadVehicle, AnUnknownSensorIsAnsweredWithTheNearest) {
  const std::string error = error_of_world(
      "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/>\n<sensor "
      "class='lazer'/></vehicle>");
  EXPECT_TRUE(has(error, "did you mean 'laser'?")) << error;
}

}  // namespace
}  // namespace mvsim::bad_vehicle_test
