"""Adds to repaired wheels the licences of what lies in them and a list of it (SBOM), and checks them.

usage: python .ci/packaging/complete.py WHEEL... FOLDER

auditwheel has copied shared libraries into the wheels and listed the packages that they come from. The list of
what is compiled into the module itself is made here. The archives are written in a fixed order with the time of
SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from importlib import metadata
from pathlib import Path

from elftools.elf.elffile import ELFFile

LIMIT = 30e6  # bytes of a wheel
# Compiled into the module: the Debian package that has the licence, the name, and the licence's SPDX expression.
COMPILED = [
    ("libhwy-dev", "highway", "Apache-2.0"),
    ("librandom123-dev", "random123", "BSD-3-Clause"),
]
COMMON = "/usr/share/common-licenses"
# Where the module was built: the root of the repository, unless a variable names another folder.
ROOT = os.environ.get("BUILT_IN") or str(Path(__file__).resolve().parents[2])


def licence_of(package: str) -> Path:
    """Returns the file with the licence of an installed package of the system."""
    places = [
        Path(f"/usr/share/doc/{package}/copyright"),
        *sorted(Path("/usr/share/licenses").glob(f"{package}/*")),
    ]
    for place in places:
        if place.is_file():
            return place
    raise SystemExit(f"complete: {package}: found no licence, expected one of {', '.join(map(str, places))}")


def version_of(package: str) -> str:
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def own_list(name: str, version: str) -> dict[str, object]:
    """Returns the list, in CycloneDX's form, of what is compiled into the module."""
    wheel = f"pkg:pypi/{name.replace('_', '-')}@{version}"
    parts: list[dict[str, object]] = [
        {
            "type": "library",
            "bom-ref": f"pkg:deb/debian/{package}",
            "name": part,
            "version": version_of(package),
            "purl": f"pkg:deb/debian/{package}@{version_of(package)}",
            "licenses": [{"expression": licence}],
        }
        for package, part, licence in COMPILED
    ]
    pybind11 = f"pkg:pypi/pybind11@{metadata.version('pybind11')}"
    parts.append(
        {
            "type": "library",
            "bom-ref": pybind11,
            "name": "pybind11",
            "version": metadata.version("pybind11"),
            "purl": pybind11,
            "licenses": [{"expression": "BSD-3-Clause"}],
        }
    )
    component = {"type": "library", "bom-ref": wheel, "name": name, "version": version, "purl": wheel}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**component, "licenses": [{"expression": "BSD-3-Clause"}]}},
        "components": parts,
        "dependencies": [
            {"ref": wheel, "dependsOn": [part["bom-ref"] for part in parts]},
            *({"ref": part["bom-ref"]} for part in parts),
        ],
    }


def add_licences(info: Path) -> None:
    name, version = info.name.removesuffix(".dist-info").split("-")
    copied = json.loads((info / "sboms" / "auditwheel.cdx.json").read_text())
    packages = {
        part["name"] for part in copied["components"] if part["purl"].startswith(("pkg:deb", "pkg:rpm"))
    }
    # the list says what a package of the system was compiled with, where Debian did not compile it
    name_of, _, note = os.environ.get("BUILT_OTHERWISE", "").partition("=")
    for part in copied["components"]:
        if part["name"] == name_of:
            part["pedigree"] = {"notes": note}
    (info / "sboms" / "auditwheel.cdx.json").write_text(json.dumps(copied) + "\n")
    texts = info / "licenses" / "third_party"
    texts.mkdir(parents=True)
    for package in sorted(packages | {package for package, _, _ in COMPILED}):
        shutil.copyfile(licence_of(package), texts / f"{package}.txt")
    # Debian's texts refer to the common licences instead of repeating them
    written = "".join(path.read_text(errors="replace") for path in sorted(texts.iterdir()))
    for common in sorted(set(re.findall(rf"{COMMON}/([\w.-]*\w)", written))):
        shutil.copyfile(f"{COMMON}/{common}", texts / f"{common}.txt")
    pybind11 = next(file for file in metadata.files("pybind11") or [] if file.name == "LICENSE")
    shutil.copyfile(pybind11.locate(), texts / "pybind11.txt")
    (info / "sboms" / "mvsim_gym.cdx.json").write_text(json.dumps(own_list(name, version), indent=1) + "\n")


