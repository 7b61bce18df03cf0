"""Reach of a world: two hosts, which are network namespaces with a cable between them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DATA

pytest.importorskip("cyclonedds", reason="needs the extra ros")
pytest.importorskip("rosbags", reason="needs the extra ros")

pytestmark = [pytest.mark.slow, pytest.mark.unsanitized]
YARD = DATA / "yard.world.xml"
HERE, THERE = "10.5.0.1", "10.5.0.2"
# Processes of a namespace end with its first process, which ends with unshare.
SPACE = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# The first host is this shell's namespace, the second one that of a process that sleeps. Its arguments: the Python, the
# script of the stranger, for how long it tries, the address by which a neighbour of the world tries after it, then the
# world and its options.
TWO_HOSTS = f"""
set -e
python=$1 stranger=$2 seconds=$3 neighbour=$4
shift 4
ip link set lo up
unshare --net sleep 120 & other=$!
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
ip link add here type veth peer name there
ip link set there netns $other
ip address add {HERE}/24 dev here
ip link set here up
nsenter -t $other --net sh -c 'ip link set lo up; ip address add {THERE}/24 dev there; ip link set there up'
"$python" -m mvsim_gym ros "$@" --via cyclonedds --domain 9 & world=$!
nsenter -t $other --net "$python" "$stranger" {THERE} {HERE} 9 "$seconds"
"$python" "$stranger" $neighbour $neighbour 9 60
"""


def can_make_hosts() -> bool:
    """Whether namespaces, and cables between them, can be made here."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    cable = [
        "unshare",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "ip",
        "link",
        "add",
        "here",
        "type",
        "veth",
        "peer",
        "name",
        "there",
    ]
    return subprocess.run(cable, capture_output=True).returncode == 0


def heard(seconds: float, neighbour: str, *options: str) -> tuple[str, str]:
    """Returns the output of a node of another host, and of one on the world's host: messages heard, and whether it
    drove."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROS_", "CYCLONEDDS"))}
    stranger = str(Path(__file__).with_name("ros_stranger.py"))
    arguments = [sys.executable, stranger, str(seconds), neighbour, str(YARD), *options]
    done = subprocess.run(
        [*SPACE, "sh", "-c", TWO_HOSTS, "sh", *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env={**kept, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, done.stderr
    there, here = done.stdout.splitlines()
    return there, here


def test_nobody_elsewhere_hears_or_drives_unless_told_otherwise() -> None:
    if not can_make_hosts():
        pytest.skip("no network namespaces with cables here (root, unshare, nsenter, ip)")
    for options in (("--interface", HERE), ("--interface", "here"), ("--interface", "any")):
        for found in heard(60, HERE, *options):
            count, moved = found.split()
            assert int(count) > 0 and moved == "True", options
    for options in ((), ("--interface", "local")):
        there, here = heard(8, "127.0.0.1", *options)
        assert there == "0 False", options
        assert here.endswith(" True"), "the world was there to be heard"
