// Snapshots: what is restored continues bit for bit, and bytes that are anything but a
// snapshot of this world change nothing.
#include "sim/snapshot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace mvsim::test::snapshot_test {
namespace {

constexpr const char* kRoom = R"(
  <block name="wall"><static>true</static><init_pose>2 0 10</init_pose>
    <shape><pt>0 -4</pt><pt>0 4</pt><pt>.2 4</pt><pt>.2 -4</pt></shape></block>
  <block name="crate"><mass>5</mass><init_pose>1.2 0.2 30</init_pose>
    <geometry type="cylinder" radius="0.3" length="1" vertex_count="12"/></block>
  <block name="box"><mass>9</mass><init_pose>1.2 -0.9 70</init_pose>
    <shape><pt>-.2 -.2</pt><pt>-.2 .2</pt><pt>.2 .2</pt><pt>.2 -.2</pt></shape></block>
  <block name="ramp"><static>true</static><intangible>true</intangible><init_pose>-2 0 0</init_pose>
    <geometry type="ramp" lx="2" ly="3" lz="0.3"/></block>)";
constexpr const char* kNoisyLidar =
    R"(<sensor class="laser" name="l"><nrays>37</nrays><max_range>6</max_range><sensor_period>0.03</sensor_period>
       <range_std_noise>0.05</range_std_noise></sensor>)";

std::vector<std::string> worlds() {
  const std::string sensor = kNoisyLidar;
  return {
      kRoom + bot("a", kPid, sensor + "<init_pose>0 0 5</init_pose>") +
          bot("b", kIdeal, sensor + "<init_pose>0 -1.2 0</init_pose>"),
      kRoom + bot("a", "", "<init_pose>-0.5 0 5</init_pose>" + sensor),
      kRoom + bot("a", kPid, "<init_pose>0 0 5</init_pose>" + sensor) +
          bot("b", kIdeal, "<init_pose>-1.5 0 0</init_pose>") +
          R"(<joint type="revolute" body_a="a" anchor_a="-0.7 0" body_b="b" anchor_b="0.8 0"/>)",
      bot("free", kPid, "<init_pose>0 0 5</init_pose>" + sensor),
  };
}

// Commands that follow from the step alone, so that a run can be repeated from anywhere.
void command(Simulation& sim) {
  RandomStream random(sim.state().step_count / 20, 7, StreamPurpose::kActionNoise);
  for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
    double values[kMaxCommand];
    const Controller& c = *sim.model().vehicles[v].controller;
    for (size_t i = 0; i < c.command().size(); ++i)
      values[i] = c.accepts_twist() ? random.uniform(-0.3, 1.2) : random.uniform(-3, 0.5);
    sim.set_command(v, {values, c.command().size()});
  }
}

uint64_t drive(Simulation& sim, int steps) {
  Hash hash;
  for (int i = 0; i < steps; ++i) {
    command(sim);
    sim.step(sim.state().step_count % 7 == 3 ? 0.004 : 0.01);
    mix_state(sim, hash);
  }
  return hash.value();
}

TEST(Snapshot, ContinuesBitForBitFromRandomMoments) {
  int in_contact = 0;
  uint64_t key = 0;
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  for (const std::string& world : worlds()) {
    const auto model = model_of(world);
    Simulation sim(model, ++key);
    Simulation other(model, 999);
    drive(other, 50);
    for (int moment = 0; moment < 25; ++moment) {
      if (moment % 5 == 0) sim.reset(++key, static_cast<uint32_t>(moment));
      drive(sim, static_cast<int>(random.below(120)));
      const std::string bytes = sim.snapshot();
      for (size_t v = 0; v < model->vehicles.size(); ++v) in_contact += sim.state().vehicles[v].in_collision;
      other.restore(bytes);
      ASSERT_TRUE(other.snapshot() == bytes);
      ASSERT_EQ(drive(sim, 100), drive(other, 100)) << "moment " << moment << " of world " << world;
      ASSERT_TRUE(sim.snapshot() == other.snapshot());
    }
  }
  EXPECT_GT(in_contact, 10);
}

// Taking one is no disturbance of free motion, and going back and forth leaves no trace.
TEST(Snapshot, SecondLifeEqualsTheFirst) {
  Simulation sim(model_of(worlds().back()), 1), undisturbed(model_of(worlds().back()), 1);
  drive(undisturbed, 300);
  drive(sim, 100);
  const std::string bytes = sim.snapshot();
  const uint64_t first = drive(sim, 200);
  EXPECT_TRUE(sim.snapshot() == undisturbed.snapshot());
  sim.restore(bytes);
  EXPECT_EQ(drive(sim, 200), first);
}

TEST(Snapshot, CarriesChangedParametersAndPlacedBlocks) {
  CompileOptions options;
  options.placed_blocks = {"wall"};
  const auto model = model_of(worlds()[0], options);
  Simulation sim(model, 1), other(model, 2);
  sim.set_param(model->find_params("vehicle:a/friction/mu").front(), 0.3);
  sim.place_block(model->block_index("wall"), {3, 1, 0.2});
  sim.set_sensor_scheduled(0, false);
  clearance(other, 0, 5);  // its outlines of the old place are cached
  other.restore(sim.snapshot());
  EXPECT_EQ(other.state().params[model->find_params("vehicle:a/friction/mu").front()], 0.3);
  EXPECT_EQ(clearance(other, 0, 5), clearance(sim, 0, 5));
  EXPECT_FALSE(other.state().sensors[0].scheduled);
  EXPECT_EQ(drive(sim, 200), drive(other, 200));
}

