// The GLSL of sensors' views. A raster first finds the triangle that each pixel sees, by the distance along
// the pixel's own ray. Then each pixel is shaded once, by shading_glsl(), and packed.
#pragma once

namespace mvsim::view_shaders {

enum Uniform { kSize = 0, kPass = 1, kToSun = 2, kSunColor = 3, kSky = 4, kSkyBox = 8, kTables = 14 };

// The layout of the buffers, in the order of GlBinding; GlCorner, GlTriangle, GlInstance and GlView in C++.
inline constexpr const char* kBuffers = R"glsl(
struct Corner { double position[3]; float normal[3], base[3], uv[2], alpha, unused; };
struct Triangle {
  double normal[3], offset, to_weight[6], weight_offset[2];
  uint corners[3], part;
  float texels_per_metre;
  uint cull;
};
struct Instance {
  double eye[3], body_from_view[9], view_from_body[9];
  float world_from_normal[9], body_from_world[9], center[3], radius;
  uint layer, first_part, first_node, unused;
};
struct View {
  double per_fx, per_fy, cx, cy, near, far, world_from_view[9];
  float pixel_angle;
  uint wants_color, first_instance, instance_count;
};
layout(std430, binding = 0) readonly buffer Corners { Corner corners[]; };
layout(std430, binding = 1) readonly buffer Triangles { Triangle triangles[]; };
layout(std430, binding = 5) readonly buffer Instances { Instance instances[]; };
layout(std430, binding = 6) readonly buffer Views { View views[]; };
layout(location = 0) uniform ivec4 size;  // columns, rows, layers, pixels of all layers
layout(location = 1) uniform ivec3 pass;  // counts from 1; whether it is the last; whether there are more
dvec3 triple(double v[3]) { return dvec3(v[0], v[1], v[2]); }
vec3 triple(float v[3]) { return vec3(v[0], v[1], v[2]); }
dvec3 times(double m[9], dvec3 v) {
  return v.x * dvec3(m[0], m[1], m[2]) + v.y * dvec3(m[3], m[4], m[5]) + v.z * dvec3(m[6], m[7], m[8]);
}
dvec3 each_dot(double m[9], dvec3 v) {
  return dvec3(dot(dvec3(m[0], m[1], m[2]), v), dot(dvec3(m[3], m[4], m[5]), v),
               dot(dvec3(m[6], m[7], m[8]), v));
}
vec3 times(float m[9], vec3 v) {
  return v.x * vec3(m[0], m[1], m[2]) + v.y * vec3(m[3], m[4], m[5]) + v.z * vec3(m[6], m[7], m[8]);
}
// One over the distance of a triangle's plane, over the rays of a view.
dvec3 nearness_of(Triangle t, Instance i, double to_plane) {
  return each_dot(i.body_from_view, triple(t.normal)) / to_plane;
}
dvec3 ray_of(View v, dvec2 pixel) {
  return dvec3((pixel.x - v.cx) * v.per_fx, (pixel.y - v.cy) * v.per_fy, 1.0);
}
)glsl";

// Moves a triangle whose culled side is seen out of the picture.
inline constexpr const char* kVertex = R"glsl(
const double kEdgeOn = 1e-12LF;
layout(location = 0) in uint instance;
flat out dvec3 nearness;
flat out uvec2 id;
void main() {
  Triangle t = triangles[gl_VertexID / 3];
  Instance i = instances[instance];
  View v = views[i.layer];
  double to_plane = t.offset - dot(triple(t.normal), triple(i.eye));
  uint culled = to_plane > 0.0 ? kCullBack : kCullFront;
  nearness = nearness_of(t, i, to_plane);
  id = uvec2(instance, uint(gl_VertexID / 3) + 1u);
  gl_Layer = int(i.layer);
  if (t.cull == culled || !(abs(to_plane) > kEdgeOn * (1.0 + abs(t.offset)))) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  dvec3 at = each_dot(i.view_from_body, triple(corners[t.corners[gl_VertexID % 3]].position) - triple(i.eye));
  double x = (at.x / v.per_fx + (v.cx + 0.5) * at.z) * (2.0LF / size.x) - at.z;
  double y = (at.y / v.per_fy + (v.cy + 0.5) * at.z) * (2.0LF / size.y) - at.z;
  gl_Position = vec4(float(x), float(y), float(0.5 * v.near), float(at.z));
}
)glsl";

