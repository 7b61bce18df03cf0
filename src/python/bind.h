// The binding files of the module `_core`, one function each. They translate types and nothing else.
#pragma once

#include <pybind11/pybind11.h>

namespace mvsim {

class Batch;
class Simulation;

void bind_batch(pybind11::module_& m);
void bind_control(pybind11::class_<Batch>& batch);
void bind_control(pybind11::class_<Simulation>& simulation);
void bind_device(pybind11::module_& m);
void bind_errors(pybind11::module_& m);
void bind_infos(pybind11::module_& m);
void bind_model(pybind11::module_& m);
void bind_pipeline(pybind11::module_& m);
void bind_render(pybind11::module_& m);
void bind_tags(pybind11::module_& m);
void bind_tire(pybind11::module_& m);
void bind_view(pybind11::module_& m);
void bind_world(pybind11::module_& m);

}  // namespace mvsim