std::string error_of(Simulation& sim, std::string_view bytes) {
  try {
    sim.restore(bytes);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Snapshot, RefusesWhatItIsNot) {
  const auto model = model_of(worlds()[0]);
  Simulation sim(model, 1), foreign(model_of(worlds()[1]), 1);
  drive(sim, 80);
  const std::string before = sim.snapshot();
  std::string old = before, kind = before;
  ++old[8];
  EXPECT_NE(error_of(sim, "").find("no snapshot"), std::string::npos);
  EXPECT_NE(error_of(sim, "MVSIM" + before).find("no snapshot"), std::string::npos);
  EXPECT_NE(error_of(sim, old).find("another version"), std::string::npos);
  EXPECT_NE(error_of(sim, before + "x").find("was cut"), std::string::npos);
  EXPECT_NE(error_of(sim, foreign.snapshot()).find("another world"), std::string::npos);
  SnapshotWriter writer(SnapshotKind::kEnvironment, model->fingerprint, 0);
  EXPECT_NE(error_of(sim, writer.finish()).find("one of an environment"), std::string::npos);
  EXPECT_TRUE(sim.snapshot() == before);
}

TEST(Snapshot, DamagedBytesChangeNothing) {
  const auto model = model_of(worlds()[0]);
  Simulation sim(model, 1);
  drive(sim, 80);
  const std::string good = sim.snapshot();
  drive(sim, 10);
  const std::string before = sim.snapshot();
  RandomStream random(5, 0, StreamPurpose::kSpawn);
  const auto below = [&](size_t n) { return random.below(static_cast<uint32_t>(n)); };
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    if (i % 3 == 0) {
      bad.resize(below(good.size()));
    } else if (i % 3 == 1) {
      for (uint32_t flips = 1 + below(4); flips-- > 0;)
        bad[below(bad.size())] ^= static_cast<char>(1 << below(8));
      if (bad == good) continue;
    } else {
      for (char& c : bad) c = static_cast<char>(below(256));
    }
    ASSERT_NE(error_of(sim, bad), "") << i;
  }
  EXPECT_TRUE(sim.snapshot() == before);
}

// Bytes with a right checksum whose contents are wrong: refused, or a state like any other.
TEST(Snapshot, ForgedContentsNeverCrash) {
  const auto model = model_of(worlds()[0]);
  Simulation sim(model, 1);
  drive(sim, 80);
  const std::string good = sim.snapshot();
  const std::string body(snapshot_body(good, SnapshotKind::kWorld, model->fingerprint));
  RandomStream random(6, 0, StreamPurpose::kSpawn);
  const auto below = [&](size_t n) { return random.below(static_cast<uint32_t>(n)); };
  int refused = 0, accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string forged = body;
    if (i % 4 == 0) {
      forged.resize(below(forged.size()));
    } else {
      for (uint32_t flips = 1 + below(3); flips-- > 0;)
        forged[below(forged.size())] = static_cast<char>(below(256));
    }
    SnapshotWriter writer(SnapshotKind::kWorld, model->fingerprint, forged.size());
    writer.archive().raw(forged.data(), forged.size());
    const std::string before = sim.snapshot();
    if (!error_of(sim, writer.finish()).empty()) {
      ++refused;
      ASSERT_TRUE(sim.snapshot() == before);
      continue;
    }
    ++accepted;
    drive(sim, 3);
    sim.restore(good);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
}

TEST(Snapshot, SaysWhoDrewIfAnybodyHad) {
  const auto model = model_of(worlds()[0]);
  EXPECT_EQ(snapshot_drawn_by(Simulation(model, 1).snapshot()), CameraBackend::kAuto) << "it has no cameras";
  for (const CameraBackend backend : {CameraBackend::kEgl, CameraBackend::kRays}) {
    SnapshotWriter writer(SnapshotKind::kWorld, model->fingerprint, 0, backend);
    std::string bytes = writer.finish();
    EXPECT_EQ(snapshot_drawn_by(bytes), backend);
    EXPECT_NO_THROW(snapshot_body(bytes, SnapshotKind::kWorld, model->fingerprint));
    bytes[14] = 7;  // no backend has this number, and the checksum covers it
    EXPECT_EQ(snapshot_drawn_by(bytes), CameraBackend::kAuto);
    EXPECT_THROW(snapshot_body(bytes, SnapshotKind::kWorld, model->fingerprint), Error);
  }
  EXPECT_EQ(snapshot_drawn_by("short"), CameraBackend::kAuto);
}

TEST(Snapshot, RefusesADivergedState) {
  Simulation sim(model_of(worlds().back()), 1);
  const std::string good = sim.snapshot();
  sim.place_vehicle(0, {std::nan(""), 0, 0});
  EXPECT_THROW(sim.snapshot(), Error);
  sim.restore(good);
  EXPECT_TRUE(is_finite(sim));
}

}  // namespace
}  // namespace mvsim::test::snapshot_test
