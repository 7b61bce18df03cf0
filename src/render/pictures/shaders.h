// The GLSL of the renderer. shading_glsl() is put before it where light or sky is needed. Uniforms have fixed
// locations, listed here once.
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
  kRayBack = 8,
  kSunColor = 9,
  kHorizonColor = 10,
  kAboveColor = 11,
  kBelowColor = 12,
  kAmbient = 13,
  kSideRight = 14,
  kSideDown = 15,
  kSideAhead = 16
};

enum TextureUnit { kShadowUnit = 0, kPaintUnit = 1 };

// Attributes of a vertex, followed by those of an instance.
enum Attribute {
  kPosition = 0,
  kNormal = 1,
  kColor = 2,
  kUv = 3,
  kFrameX = 4,
  kFrameY = 5,
  kFrameZ = 6,
  kFrameOrigin = 7,
  kFrameScale = 8,
  kAttributeCount = 9
};

// The place of an instance; also the beginning of the vertex shaders.
inline constexpr const char* kInstanced = R"glsl(#version 450 core
layout(location = 0) in dvec3 position;
layout(location = 4) in dvec3 frame_x;
layout(location = 5) in dvec3 frame_y;
layout(location = 6) in dvec3 frame_z;
layout(location = 7) in dvec3 frame_origin;
layout(location = 8) in double frame_scale;
vec3 placed() {
  return vec3(frame_origin + (position.x * frame_scale * frame_x + position.y * frame_scale * frame_y +
                              position.z * frame_z));
}
vec3 turned(vec3 v) {
  vec3 scaled = vec3(v.xy, v.z * float(frame_scale));
  vec3 n = scaled.x * vec3(frame_x) + scaled.y * vec3(frame_y) + scaled.z * vec3(frame_z);
  return n * (length(v) / max(length(n), 1e-6));
}
)glsl";

// Sunlight and sky light stay separate until the shadow is known. Colours are squared, which is nearly linear
// light.
inline constexpr const char* kSolidVertex = R"glsl(
layout(location = 1) in vec4 local_normal;
layout(location = 2) in vec4 color;
layout(location = 3) in vec2 uv;
layout(location = 0) uniform mat4 clip_from_mesh;
layout(location = 1) uniform mat4 light_from_mesh;
layout(location = 2) uniform vec3 to_light;
layout(location = 4) uniform float normal_shift;
layout(location = 9) uniform vec3 sun_color;
layout(location = 13) uniform float ambient;
out vec3 from_sky;
out vec3 from_sun;
out vec3 behind_from_sky;
out vec3 behind_from_sun;
out float alpha;
out vec3 in_light;
out vec2 on_texture;
void main() {
  vec3 at = placed();
  vec4 normal = vec4(turned(local_normal.xyz), local_normal.w);
  gl_Position = clip_from_mesh * vec4(at, 1.0);
  vec3 base = color.rgb * color.rgb;
  vec3 sun = sun_color * max(dot(normal.xyz, to_light), 0.0);
  from_sky = base * mix(ambient * sky_light(normal.xyz, to_light), vec3(1.0), normal.w);
  from_sun = base * sun * (1.0 - normal.w);
  behind_from_sky = base * mix(ambient * sky_light(-normal.xyz, to_light), vec3(1.0), normal.w);
  behind_from_sun = base * sun_color * max(-dot(normal.xyz, to_light), 0.0) * (1.0 - normal.w);
  alpha = color.a;
  on_texture = uv;
  vec3 p = (light_from_mesh * vec4(at + normal_shift * normal.xyz, 1.0)).xyz;
  in_light = vec3(0.5 + 0.5 * p.x, 0.5 - 0.5 * p.y, p.z);
}
)glsl";

inline constexpr const char* kSolidFragment = R"glsl(#version 450 core
in vec3 from_sky;
in vec3 from_sun;
in vec3 behind_from_sky;
in vec3 behind_from_sun;
in float alpha;
in vec3 in_light;
in vec2 on_texture;
layout(location = 3) uniform float texel;
layout(location = 5) uniform bool shadowed;
layout(binding = 0) uniform sampler2DShadow shadow_map;
layout(binding = 1) uniform sampler2D paint;
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
  vec4 painted = texture(paint, on_texture);
  vec3 light = gl_FrontFacing ? from_sky + lit * from_sun : behind_from_sky + lit * behind_from_sun;
  picture = vec4(sqrt(light) * painted.rgb, alpha * painted.a);
}
)glsl";

inline constexpr const char* kShadowVertex = R"glsl(
layout(location = 1) uniform mat4 light_from_mesh;
void main() { gl_Position = light_from_mesh * vec4(placed(), 1.0); }
)glsl";

inline constexpr const char* kShadowFragment = R"glsl(#version 450 core
void main() {}
)glsl";

// One triangle over the whole picture, coloured by the direction of each pixel.
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

inline constexpr const char* kSkyFragment = R"glsl(
in vec3 ray;
layout(location = 10) uniform vec3 horizon;
layout(location = 11) uniform vec3 above_color;
layout(location = 12) uniform vec3 below_color;
out vec4 picture;
void main() {
  picture = vec4(plain_sky_color(normalize(ray).z, horizon, above_color, below_color), 1.0);
}
)glsl";

// One side of the box of pictures; pixels that look past it are discarded.
inline constexpr const char* kSkyBoxFragment = R"glsl(
in vec3 ray;
layout(location = 14) uniform vec3 right;
layout(location = 15) uniform vec3 down;
layout(location = 16) uniform vec3 ahead;
layout(binding = 1) uniform sampler2D paint;
out vec4 picture;
void main() {
  vec2 aside = vec2(dot(ray, right), dot(ray, down));
  float depth = dot(ray, ahead);
  vec2 at = 0.5 + 0.5 * aside / depth;
  float level = max(textureQueryLod(paint, at).y, 0.0);
  if (!(depth > 0.0) || max(abs(aside.x), abs(aside.y)) > 1.0001 * depth) discard;
  vec2 margin = sky_box_margin(level, vec2(textureSize(paint, 0)));
  picture = vec4(textureLod(paint, clamp(at, margin, 1.0 - margin), level).rgb, 1.0);
}
)glsl";

}  // namespace mvsim::shaders
