#include "views/given_views.h"

#include <algorithm>

#include "model/model.h"

namespace mvsim {

void GivenPictures::put(size_t sensor, size_t image, std::span<const std::byte> pixels) {
  pixels_[{sensor, image}].assign(pixels.begin(), pixels.end());
}

void GivenPictures::copy(size_t sensor, size_t image, size_t size, std::byte* out) const {
  const auto found = pixels_.find({sensor, image});
  if (found == pixels_.end() || found->second.size() != size)
    std::fill_n(out, size, std::byte{0});
  else
    std::ranges::copy(found->second, out);
}

void GivenViews::cast(const Model& model, size_t sensor, const View&, const Pose2&,
                      std::span<const ScenePose>, float*) const {
  throw Error("sensor '" + model.sensors.at(sensor).name + "': its ranges are given, and cannot be cast");
}

void GivenViews::draw(const Model& model, size_t sensor, const double*, std::byte* out) const {
  pictures_->copy(sensor, 0, model.sensors.at(sensor).sensor->reading().bytes(), out);
}

ViewDrawerMaker show(std::shared_ptr<const GivenPictures> pictures) {
  return [pictures = std::move(pictures)] { return std::make_unique<const GivenViews>(pictures); };
}

const GivenPictures* given_pictures(const Model& model) {
  const auto* const given = dynamic_cast<const GivenViews*>(model.drawer.get());
  return given ? &given->pictures() : nullptr;
}

}  // namespace mvsim
