#include "raycast/embree_library.h"

#include <dlfcn.h>

#include <string>

#include "base/error.h"
#include "base/loaded_library.h"

namespace mvsim {
namespace {

#if RTC_VERSION_MAJOR == 4
constexpr const char* kName = "libembree4.so.4";
constexpr const char* kRemedy = "install it (Debian: apt-get install libembree4-4)";
#else
constexpr const char* kName = "libembree3.so.3";
constexpr const char* kRemedy = "install it (Debian: apt-get install libembree3-3)";
#endif

template <typename Function>
void find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
  if (!out)
    throw Error(std::string("cameras and 3D lidars need Embree, and ") + kName + " lacks " + name + ": " +
                kRemedy);
}

}  // namespace

EmbreeLibrary load_embree() {
  void* const library = open_library("libmvsim_embree.so", kName);
  if (!library)
    throw Error(std::string("cameras and 3D lidars need Embree, and ") + kName +
                " cannot be loaded: " + kRemedy);
  EmbreeLibrary out;
  find(library, "rtcNewDevice", out.new_device);
  find(library, "rtcReleaseDevice", out.release_device);
  find(library, "rtcGetDeviceError", out.device_error);
  find(library, "rtcNewScene", out.new_scene);
  find(library, "rtcReleaseScene", out.release_scene);
  find(library, "rtcSetSceneFlags", out.set_scene_flags);
  find(library, "rtcCommitScene", out.commit_scene);
  find(library, "rtcNewGeometry", out.new_geometry);
  find(library, "rtcReleaseGeometry", out.release_geometry);
  find(library, "rtcSetNewGeometryBuffer", out.new_buffer);
  find(library, "rtcSetGeometryIntersectFilterFunction", out.set_filter);
  find(library, "rtcCommitGeometry", out.commit_geometry);
  find(library, "rtcAttachGeometryByID", out.attach_geometry);
  find(library, "rtcIntersect16", out.intersect16);
  find(library, "rtcOccluded16", out.occluded16);
  return out;
}

}  // namespace mvsim
