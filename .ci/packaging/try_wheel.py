"""Tries a wheel where there is nothing else: installs it, runs the README's example, casts rays, and uninstalls it.

usage: python3 try_wheel.py FOLDER [--learn] [REQUIREMENT...]

FOLDER has wheels, of which that of this Python is taken, golden_episodes.py with golden_episodes.json, box.stl and
first-training.md. A REQUIREMENT, numpy==1.26.* for instance, is installed with it. With --learn the wheel is installed
with its extra sb3, and the training of that page must reach 90 %. Needs Python with venv, and an index for NumPy,
Gymnasium and, with --learn, Stable-Baselines3.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORLD = """<mvsim_world>
<element class="horizontal_plane"><x_min>-9</x_min><x_max>9</x_max><y_min>-9</y_min><y_max>9</y_max></element>
<block name="box"><static>true</static><init_pose>3 -0.5 0</init_pose>
<visual><model_uri>box.stl</model_uri></visual><shape_from_visual/></block>
<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">
<l_wheel mass="1" diameter="0.2" width="0.05"/><r_wheel mass="1" diameter="0.2" width="0.05"/>
<chassis mass="5" zmin="0.05" zmax="0.15"/><controller class="twist_ideal"/></dynamics>
<sensor class="rgbd_camera" name="camera"><pose_3d>0 0 0.4 0 0 0</pose_3d><depth_noise_sigma>0</depth_noise_sigma>
<depth_ncols>64</depth_ncols><depth_nrows>48</depth_nrows><depth_cx>32</depth_cx><depth_cy>24</depth_cy>
<depth_fx>40</depth_fx><depth_fy>40</depth_fy><depth_clip_max>15</depth_clip_max>
<rgb_ncols>64</rgb_ncols><rgb_nrows>48</rgb_nrows><rgb_cx>32</rgb_cx><rgb_cy>24</rgb_cy>
<rgb_fx>40</rgb_fx><rgb_fy>40</rgb_fy></sensor>
<sensor class="lidar3d" name="lidar"><pose_3d>0 0 0.4 0 0 0</pose_3d><vert_nrays>16</vert_nrays>
<vert_fov_degrees>30</vert_fov_degrees><horz_nrays>180</horz_nrays><max_range>20</max_range></sensor>
</vehicle></mvsim_world>"""

RAYS = """
import sys, numpy as np, mvsim_gym
world = mvsim_gym.World(sys.argv[1], roots=["."])
world.step(0.3)
sensors = world.vehicles["r"].sensors
image, lidar = sensors["camera"].read(), sensors["lidar"].read()
assert image.image.shape == (48, 64, 3) and len(np.unique(image.image.reshape(-1, 3), axis=0)) > 1
assert abs(image.depth[24, 32] - 3) < 0.01, image.depth[24, 32]
box = world.labels.index("box")
assert image.labels[24, 32] == box and box in lidar.labels
maps = open("/proc/self/maps").read()
for name in ("embree", "assimp", "tbb"):
    paths = {line.split()[-1] for line in maps.splitlines() if f"lib{name}" in line}
    assert all("mvsim_gym" in path for path in paths), paths
assert "libembree" in maps
print("camera, 3D lidar and mesh: seen")
"""

PICTURE = """
import gymnasium, mvsim_gym
env = gymnasium.make("mvsim/NavArena-v0", render_mode="rgb_array")
env.reset(seed=0)
try:
    print("picture:", env.render().shape)
except Exception as error:
    print("picture:", type(error).__name__ + ":", error)
