#include "python/bind.h"

PYBIND11_MODULE(_core, m) {
  m.doc() =
      "The C++ core of mvsim_gym. Use the classes of mvsim_gym instead: this module may change any day.";
  mvsim::bind_errors(m);
  mvsim::bind_model(m);
  mvsim::bind_world(m);
  mvsim::bind_batch(m);
  mvsim::bind_device(m);
  mvsim::bind_pipeline(m);
  mvsim::bind_infos(m);
  mvsim::bind_render(m);
  mvsim::bind_tags(m);
  mvsim::bind_tire(m);
  mvsim::bind_view(m);
}