inline constexpr const char* kFragment = R"glsl(
layout(std430, binding = 7) readonly buffer Pixels { uint pixels[]; };
flat in dvec3 nearness;
flat in uvec2 id;
layout(location = 0) out uvec2 seen;
void main() {
  View v = views[gl_Layer];
  double near = dot(nearness, ray_of(v, dvec2(floor(gl_FragCoord.xy))));
  if (!(near * v.near <= 1.0 + 1e-12LF && near * v.far >= 1.0 - 1e-12LF)) discard;
  if (pass.x > 1) {  // behind what is seen through
    int pixel = (gl_Layer * size.y + int(gl_FragCoord.y)) * size.x + int(gl_FragCoord.x);
    if (!(near <= double(uintBitsToFloat(pixels[3 * size.w + pixel])))) discard;
  }
  gl_FragDepth = float(near * v.near);
  seen = id;
}
)glsl";

// Samples textures with the arithmetic of MipImage, from levels in a buffer; the sky.
inline constexpr const char* kPaint = R"glsl(
layout(std430, binding = 2) readonly buffer Tables { uint tables[]; };
layout(std430, binding = 4) readonly buffer Texels { uint texels[]; };
layout(location = 4) uniform vec3 sky[3];      // horizon, above, below
layout(location = 8) uniform ivec3 sky_box[2];  // textures of the six sides; -1: no box
layout(location = 14) uniform uint first_texture;
// kRight, kDown, kAhead of the sides of the box stand before this text
vec4 texel_at(uint first, uint width, uint row, uint column) {
  uint v = texels[first + row * width + column];
  return vec4(v & 255u, (v >> 8) & 255u, (v >> 16) & 255u, v >> 24);
}
vec4 sample_level(uint level, vec2 uv) {
  uint first = tables[level], width = tables[level + 1u], height = tables[level + 2u];
  vec2 at = fract(uv) * vec2(width, height) - 0.5;
  vec2 low = floor(at), share = at - low;
  uint c0 = low.x < 0.0 ? width - 1u : min(uint(low.x), width - 1u), c1 = (c0 + 1u) % width;
  uint r0 = low.y < 0.0 ? height - 1u : min(uint(low.y), height - 1u), r1 = (r0 + 1u) % height;
  vec4 above = mix(texel_at(first, width, r0, c0), texel_at(first, width, r0, c1), share.x);
  vec4 below = mix(texel_at(first, width, r1, c0), texel_at(first, width, r1, c1), share.x);
  return mix(above, below, share.y) / 255.0;
}
vec4 texture_at(int texture, vec2 uv, float level) {
  uint levels = tables[first_texture + 2u * uint(texture)];
  uint count = tables[first_texture + 2u * uint(texture) + 1u];
  float wanted = clamp(level, 0.0, float(count - 1u));
  uint finer = uint(wanted);
  vec4 color = sample_level(levels + 3u * finer, uv);
  float rest = wanted - float(finer);
  return rest == 0.0 ? color : mix(color, sample_level(levels + 3u * (finer + 1u), uv), rest);
}
vec3 box_color(vec3 direction, float pixel_angle) {
  int side = 0;
  for (int k = 1; k < 6; ++k)
    if (dot(kAhead[k], direction) > dot(kAhead[side], direction)) side = k;
  vec2 at = 0.5 + 0.5 * vec2(dot(kRight[side], direction), dot(kDown[side], direction)) /
                      dot(kAhead[side], direction);
  int texture = sky_box[side / 3][side % 3];
  uint level_table = tables[first_texture + 2u * uint(texture)];
  float side_size = float(max(tables[level_table + 1u], tables[level_table + 2u]));
  float level = texture_level(0.5 * side_size * pixel_angle);
  vec2 margin = sky_box_margin(level, vec2(side_size));
  return texture_at(texture, clamp(at, margin, 1.0 - margin), level).rgb;
}
vec3 sky_color(vec3 direction, float pixel_angle) {
  if (sky_box[0].x >= 0) return box_color(direction, pixel_angle);
  return plain_sky_color(normalize(direction).z, sky[0], sky[1], sky[2]);
}
)glsl";

