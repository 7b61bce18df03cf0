// EGL: its functions, loaded at run time, and contexts of OpenGL.
#pragma once

#include <glad/egl.h>
#include <glad/gl.h>
#include <sys/types.h>
#include <string>
#include <vector>

#include "render/gl/device_choice.h"

namespace mvsim {

// Loads libEGL at run time: a table of its functions and a list of its devices. It is not linked, and a
// process that draws no picture never loads it. It is never unloaded, since drivers leave threads and exit
// handlers behind.

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

// One headless OpenGL 4.5 context with its own function table, on the device that the user chose.
//
// It is bound to a thread only inside a CurrentContext, so any thread may use it, one at a time. A process
// that was forked after its creation cannot use it (ForkedProcessError), and frees nothing of it.

class EglContext {
 public:
  // `device` is that of RenderOptions. Throws Error in one line with the devices tried and the remedy.
  explicit EglContext(const std::string& device);
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  const GladGLContext& gl() const { return gl_; }
  const std::string& device() const { return device_; }
  const std::string& renderer() const { return renderer_; }
  const std::string& version() const { return version_; }
  const std::string& notice() const { return notice_; }
  bool software() const { return software_; }
  bool robust() const { return robust_; }  // lost contexts are reported
  bool in_forked_process() const;

 private:
  friend class CurrentContext;
  // Each returns the reason of a failure, or "".
  std::string open(EGLDisplay display, bool only_software);
  std::string create(bool robust);
  std::string load_gl(bool only_software);
  void destroy();

  EglApi egl_;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  GladGLContext gl_{};
  pid_t owner_ = 0;
  bool software_ = false, robust_ = false;
  std::string device_, renderer_, version_, notice_;
};

// Binds a context to this thread for its lifetime, then restores the former binding.
class CurrentContext {
 public:
  explicit CurrentContext(const EglContext& context);  // throws ForkedProcessError or Error
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const EglApi& egl_;
  EGLDisplay display_, previous_display_;
  EGLContext previous_context_;
  EGLSurface previous_draw_, previous_read_;
};

}  // namespace mvsim
