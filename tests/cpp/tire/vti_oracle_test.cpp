// The tables of tests/data/mavs: output of MAVS's own code (rows of a larger table), and the corrected soil
// forms evaluated once by an independent program.
#include <gtest/gtest.h>

#include <cmath>

#include "tire/csv_table.h"
#include "tire/vti_mavs.h"
#include "tire/vti_traction.h"

namespace mvsim::vti_oracle_test {
namespace {

using test::CsvRow;
using test::CsvTable;

constexpr double kPsi = 6894.76;

Surface surface_of(const CsvRow& row) {
  const int index = surface_index(row.text("surface"));
  // MAVS takes any other name for dry ground
  return index < 0 ? Surface::kDry : static_cast<Surface>(index);
}

TireContact contact_of(const CsvRow& row, double cone_index) {
  return {row["normal_force_N"], row["deflection_m"], row["section_height_m"],
          row["width_m"],        row["diameter_m"],   cone_index};
}

void expect_mavs(Surface surface, const TireContact& contact, const CsvRow& row) {
  const Vec2 force =
      mavs_force(surface, contact, row["slip"], row["slip_angle_rad"], row["crossover_deg"] * kDegree);
  EXPECT_NEAR(force.x, row["fx_N"], 1e-5 * contact.load);
  EXPECT_NEAR(force.y, row["fy_N"], 1e-5 * contact.load);
}

TEST(VtiLadder, AOfSlip) {
  const CsvTable table("mavs/calc_slip.csv");
  EXPECT_EQ(table.rows().size(), 570u);
  for (const CsvRow& row : table.rows())
    EXPECT_NEAR(mavs_slip_ratio(row["radius_m"] * row["omega_rad_s"], row["vx_m_s"], row["startup"] != 0),
                row["slip"], 1e-6);
}

TEST(VtiLadder, BOfRigidGround) {
  const CsvTable table("mavs/vti_rigid.csv");
  EXPECT_GE(table.rows().size(), 1500u);
  for (const CsvRow& row : table.rows()) {
    TireContact contact;
    contact.load = row["normal_force_N"];
    expect_mavs(surface_of(row), contact, row);
    const double gross = traction(surface_of(row), contact, row["slip"]).gross;
    EXPECT_NEAR(contact.load * gross, row["fx_N"], 1e-5 * contact.load);
  }
}

TEST(VtiLadder, COfSand) {
  const CsvTable table("mavs/vti_sand.csv");
  EXPECT_GE(table.rows().size(), 500u);
  for (const CsvRow& row : table.rows()) expect_mavs(Surface::kSand, contact_of(row, row["CI_Pa"]), row);
}

TEST(VtiLadder, COfClay) {
  const CsvTable table("mavs/vti_clay.csv");
  EXPECT_GE(table.rows().size(), 500u);
  for (const CsvRow& row : table.rows()) expect_mavs(Surface::kClay, contact_of(row, row["CI_Pa"]), row);
}

TEST(VtiLadder, DOfASingleUpdate) {
  const CsvTable table("mavs/tire_update_step.csv");
  EXPECT_GE(table.rows().size(), 300u);
  for (const CsvRow& row : table.rows()) {
    const double heading = row["yaw_rad"] + row["steer_rad"];
    const Rotation2 wheel(heading);
    const Vec2 velocity = wheel.unrotate({row["vx_world"], row["vy_world"]});
    const MavsTire tire{.radius = row["radius_m"],
                        .width = row["width_m"],
                        .section_height = row["section_height_m"],
                        .stiffness = row["k_N_per_m"],
                        .damping = row["c_N_s_per_m"],
                        .inertia = row["moment_kg_m2"],
                        .viscous = row["viscous_1_per_s"],
                        .crossover = row["crossover_deg"] * kDegree};
    const bool starting = row["startup_in"] != 0 && row["torque_Nm"] == 0;
    const MavsUpdate out = mavs_update(tire, surface_of(row), row["soil_strength_Pa"],
                                       {.dt = row["dt_s"],
                                        .depth = row["radius_m"] - row["z_m"],
                                        .speed = velocity.x,
                                        .lateral_speed = velocity.y,
                                        .rise = row["vz_world"],
                                        .steer = row["steer_rad"],
                                        .spin = row["omega_in"],
                                        .torque = row["torque_Nm"],
                                        .starting = starting});
    const Vec2 force = wheel.rotate({out.forward, out.left});
    const double load = std::max(1.0, std::fabs(row["force_z_N"]));
    EXPECT_NEAR(force.x, row["force_x_N"], 1e-5 * load);
    EXPECT_NEAR(force.y, row["force_y_N"], 1e-5 * load);
    EXPECT_NEAR(out.up, row["force_z_N"], 1e-5 * load);
    EXPECT_NEAR(out.spin, row["omega_out"], 1e-5 * std::max(1.0, std::fabs(row["omega_out"])));
    EXPECT_NEAR(out.slip, row["slip"], 5e-6);  // MAVS rotates velocities in single precision
  }
}

TEST(VtiLadder, EOfCorrectedSoil) {
  const CsvTable table("mavs/derived_corrected_forms.csv");
  EXPECT_GE(table.rows().size(), 400u);
  for (const CsvRow& row : table.rows()) {
    const TireContact contact = contact_of(row, row["CI_psi"] * kPsi);
    const Traction t = traction(surface_of(row), contact, row["slip"]);
    const auto expect = [](double found, double expected) {
      EXPECT_NEAR(found, expected, 5e-9 * std::fabs(expected));  // the table has nine digits
    };
    expect(t.gross, row["gross_coeff_signed"]);
    expect(t.resistance, row["resistance_coeff"]);
    expect(t.peak, row["peak_lateral_coeff"]);
    expect(corrected_force(surface_of(row), contact, row["slip"], 0, 0.1, 1).x,
           row["net_force_forward_motion_N"]);
  }
}

}  // namespace
}  // namespace mvsim::vti_oracle_test