# The module, and its functions in place of those of Box2D (src/sim/solver_overrides.cpp).
EXPORTED = re.compile(
    r"PyInit__core$|_Z17b2Collide|_ZNK?7b2Timer|_ZNK?16b2StackAllocator|_ZN15b2FrictionJoint24Solve"
)


def check_libraries(folder: Path) -> None:
    """Refuses libraries that export symbols, name the folder of the build, or need a file that the wheel lacks."""
    libraries = sorted(p for p in folder.rglob("*") if ".so" in p.suffixes)
    have = {p.name for p in libraries}
    system = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    system |= {f"lib{name}.so.{n}" for name, n in (("c", 6), ("m", 6), ("dl", 2), ("pthread", 0), ("rt", 1))}
    # every Linux with Python has them, and manylinux counts on them
    system |= {"libstdc++.so.6", "libgcc_s.so.1", "libz.so.1"}
    for library in libraries:
        with library.open("rb") as file:
            elf = ELFFile(file)
            needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
            exported = [
                symbol.name
                for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
                if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
            ]
            debug = [section.name for section in elf.iter_sections() if section.name.startswith(".debug")]
        if lacking := needed - have - system:
            raise SystemExit(f"complete: {library.name} needs {sorted(lacking)}, which the wheel lacks")
        if debug:
            raise SystemExit(f"complete: {library.name} has debug information: {debug}")
        if library.parent.name != "mvsim_gym":
            continue
        if ROOT.encode() in library.read_bytes():
            raise SystemExit(f"complete: {library.name} names the folder {ROOT}: its bytes depend on it")
        is_core = library.name.startswith("_core")
        unwanted = [
            name
            for name in exported
            if not (is_core and EXPORTED.match(name)) and name not in ("_init", "_fini")
        ]
        if unwanted:
            raise SystemExit(f"complete: {library.name} exports {sorted(unwanted)[:5]}")
        if is_core and "_ZN7b2Timer5ResetEv" not in exported:
            raise SystemExit(f"complete: {library.name} replaces no functions of Box2D: contacts are slow")


def pack(folder: Path, wheel: Path) -> None:
    """Writes the files of a folder and their RECORD."""
    (record,) = folder.glob("*.dist-info/RECORD")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p != record)
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for file in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
        writer.writerow([file.relative_to(folder).as_posix(), f"sha256={digest}", file.stat().st_size])
    writer.writerow([record.relative_to(folder).as_posix(), "", ""])
    record.write_text(rows.getvalue())
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    # the names of the package last, as installers that stream a wheel read its metadata at the end
    order = sorted([*files, record], key=lambda p: (".dist-info" in p.parts[len(folder.parts)], p.as_posix()))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in order:
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".so" in file.suffixes else 0o100644) << 16
            archive.writestr(entry, file.read_bytes())


def complete(wheel: Path, out: Path) -> None:
    folder = out / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    (info,) = folder.glob("*.dist-info")
    add_licences(info)
    check_libraries(folder)
    pack(folder, out / wheel.name)
    shutil.rmtree(folder)
    size = (out / wheel.name).stat().st_size
    print(f"complete: {wheel.name}, {size / 1e6:.1f} MB")
    if size > LIMIT:
        raise SystemExit(
            f"complete: {wheel.name} has {size / 1e6:.1f} MB, expected at most {LIMIT / 1e6:.0f} MB"
        )


def main() -> None:
    *wheels, out = map(Path, sys.argv[1:])
    for wheel in wheels:
        complete(wheel, out)


if __name__ == "__main__":
    main()
