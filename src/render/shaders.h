// The GLSL of the renderer. Uniforms have fixed locations, listed here once.
#pragma once

namespace mvsim::shaders {

enum Uniform {
  kClipFromMesh = 0,
  kLightFromMesh = 1,
  kToLight = 2,
  kShadowTexel = 3,
  kNormalShift = 4,
  kShadowed = 5,
  kRayRight = 6,
  kRayUp = 7,
  kRayBack = 8
};

// Sun and sky light are kept apart until the shadow is known. Colours are squared to get near linear light.
inline constexpr const char* kSolidVertex = R"glsl(#version 450 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 normal;
layout(location = 2) in vec4 color;
layout(location = 0) uniform mat4 clip_from_mesh;
layout(location = 1) uniform mat4 light_from_mesh;
layout(location = 2) uniform vec3 to_light;
layout(location = 4) uniform float normal_shift;
out vec3 from_sky;
out vec3 from_sun;
out float alpha;
out vec3 in_light;
void main() {
  gl_Position = clip_from_mesh * vec4(position, 1.0);
  vec3 base = color.rgb * color.rgb;
  vec3 sky = mix(vec3(0.30, 0.30, 0.30), vec3(0.46, 0.48, 0.52), 0.5 + 0.5 * normal.z);
  sky += vec3(0.26, 0.26, 0.28) * max(-dot(normal.xy, to_light.xy), 0.0) + vec3(0.10) * abs(normal.y);
  vec3 sun = vec3(0.72, 0.69, 0.64) * max(dot(normal.xyz, to_light), 0.0);
  from_sky = base * mix(sky, vec3(1.0), normal.w);
  from_sun = base * sun * (1.0 - normal.w);
  alpha = color.a;
  vec3 p = (light_from_mesh * vec4(position + normal_shift * normal.xyz, 1.0)).xyz;
  in_light = vec3(0.5 + 0.5 * p.x, 0.5 - 0.5 * p.y, p.z);
}
)glsl";

inline constexpr const char* kSolidFragment = R"glsl(#version 450 core
in vec3 from_sky;
in vec3 from_sun;
in float alpha;
in vec3 in_light;
layout(location = 3) uniform float texel;
layout(location = 5) uniform bool shadowed;
layout(binding = 0) uniform sampler2DShadow shadow_map;
out vec4 picture;
void main() {
  float lit = 1.0;
  if (shadowed) {
    float h = 0.75 * texel;
    vec3 at = vec3(in_light.xy, min(in_light.z, 1.0));  // a slope may fall away behind the map
    lit = 0.25 * (texture(shadow_map, at + vec3(-h, -h, 0.0)) + texture(shadow_map, at + vec3(h, -h, 0.0)) +
                  texture(shadow_map, at + vec3(-h, h, 0.0)) + texture(shadow_map, at + vec3(h, h, 0.0)));
    vec2 rim = abs(in_light.xy - 0.5);
    lit = mix(lit, 1.0, smoothstep(0.42, 0.5, max(rim.x, rim.y)));
  }
  picture = vec4(sqrt(from_sky + lit * from_sun), alpha);
}
)glsl";

inline constexpr const char* kShadowVertex = R"glsl(#version 450 core
layout(location = 0) in vec3 position;
layout(location = 1) uniform mat4 light_from_mesh;
void main() { gl_Position = light_from_mesh * vec4(position, 1.0); }
)glsl";

inline constexpr const char* kShadowFragment = R"glsl(#version 450 core
void main() {}
)glsl";

// One triangle over the whole picture, coloured by where each pixel looks.
inline constexpr const char* kSkyVertex = R"glsl(#version 450 core
layout(location = 6) uniform vec3 ray_right;
layout(location = 7) uniform vec3 ray_up;
layout(location = 8) uniform vec3 ray_back;
out vec3 ray;
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
  ray = corner.x * ray_right + corner.y * ray_up - ray_back;
}
)glsl";

inline constexpr const char* kSkyFragment = R"glsl(#version 450 core
in vec3 ray;
out vec4 picture;
void main() {
  float height = normalize(ray).z;
  vec3 horizon = vec3(0.93, 0.95, 0.97);
  vec3 above = mix(horizon, vec3(0.55, 0.70, 0.88), smoothstep(0.0, 0.7, height));
  vec3 below = mix(horizon, vec3(0.78, 0.80, 0.83), smoothstep(0.0, 0.4, -height));
  picture = vec4(height > 0.0 ? above : below, 1.0);
}
)glsl";

}  // namespace mvsim::shaders