// Whether a body is between a point and the sun: rays through the trees of all shadow casters.
inline constexpr const char* kShadow = R"glsl(
layout(std430, binding = 3) readonly buffer Trees { vec4 trees[]; };
layout(location = 2) uniform vec4 to_sun;     // and the light of the sky
layout(location = 3) uniform vec4 sun_color;  // and whether there are shadows
bool meets_triangle(uint at, vec3 from, vec3 ray) {
  vec3 a = trees[at + 1u].xyz, b = trees[at + 2u].xyz, o = from - trees[at].xyz;
  vec3 p = cross(ray, b), q = cross(o, a);
  float det = dot(a, p);
  if (det == 0.0) return false;
  float u = dot(o, p) / det, v = dot(ray, q) / det, t = dot(b, q) / det;
  return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0;
}
bool meets_tree(uint root, vec3 from, vec3 ray) {
  vec3 inverse = 1.0 / mix(ray, vec3(1e-20), lessThan(abs(ray), vec3(1e-20)));
  uint waiting[kMaxDepth + 1];
  int count = 1;
  waiting[0] = root;
  while (count > 0) {
    uint node = waiting[--count];
    vec4 low = trees[node], high = trees[node + 1u];
    vec3 a = (low.xyz - from) * inverse, b = (high.xyz - from) * inverse;
    vec3 first = min(a, b), last = max(a, b);
    if (max(max(first.x, first.y), max(first.z, 0.0)) > min(min(last.x, last.y), last.z)) continue;
    uint next = floatBitsToUint(low.w), triangle_count = floatBitsToUint(high.w);
    if (triangle_count == 0u) {
      waiting[count++] = next;
      waiting[count++] = next + 2u;
      continue;
    }
    for (uint k = 0u; k < triangle_count; ++k)
      if (meets_triangle(next + 3u * k, from, ray)) return true;
  }
  return false;
}
// A point given in the axes of the world, from the eye.
bool is_blocked(View v, vec3 point) {
  vec3 sun = normalize(to_sun.xyz);
  for (uint k = v.first_instance; k < v.first_instance + v.instance_count; ++k) {
    if (instances[k].first_node == 0xffffffffu) continue;
    vec3 c = triple(instances[k].center) - point;
    float radius = instances[k].radius, along = dot(c, sun);
    if (along < -radius || dot(c, c) - along * along > radius * radius * 1.0001) continue;
    vec3 from = vec3(triple(instances[k].eye)) + times(instances[k].body_from_world, point);
    if (meets_tree(instances[k].first_node, from, times(instances[k].body_from_world, sun))) return true;
  }
  return false;
}
)glsl";

