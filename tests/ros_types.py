"""Compiles the message packages that PyPI lacks, for the rclpy of this virtual environment: `./dev ros` runs it.

    build/venvs/ros-jazzy/bin/python tests/ros_types.py

The generators are those of ROS itself (rosidl), which rclpy's wheels bring along. The definitions are those of rosbags
and of `mvsim_gym.ros.messages`. The hash of each type must be the one that rosbags computes, since nodes compare it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rosidl_adapter.msg import convert_msg_to_idl

from mvsim_gym.ros.messages import STORE

PACKAGES = {
    "tf2_msgs": (["TFMessage"], ["geometry_msgs"]),
    "ackermann_msgs": (["AckermannDrive", "AckermannDriveStamped"], ["std_msgs"]),
}
"""Message types of each package, and the packages whose types they have."""
PREFIX = Path(sys.prefix)
KINDS = ("rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")


def generate(package: str, names: list[str], folder: Path) -> None:
    """Writes the sources of a package below a folder."""
    (folder / "msg").mkdir()
    for name in names:
        text = STORE.generate_msgdef(f"{package}/msg/{name}", ros_version=2)[0].partition("\n====")[0]
        (folder / "msg" / f"{name}.msg").write_text(text + "\n")
        with redirect_stdout(StringIO()):
            convert_msg_to_idl(folder, package, Path("msg", f"{name}.msg"), folder / "msg")
    wanted = [f"-{flag}" for flag in ("t py", "t c", "ts c", "ts fastrtps_c", "ts introspection_c")]
    call = ["generate", "-o", str(folder / "out"), *" ".join(wanted).split()]
    call += ["-I", str(PREFIX / "share"), package, *(f"msg/{name}.idl" for name in names)]
    code = (
        "import rosidl_cli.entry_points as e, sys; found = e.get_entry_points;"
        # The wheels list each generator twice.
        "e.get_entry_points = lambda group, *, specs=None, strict=False: found(group, specs=specs);"
        "from rosidl_cli.cli import main; sys.exit(main())"
    )
    environment = {**os.environ, "AMENT_PREFIX_PATH": str(PREFIX)}
    done = subprocess.run(
        [sys.executable, "-c", code, *call], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"rosidl: {done.stderr}")
    for name in names:
        described = json.loads((folder / "out" / "c" / "msg" / f"{name}.json").read_text())
        full = f"{package}/msg/{name}"
        found = {each["type_name"]: each["hash_string"] for each in described["type_hashes"]}[full]
        if found != STORE.hash_rihs01(full):
            raise RuntimeError(f"{full}: found the hash {found}, expected {STORE.hash_rihs01(full)}")


def compile_package(package: str, uses: list[str], folder: Path) -> None:
    """Compiles the sources and installs libraries and module into the virtual environment."""
    out, library = folder / "out", PREFIX / "lib"
    for part in ("c", "fastrtps_c", "introspection_c"):
        shutil.copytree(out / part, folder / "include" / package, dirs_exist_ok=True)
    includes = [folder / "include", sysconfig.get_path("include"), np.get_include(), PREFIX / "include"]
    includes += sorted((PREFIX / "include").iterdir())
    module = Path(sysconfig.get_path("purelib"), package)
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(out / "py" / "msg", module / "msg")
    (module / "__init__.py").touch()

    def link(to: Path, sources: list[Path], *libraries: str) -> None:
        call = ["g++" if sources[0].suffix == ".cpp" else "gcc", "-O1", "-fPIC", "-shared", "-o", str(to)]
        call += [f"-I{path}" for path in includes] + [str(source) for source in sources]
        call += [f"-L{library}", *(f"-l{name}" for name in libraries), f"-Wl,-rpath,{library.resolve()}"]
        subprocess.run(call, check=True)

    def own(kind: str) -> str:
        return f"{package}__{kind}"

    def of(kind: str) -> list[str]:
        return [f"{name}__{kind}" for name in uses]

    def make(kind: str, sources: list[Path], *libraries: str) -> None:
        link(library / f"lib{own(kind)}.so", sources, *libraries)

    c, py = "rosidl_generator_c", "rosidl_generator_py"
    make(c, sorted((out / "c").rglob("*.c")), *of(c), "rosidl_runtime_c")
    for kind in KINDS:
        part = kind.removeprefix("rosidl_typesupport_")
        sources = sorted((out / part).rglob("*.cpp" if part != "introspection_c" else "*.c"))
        needs = [own(c), kind, *(of(kind) if part != "c" else []), *(["fastcdr"] * (part == "fastrtps_c"))]
        make(kind, sources, *needs)
    make(py, sorted((out / "py" / "msg").glob("*.c")), own(c), own(KINDS[0]), *of(py))
    for kind in KINDS:
        entry = out / "py" / f"_{package}_s.ep.{kind}.c"
        link(module / f"{package}_s__{kind}.so", [entry], own(py), own(kind), own(c))


def main() -> None:
    for package, (names, uses) in PACKAGES.items():
        if (Path(sysconfig.get_path("purelib")) / package / f"{package}_s__{KINDS[-1]}.so").exists():
            continue
        with TemporaryDirectory() as place:
            folder = Path(place, package)
            folder.mkdir()
            generate(package, names, folder)
            compile_package(package, uses, folder)
        print(f"ros_types: compiled {package}")


if __name__ == "__main__":
    main()
