// Snapshots. An input of pairs (place, byte) changes a sound body, whose checksum is made to fit, so that the
// reader behind it is met; the same input is also read as it stands. Refused, or a state like any other.
#include "fuzz.h"
#include "model/compile.h"
#include "sim/simulation.h"
#include "sim/snapshot.h"
#include "worldfile/load_world.h"

namespace {

constexpr const char* kWorld =
    "<mvsim_world><vehicle name='r'><dynamics class='differential'><controller class='twist_pid'/></dynamics>"
    "<init_pose>0 0 0</init_pose><sensor class='laser'><nrays>5</nrays></sensor></vehicle>"
    "<block name='b'><init_pose>3 0 0</init_pose></block><block name='c'><init_pose>5 0 0</init_pose></block>"
    "<joint type='distance' body_a='b' body_b='c' anchor_a='0 0' anchor_b='0 0' "
    "max_length='3'/></mvsim_world>";

void restore_and_step(mvsim::Simulation& sim, std::string_view bytes) {
  try {
    sim.restore(bytes);
    for (int i = 0; i < 3; ++i) sim.step();
  } catch (const mvsim::Error&) {
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  static const auto model = compile_world(load_world_text(kWorld, ".", {}), {});
  static const std::string sound = [] {
    Simulation sim(model, 1);
    sim.set_twist(0, 1, 0.2);
    for (int i = 0; i < 50; ++i) sim.step();
    return sim.snapshot();
  }();
  Simulation sim(model, 1);
  std::string body(snapshot_body(sound, SnapshotKind::kWorld, model->fingerprint));
  for (size_t i = 0; i + 2 < size && !body.empty(); i += 3) {
    const size_t at = (data[i] | static_cast<size_t>(data[i + 1]) << 8) % (body.size() + 1);
    if (at == body.size())
      body.resize(body.size() - data[i + 2] % body.size());
    else
      body[at] = static_cast<char>(data[i + 2]);
  }
  SnapshotWriter writer(SnapshotKind::kWorld, model->fingerprint, body.size());
  writer.archive().raw(body.data(), body.size());
  restore_and_step(sim, writer.finish());
  restore_and_step(sim, fuzz::text_of(data, size));
  sim.restore(sound);
  return 0;
}
