// Loads libEGL at run time: a table of its functions and a list of its devices. It is not linked, and a
// process that draws no picture never loads it. It is never unloaded, since drivers leave threads and exit
// handlers behind.
#pragma once

#include <glad/egl.h>

#include <string>
#include <vector>

#include "render/gl/egl_info.h"

namespace mvsim {

struct EglApi {
  PFNEGLGETPROCADDRESSPROC get_proc_address = nullptr;
  PFNEGLQUERYSTRINGPROC query_string = nullptr;
  PFNEGLGETERRORPROC get_error = nullptr;
  PFNEGLINITIALIZEPROC initialize = nullptr;
  PFNEGLBINDAPIPROC bind_api = nullptr;
  PFNEGLCREATECONTEXTPROC create_context = nullptr;
  PFNEGLDESTROYCONTEXTPROC destroy_context = nullptr;
  PFNEGLMAKECURRENTPROC make_current = nullptr;
  PFNEGLGETCURRENTCONTEXTPROC get_current_context = nullptr;
  PFNEGLGETCURRENTDISPLAYPROC get_current_display = nullptr;
  PFNEGLGETCURRENTSURFACEPROC get_current_surface = nullptr;
  // extensions, null if libEGL lacks them
  PFNEGLGETPLATFORMDISPLAYEXTPROC get_platform_display = nullptr;
  PFNEGLQUERYDEVICESEXTPROC query_devices = nullptr;
  PFNEGLQUERYDEVICESTRINGEXTPROC query_device_string = nullptr;
  PFNEGLQUERYDEVICEATTRIBEXTPROC query_device_attrib = nullptr;

  std::string error_name() const;  // name of the last error on this thread
};

// Throws Error, one line with the remedy, if libEGL.so.1 cannot be loaded. Sets LP_NUM_THREADS=0 in the
// environment unless the user has set it: otherwise Mesa's software driver starts a thread per core for every
// context.
EglApi load_egl();

struct FoundDevice {
  EGLDeviceEXT handle = nullptr;
  EglDevice info;
};
std::vector<FoundDevice> find_devices(const EglApi& egl);

bool has_extension(const char* list, const char* name);

}  // namespace mvsim
