// Small files of lines, as text and as a glb.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mvsim::test {

// (0, 0, 0), (4, 0, 0) and (4, 3, 0) as the vertices "#v" of whatever `primitives` makes of them.
inline std::string collada(const std::string& primitives, const std::string& placed = "",
                           const std::string& meters = "1") {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter=")" +
         meters + R"(" name="unit"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="9">0 0 0 4 0 0 4 3 0</float_array>
<technique_common><accessor source="#pa" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>)" +
         primitives + R"(
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node>)" +
         placed + R"(<instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>)";
}

// The same three points, joined in one of the modes of glTF.
inline std::string glb(int mode, const std::vector<uint16_t>& indices) {
  const auto append = [](std::string& out, const auto& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::string binary;
  for (const float v : {0.F, 0.F, 0.F, 4.F, 0.F, 0.F, 4.F, 3.F, 0.F}) append(binary, v);
  for (const uint16_t i : indices) append(binary, i);
  const std::string count = std::to_string(indices.size()), bytes = std::to_string(2 * indices.size());
  std::string json = R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"mode":)" +
                     std::to_string(mode) + R"(}]}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[4,3,0]},
{"bufferView":1,"componentType":5123,"count":)" +
                     count + R"(,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":)" +
                     bytes + R"(}],"buffers":[{"byteLength":)" + std::to_string(binary.size()) + "}]}";
  json.resize((json.size() + 3) / 4 * 4, ' ');
  binary.resize((binary.size() + 3) / 4 * 4, '\0');
  std::string out = "glTF";
  append(out, uint32_t{2});
  append(out, static_cast<uint32_t>(12 + 8 + json.size() + 8 + binary.size()));
  append(out, static_cast<uint32_t>(json.size()));
  out += "JSON" + json;
  append(out, static_cast<uint32_t>(binary.size()));
  out += std::string("BIN\0", 4) + binary;
  return out;
}

}  // namespace mvsim::test
