// libembree loaded at run time: the functions that trees of triangles need. It is not linked: a process
// that casts no ray in three dimensions never loads it. It is never unloaded.
#pragma once

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

namespace mvsim {

struct EmbreeLibrary {
  decltype(&rtcNewDevice) new_device = nullptr;
  decltype(&rtcReleaseDevice) release_device = nullptr;
  decltype(&rtcGetDeviceError) device_error = nullptr;
  decltype(&rtcNewScene) new_scene = nullptr;
  decltype(&rtcReleaseScene) release_scene = nullptr;
  decltype(&rtcSetSceneFlags) set_scene_flags = nullptr;
  decltype(&rtcCommitScene) commit_scene = nullptr;
  decltype(&rtcNewGeometry) new_geometry = nullptr;
  decltype(&rtcReleaseGeometry) release_geometry = nullptr;
  decltype(&rtcSetNewGeometryBuffer) new_buffer = nullptr;
  decltype(&rtcSetGeometryIntersectFilterFunction) set_filter = nullptr;
  decltype(&rtcCommitGeometry) commit_geometry = nullptr;
  decltype(&rtcAttachGeometryByID) attach_geometry = nullptr;
  decltype(&rtcIntersect16) intersect16 = nullptr;
  decltype(&rtcOccluded16) occluded16 = nullptr;
};

// Throws Error, one line with the remedy, if there is no library of the version of this build.
EmbreeLibrary load_embree();

}  // namespace mvsim