"""

README = """
import importlib.metadata as m
text = m.metadata("mvsim_gym").get_payload() or m.metadata("mvsim_gym")["Description"]
print(text.split("```python\\n")[1].split("```")[0])
"""


def run(*command: str, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise SystemExit(
            f"try_wheel: {' '.join(command)[:200]}: status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return str(done.stdout)


def files_below(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if "__pycache__" not in p.parts}


def learn(python: str, wheel: Path, page: Path, work: Path, requirements: list[str]) -> None:
    """Trains as the page says, with twice the steps, as its own end near 90 %."""
    run(python, "-m", "pip", "install", "-q", f"{wheel}[sb3]", *requirements)
    code = page.read_text().split("```python sb3\n")[1].split("```")[0].replace("1_000_000", "2_000_000")
    began = time.monotonic()
    lines = run(python, "-c", code, cwd=work).splitlines()
    (success,) = (line for line in lines if re.match(r"\W*success\b", line))
    print(f"trained and evaluated in {time.monotonic() - began:.0f} s: {success.strip()}")
    (value,) = re.findall(r"([\d.]+) ?%", success)[:1]
    if float(value) < 90:
        raise SystemExit(f"try_wheel: found {value} % success after training, expected at least 90 %")


def main() -> None:
    given, requirements = Path(sys.argv[1]).resolve(), sys.argv[2:]
    learns = "--learn" in requirements
    if learns:
        requirements.remove("--learn")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    (wheel,) = given.glob(f"mvsim_gym-*-{tag}-{tag}-*_{platform.machine()}.whl")
    for compiler in ("cc", "gcc", "g++", "clang"):
        if shutil.which(compiler):
            raise SystemExit(f"try_wheel: found {compiler}, expected a system without compilers")
    work = Path(tempfile.mkdtemp())
    run(sys.executable, "-m", "venv", str(work / "venv"))
    python = str(work / "venv/bin/python")
    run(python, "-m", "pip", "install", "-q", "numpy", "gymnasium", *requirements)
    packages = next((work / "venv/lib").glob("python*/site-packages"))
    before = files_below(work / "venv")

    began = time.monotonic()
    run(python, "-m", "pip", "install", "-q", str(wheel))
    example = run(python, "-c", README)
    print(run(python, "-c", example, cwd=work).strip())
    print(f"installed and the README's example run in {time.monotonic() - began:.1f} s")

    shutil.copy(given / "box.stl", work / "box.stl")
    (work / "w.world.xml").write_text(WORLD)
    print(run(python, "-c", RAYS, "w.world.xml", cwd=work).strip())
    picture = run(python, "-c", PICTURE, cwd=work).strip()
    print(picture)
    if "libEGL.so.1" not in picture or picture.count("\n"):
        raise SystemExit("try_wheel: expected one line that names libEGL.so.1")
    print(
        run(python, str(given / "golden_episodes.py"), str(given / "golden_episodes.json"), cwd=work).strip()
    )
    print(run(str(work / "venv/bin/mvsim-gym"), "--version", cwd=work).strip())
    timed = subprocess.run(
        [python, "-X", "importtime", "-c", "import mvsim_gym"], capture_output=True, text=True, check=True
    )
    own = sum(
        int(line.split("|")[0].split(":")[1]) for line in timed.stderr.splitlines() if "mvsim_gym" in line
    )
    print(f"import of the package's own modules: {own / 1000:.1f} ms")
    (info,) = packages.glob("mvsim_gym-*.dist-info")
    lists = [json.loads(path.read_text()) for path in (info / "sboms").glob("*.json")]
    print(
        "parts listed:",
        sum(len(one["components"]) for one in lists),
        "licences:",
        len(list((info / "licenses").rglob("*.txt"))),
    )

    if learns:
        learn(python, wheel, given / "first-training.md", work, requirements)
        before |= {f for f in files_below(work / "venv") if "mvsim_gym" not in f and "mvsim-gym" not in f}

    run(python, "-m", "pip", "uninstall", "-q", "-y", "mvsim_gym")
    if left := files_below(work / "venv") - before:
        raise SystemExit(f"try_wheel: uninstalling left {sorted(left)[:10]}")
    if left := [str(p) for p in packages.rglob("*mvsim_gym*")]:
        raise SystemExit(f"try_wheel: uninstalling left {left[:10]}")
    print("uninstalled: nothing is left")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
