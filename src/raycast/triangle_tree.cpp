#include "raycast/triangle_tree.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "raycast/embree_library.h"

namespace mvsim {
namespace {

static_assert(sizeof(RayPacket) == sizeof(RTCRayHit16));
static_assert(offsetof(RayPacket, far) == offsetof(RTCRayHit16, ray.tfar));
static_assert(offsetof(RayPacket, normal_x) == offsetof(RTCRayHit16, hit.Ng_x));
static_assert(offsetof(RayPacket, triangle) == offsetof(RTCRayHit16, hit.primID));
static_assert(RayPacket::kNothing == RTC_INVALID_GEOMETRY_ID);

// Lets rays through that see the side with this sign of (normal, direction).
template <int kSign>
void pass_side(const RTCFilterFunctionNArguments* args) {
  for (unsigned i = 0; i < args->N; ++i) {
    if (args->valid[i] == 0) continue;
    const float along = RTCHitN_Ng_x(args->hit, args->N, i) * RTCRayN_dir_x(args->ray, args->N, i) +
                        RTCHitN_Ng_y(args->hit, args->N, i) * RTCRayN_dir_y(args->ray, args->N, i) +
                        RTCHitN_Ng_z(args->hit, args->N, i) * RTCRayN_dir_z(args->ray, args->N, i);
    if (along * static_cast<float>(kSign) > 0) args->valid[i] = 0;
  }
}

RTCFilterFunctionN filter_of(CullFaces side) {
  switch (side) {
    case CullFaces::kNone:
      return nullptr;
    case CullFaces::kBack:
      return pass_side<1>;  // seen from behind: the normal looks the ray's way
    case CullFaces::kFront:
      return pass_side<-1>;
  }
  return nullptr;
}

// Gives the lanes that are not cast an empty interval for its lifetime. Embree 3 ignores the mask of a packet
// of 16 rays where it has no kernel for 16 (processors without AVX-512), and skips only rays with near > far.
class LanesOff {
 public:
  LanesOff(RayPacket& packet, const PacketLanes& lanes) : packet_(packet) {
    for (int i = 0; i < kPacketSize; ++i)
      if (lanes[static_cast<size_t>(i)] == 0) off_[count_++] = {i, packet.near[i], packet.far[i]};
    for (const Lane& lane : off()) packet.near[lane.index] = 0, packet.far[lane.index] = -1;
  }
  LanesOff(const LanesOff&) = delete;
  LanesOff& operator=(const LanesOff&) = delete;
  ~LanesOff() {
    for (const Lane& lane : off()) packet_.near[lane.index] = lane.near, packet_.far[lane.index] = lane.far;
  }

 private:
  struct Lane {
    int index;
    float near, far;
  };
  std::span<const Lane> off() const { return {off_.data(), count_}; }

  RayPacket& packet_;
  std::array<Lane, kPacketSize> off_;
  size_t count_ = 0;
};

}  // namespace

struct TriangleTree::Parts {
  EmbreeLibrary embree;
  RTCDevice device = nullptr;
  RTCScene scene = nullptr;
  std::array<std::vector<uint32_t>, 3> triangles;  // by side that rays pass, index of each triangle

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    if (scene) embree.release_scene(scene);
    if (device) embree.release_device(device);
  }

  void check(const char* what) const {
    const RTCError error = embree.device_error(device);
    if (error != RTC_ERROR_NONE)
      throw Error(std::string("Embree cannot ") + what + " (error " +
                  std::to_string(static_cast<int>(error)) + ")");
  }

  void add(std::span<const std::array<float, 3>> corners, std::span<const TreeTriangle> all, CullFaces side) {
    const std::vector<uint32_t>& chosen = triangles[static_cast<size_t>(side)];
    if (chosen.empty()) return;
    RTCGeometry geometry = embree.new_geometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* const points = static_cast<std::array<float, 3>*>(embree.new_buffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, sizeof corners[0], corners.size()));
    auto* const indices = static_cast<std::array<uint32_t, 3>*>(embree.new_buffer(
        geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, sizeof all[0].corners, chosen.size()));
    check("hold the triangles of a scene");
    std::copy(corners.begin(), corners.end(), points);
    for (size_t i = 0; i < chosen.size(); ++i) indices[i] = all[chosen[i]].corners;
    embree.set_filter(geometry, filter_of(side));
    embree.commit_geometry(geometry);
    embree.attach_geometry(scene, geometry, static_cast<unsigned>(side));
    embree.release_geometry(geometry);
    check("hold the triangles of a scene");
  }
};

TriangleTree::TriangleTree(std::span<const std::array<float, 3>> corners,
                           std::span<const TreeTriangle> triangles, std::string_view instruction_set)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.embree = load_embree();
  // One thread: trees of several differ from run to run.
  std::string settings = "threads=1,set_affinity=0";
  if (!instruction_set.empty()) settings.append(",isa=").append(instruction_set);
  p.device = p.embree.new_device(settings.c_str());
  if (!p.device) throw Error("Embree does not start on this machine");
  p.scene = p.embree.new_scene(p.device);
  p.embree.set_scene_flags(p.scene, RTC_SCENE_FLAG_ROBUST);
  for (size_t i = 0; i < triangles.size(); ++i)
    p.triangles[static_cast<size_t>(triangles[i].cull)].push_back(static_cast<uint32_t>(i));
  for (const CullFaces side : {CullFaces::kNone, CullFaces::kBack, CullFaces::kFront})
    p.add(corners, triangles, side);
  p.embree.commit_scene(p.scene);
  p.check("build the tree of a scene");
}

TriangleTree::~TriangleTree() = default;

void TriangleTree::intersect(RayPacket& packet, const PacketLanes& lanes) const {
  const Parts& p = *parts_;
  auto* const rays = reinterpret_cast<RTCRayHit16*>(&packet);
  alignas(64) PacketLanes valid = lanes;
  const LanesOff lanes_off(packet, lanes);
#if RTC_VERSION_MAJOR == 4
  RTCIntersectArguments arguments;
  rtcInitIntersectArguments(&arguments);
  arguments.flags = RTC_RAY_QUERY_FLAG_COHERENT;
  p.embree.intersect16(valid.data(), p.scene, rays, &arguments);
#else
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  p.embree.intersect16(valid.data(), p.scene, &context, rays);
#endif
  for (int i = 0; i < kPacketSize; ++i)
    if (valid[static_cast<size_t>(i)] != 0 && packet.part[i] != RayPacket::kNothing) {
      packet.triangle[i] = p.triangles[packet.part[i]][packet.triangle[i]];
      packet.part[i] = RayPacket::kNothing;
    }
}

void TriangleTree::find_blocked(RayPacket& packet, const PacketLanes& lanes) const {
  const Parts& p = *parts_;
  auto* const rays = &reinterpret_cast<RTCRayHit16*>(&packet)->ray;
  alignas(64) PacketLanes valid = lanes;
  const LanesOff lanes_off(packet, lanes);
#if RTC_VERSION_MAJOR == 4
  RTCOccludedArguments arguments;
  rtcInitOccludedArguments(&arguments);
  arguments.flags = RTC_RAY_QUERY_FLAG_COHERENT;
  p.embree.occluded16(valid.data(), p.scene, rays, &arguments);
#else
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  p.embree.occluded16(valid.data(), p.scene, &context, rays);
#endif
}

}  // namespace mvsim
