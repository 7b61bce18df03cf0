// <lights> and <element class="skybox">: where light comes from, and what is behind everything.
#include <algorithm>

#include "worldfile/parse.h"

namespace mvsim {

// What a second one does not give stays as it was.
void parse_lights(LoadState& state, const Element& e) {
  const Fields fields(state, {}, e);
  LightsSpec lights = state.world.lights.value_or(LightsSpec{});
  read_tags(state, fields, light_tags(), lights);
  fields.warn_unknown(e.tag(), tag_names(light_tags()));
  if (const auto enabled = fields.scalar("enabled"); enabled && !parse_bool(*enabled)) return;
  state.world.lights = lights;
}

void parse_skybox(LoadState& state, const Fields& fields, const Element& e) {
  constexpr const char* kSides[] = {"Front", "Back", "Down", "Up", "Left", "Right"};
  constexpr std::string_view kSide = "%s";
  const std::optional<NamedText> textures = fields.scalar("textures");
  const size_t at = textures ? textures->text.find(kSide) : std::string::npos;
  if (at == std::string::npos || textures->text.find(kSide, at + 1) != std::string::npos)
    throw WorldFileError(textures ? textures->where : e.where(),
                         "<element class=\"skybox\">: expected <textures> with one %s in it");
  fields.warn_unknown("element class=\"skybox\"", tag_names(skybox_tags()));
  SkyboxSpec box;
  std::transform(std::begin(kSides), std::end(kSides), box.begin(), [&](const char* side) {
    NamedText file = *textures;
    file.text.replace(at, kSide.size(), side);
    return read_texture(state, file);
  });
  // without one of its sides it is none
  if (std::none_of(box.begin(), box.end(), [](const auto& image) { return image == nullptr; }))
    state.world.skybox = box;
}

}  // namespace mvsim