// Writes the colour, the distance and the label of each pixel. For transparent surfaces it also writes the
// nearness behind which the next pass searches, the transmitted share, and the colour so far.
inline constexpr const char* kShade = R"glsl(
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform usampler2DArray ids;
layout(std430, binding = 7) buffer Pixels { uint pixels[]; };
const float kBehind = 1e-4, kShadowGap = 1e-3;
vec3 light_on(vec3 n, bool lit) {
  float facing = lit ? max(dot(n, to_sun.xyz), 0.0) : 0.0;
  return to_sun.w * sky_light(n, to_sun.xyz) + sun_color.xyz * facing;
}
vec4 surface_color(View v, Instance i, Triangle t, dvec3 ray, double distance) {
  float side = t.offset - dot(triple(t.normal), triple(i.eye)) > 0.0 ? -1.0 : 1.0;
  dvec3 point = triple(i.eye) + distance * times(i.body_from_view, ray);
  double w1 = clamp(dot(dvec3(t.to_weight[0], t.to_weight[1], t.to_weight[2]), point) - t.weight_offset[0],
                    0.0LF, 1.0LF);
  double w2 = clamp(dot(dvec3(t.to_weight[3], t.to_weight[4], t.to_weight[5]), point) - t.weight_offset[1],
                    0.0LF, 1.0 - w1);
  float b = float(w1), c = float(w2), a = 1.0 - b - c;
  Corner p = corners[t.corners[0]], q = corners[t.corners[1]], r = corners[t.corners[2]];
  vec3 base = a * triple(p.base) + b * triple(q.base) + c * triple(r.base);
  float alpha = a * p.alpha + b * q.alpha + c * r.alpha;
  vec3 flat_normal = side * normalize(times(i.world_from_normal, vec3(triple(t.normal))));
  vec3 local = a * triple(p.normal) + b * triple(q.normal) + c * triple(r.normal);
  vec3 normal = side * normalize(times(i.world_from_normal, local));
  bool lit = dot(flat_normal, to_sun.xyz) > 0.0 && dot(normal, to_sun.xyz) > 0.0;
  if (lit && sun_color.w > 0.0)
    lit = !is_blocked(v, vec3(times(v.world_from_view, distance * ray)) + kShadowGap * flat_normal);
  vec4 color = vec4(sqrt(base * light_on(normal, lit)), alpha);
  int texture = int(tables[i.first_part + 2u * t.part]);
  if (texture < 0) return color;
  vec2 uv = vec2(a * p.uv[0] + b * q.uv[0] + c * r.uv[0], a * p.uv[1] + b * q.uv[1] + c * r.uv[1]);
  return color * texture_at(texture, uv, texture_level(t.texels_per_metre * float(distance) * v.pixel_angle));
}
uint bytes_of(vec3 color) {
  uvec3 c = uvec3(clamp(color, 0.0, 1.0) * 255.0 + 0.5);
  return c.r | c.g << 8 | c.b << 16;
}
void main() {
  uvec3 at = gl_GlobalInvocationID;
  if (at.x >= uint(size.x) || at.y >= uint(size.y)) return;
  uint all = uint(size.w), pixel = (at.z * uint(size.y) + at.y) * uint(size.x) + at.x;
  bool is_first = pass.x == 1;
  if (!is_first && pixels[3u * all + pixel] == 0u) return;  // all of it is seen
  View v = views[at.z];
  uvec2 id = texelFetch(ids, ivec3(at), 0).xy;
  dvec3 ray = ray_of(v, dvec2(at.xy));
  double distance = 0.0;
  if (id.y > 0u) {
    Triangle t = triangles[id.y - 1u];
    Instance i = instances[id.x];
    double to_plane = t.offset - dot(triple(t.normal), triple(i.eye));
    distance = 1.0 / dot(nearness_of(t, i, to_plane), ray);
  }
  if (is_first) {
    pixels[all + pixel] = floatBitsToUint(float(distance));
    pixels[2u * all + pixel] =
        id.y > 0u ? tables[instances[id.x].first_part + 2u * triangles[id.y - 1u].part + 1u] : 0u;
  }
  if (v.wants_color == 0u) {
    if (is_first && pass.z > 0) pixels[3u * all + pixel] = 0u;
    return;
  }
  vec4 seen = id.y > 0u ? surface_color(v, instances[id.x], triangles[id.y - 1u], ray, distance)
                        : vec4(sky_color(vec3(times(v.world_from_view, ray)), v.pixel_angle), 1.0);
  if (pass.z == 0) {
    pixels[pixel] = bytes_of(seen.rgb);
    return;
  }
  if (pass.y > 0) seen.a = 1.0;
  uint more = 4u * all + 4u * pixel;
  vec3 before = is_first ? vec3(0.0) : vec3(uintBitsToFloat(pixels[more]), uintBitsToFloat(pixels[more + 1u]),
                                            uintBitsToFloat(pixels[more + 2u]));
  float through = is_first ? 1.0 : uintBitsToFloat(pixels[more + 3u]);
  vec3 color = before + through * seen.a * seen.rgb;
  pixels[pixel] = bytes_of(color);
  for (uint k = 0u; k < 3u; ++k) pixels[more + k] = floatBitsToUint(color[k]);
  pixels[more + 3u] = floatBitsToUint(through * (1.0 - seen.a));
  double behind = distance + kBehind * (1.0 + distance);
  pixels[3u * all + pixel] = seen.a < 1.0 ? floatBitsToUint(float(1.0 / behind)) : 0u;
}
)glsl";

}  // namespace mvsim::view_shaders
