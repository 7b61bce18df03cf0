// The GLSL of the formulas of light and sky against those of C++; skipped where the machine cannot draw.
#include "render/shading.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "render/gl/egl_context.h"
#include "render/gl/gl_objects.h"

namespace mvsim::shading_test {
namespace {

constexpr const char* kMain = R"glsl(
layout(local_size_x = 1) in;
struct Case { vec4 normal, to_sun, light, sky; };
layout(std430, binding = 0) buffer Cases { Case cases[]; };
layout(location = 0) uniform vec3 sky[3];
void main() {
  Case c = cases[gl_GlobalInvocationID.x];
  vec2 margin = sky_box_margin(c.normal.w, vec2(64.0));
  cases[gl_GlobalInvocationID.x].light = vec4(sky_light(c.normal.xyz, c.to_sun.xyz), margin.x);
  cases[gl_GlobalInvocationID.x].sky =
      vec4(plain_sky_color(c.normal.z, sky[0], sky[1], sky[2]), texture_level(c.to_sun.w));
}
)glsl";

struct Case {
  std::array<float, 4> normal, to_sun, light, sky;
};

std::array<float, 4> with(Vec3 v, float w) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z), w};
}

Vec3 random_direction(RandomStream& random) {
  return normalized(Vec3{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
}

void compute(const GladGLContext& gl, const Sky& sky, std::vector<Case>& cases) {
  const GLuint program = make_compute_program(gl, "#version 450 core\n" + shading_glsl() + kMain);
  GLuint buffer = 0;
  gl.CreateBuffers(1, &buffer);
  const auto bytes = static_cast<GLsizeiptr>(cases.size() * sizeof(Case));
  gl.NamedBufferStorage(buffer, bytes, cases.data(), 0);
  gl.UseProgram(program);
  gl.Uniform3fv(0, 1, sky.horizon.data());
  gl.Uniform3fv(1, 1, sky.above.data());
  gl.Uniform3fv(2, 1, sky.below.data());
  gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
  gl.DispatchCompute(static_cast<GLuint>(cases.size()), 1, 1);
  gl.MemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  gl.GetNamedBufferSubData(buffer, 0, bytes, cases.data());
  EXPECT_EQ(gl.GetError(), static_cast<GLenum>(GL_NO_ERROR));
  gl.DeleteBuffers(1, &buffer);
  gl.DeleteProgram(program);
}

TEST(Shading, GlslHasTheValuesOfCpp) {
  std::optional<EglContext> context;
  try {
    context.emplace("software");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  RandomStream random(3, 0, StreamPurpose::kSensorNoise);
  std::vector<Case> cases;
  for (int i = 0; i < 1000; ++i) {
    const auto level = static_cast<float>(random.uniform(0, 8));
    const auto texels = static_cast<float>(random.uniform(0, 50));
    cases.push_back({.normal = with(random_direction(random), level),
                     .to_sun = with(random_direction(random), texels),
                     .light = {},
                     .sky = {}});
  }
  const Sky sky;
  const CurrentContext current(*context);
  compute(context->gl(), sky, cases);
  for (const Case& c : cases) {
    const Vec3 normal{c.normal[0], c.normal[1], c.normal[2]};
    Sun sun;
    sun.to_sun = {c.to_sun[0], c.to_sun[1], c.to_sun[2]};
    const Rgb light = light_on(normal, sun, false), seen = plain_sky_color(sky, normal);
    for (size_t k = 0; k < 3; ++k) {
      ASSERT_NEAR(c.light[k], light[k], 2e-6);
      ASSERT_NEAR(c.sky[k], seen[k], 2e-6);
    }
    ASSERT_NEAR(c.light[3], sky_box_margin(c.normal[3], 64), 1e-6);
    ASSERT_NEAR(c.sky[3], texture_level(c.to_sun[3]), 1e-5);
  }
}

TEST(Shading, TheSunAddsToTheLightOfTheSky) {
  const Sun sun;
  const Rgb shaded = light_on({0, 0, 1}, sun, false), lit = light_on({0, 0, 1}, sun, true);
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_FLOAT_EQ(shaded[k], kSkyLight.up[k]);
    EXPECT_FLOAT_EQ(lit[k], kSkyLight.up[k] + sun.color[k] * static_cast<float>(sun.to_sun.z));
  }
}

}  // namespace
}  // namespace mvsim::shading_test
