"""Images of cameras in a GPU's memory, as a consumer of DLPack finds them.

Run by test_device.py with tests/doubles in place of libcuda and before libEGL: Mesa draws in software and says that it
is CUDA's device 0, whose memory is the host's. So all of it runs here but the driver: device choice, the shader that
packs, mapping, copies, order of streams, capsules. That a real GPU agrees is for tests/gpu (./dev gpu-pack) to say.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import pytest
from gpu_consumer import Borrowed, borrowed
from test_camera_backends import write_world
from test_cameras import Boxes, block, depth_camera, lidar3d

import mvsim_gym

CUDA = ctypes.CDLL("libcuda.so.1")
CUDA.fake_cuda_stream.restype = ctypes.c_void_p
CUDA.fake_cuda_run.argtypes = [ctypes.c_void_p]
CUDA.fake_cuda_read.argtypes = [ctypes.c_void_p, ctypes.c_ulonglong, ctypes.c_size_t, ctypes.c_void_p]
EGL = ctypes.CDLL("libEGL.so.1")
EGL.shim_fail.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int, ctypes.c_int]

LEGACY, OUT_OF_MEMORY, ILLEGAL_ADDRESS = 1, 2, 700
IMAGES = ("image", "labels", "depth", "near")
ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="0.3">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="image"/><observe class="labels"/>
<observe class="depth" max="8" normalize="true"/><observe class="reading" name="near" sensor="small"/>
<observe class="range_image"/></agent>
<reset><spawn clearance="0.2" area="-2 2 -2 2"/></reset><reward class="time" weight="-1"/></mvsim_env>"""
# an odd number of pixels: rows of the packed images begin within a word
SMALL = """<sensor class="rgbd_camera" name="small"><pose_3d>0.1 0 0.6 0 15 0</pose_3d>
<depth_noise_sigma>0</depth_noise_sigma>
<sense_rgb>false</sense_rgb><depth_ncols>7</depth_ncols><depth_nrows>5</depth_nrows><depth_cx>3</depth_cx>
<depth_cy>2</depth_cy><depth_fx>5</depth_fx><depth_fy>5</depth_fy></sensor>"""
GLASS = block("glass", "1.5 0.2 20", 0.1, 1.5, 0, 1.1, "#40a0ff70")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    camera = depth_camera("0.1 0 0.9 0 12 7", sigma=0.02).replace("<rgb_ncols>64", "<rgb_ncols>37")
    write_world(tmp_path, camera + SMALL + lidar3d(columns=20), Boxes(5, 30).xml() + GLASS)
    out = tmp_path / "t.env.xml"
    out.write_text(ENV)
    return out


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Memory of the GPU is given back."""
    gc.collect()
    before = CUDA.fake_cuda_allocations()
    yield
    gc.collect()
    assert CUDA.fake_cuda_allocations() == before


def made(path: Path, device: str = "cuda:0", num_envs: int = 3, **options: Any) -> mvsim_gym.VectorEnv:
    return mvsim_gym.VectorEnv(path, num_envs=num_envs, camera_backend="egl", device=device, **options)


def actions_of(steps: int, num_envs: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).uniform(-1, 1, (steps, num_envs, 2)).astype(np.float32)


def read(array: Any) -> npt.NDArray[Any]:
    """Returns the values that a consumer on the default stream reads."""
    if isinstance(array, np.ndarray):
        return array
    with borrowed(array.__dlpack__()) as found:
        assert found.device == array.__dlpack_device__() == (2, 0)
        assert found.shape == array.shape and found.dtype == array.dtype
        out = np.empty(found.shape, found.dtype)
        CUDA.fake_cuda_read(out.ctypes.data, found.address, out.nbytes, LEGACY)
        CUDA.fake_cuda_run(LEGACY)
    return out


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert ours.keys() == theirs.keys()
    for key, values in theirs.items():
        assert isinstance(ours[key], np.ndarray) == (key not in IMAGES), key
        np.testing.assert_array_equal(read(ours[key]), values, err_msg=key)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("num_envs", [1, 5])
def test_the_pixels_are_those_of_the_host(path: Path, mode: str, num_envs: int) -> None:
    ours, theirs = (made(path, d, num_envs, autoreset_mode=mode) for d in ("cuda:0", "cpu"))
    same(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
    seen, ends = set(), 0
    for action in actions_of(9, num_envs):
        mine, *_, info = ours.step(action)
        other, *_, wanted = theirs.step(action)
        same(mine, other)
        seen.add(other["depth"].tobytes())
        for i in np.flatnonzero(wanted.get("_final_obs", [])):
            same(info["final_obs"][i], wanted["final_obs"][i])
            ends += 1
    assert len(seen) > 5 and (ends > 0) == (mode == "SameStep")
    for envs in (ours, theirs):
        envs.close()


def test_a_reset_of_some_leaves_the_others(path: Path) -> None:
    ours, theirs = (made(path, d, 4, autoreset_mode="Disabled") for d in ("cuda:0", "cpu"))
    mask = np.array([False, True, False, True])
    for envs in (ours, theirs):
        envs.reset(seed=1)
        envs.step(actions_of(1, 4)[0])
    same(ours.reset(options={"reset_mask": mask})[0], theirs.reset(options={"reset_mask": mask})[0])


def test_terms_of_several_agents_that_wait_see_nothing(path: Path) -> None:
    """Agents that wait have rows of zeros, as on the host."""
    world = path.parent / "w.world.xml"
    text = world.read_text()
    second = text[text.index("<vehicle") :].replace('name="r"', 'name="q"').replace("</mvsim_world>", "")
    world.write_text(text.replace("</mvsim_world>", second + "</mvsim_world>"))
    env = ENV.replace('vehicle="r"', 'vehicles="*"').replace('time_limit="0.3"', 'time_limit="0.9"')
    path.write_text(env.replace("<reset>", '<terminate class="collision"/><reset>'))
    ours, theirs = (made(path, d, 4) for d in ("cuda:0", "cpu"))
    same(ours.reset(seed=1)[0], theirs.reset(seed=1)[0])
    for action in actions_of(12, 4):
        mine, *_ = ours.step(action)
        other, *_ = theirs.step(action)
        same(mine, other)


def test_copies_snapshots_and_pickles_show_the_same(path: Path) -> None:
    ours, theirs = (made(path, d) for d in ("cuda:0", "cpu"))
    for envs in (ours, theirs):
        envs.reset(seed=1)
        envs.step(actions_of(1, 3)[0])
    action = actions_of(2, 3)[1]
    before = theirs.snapshot()
    assert ours.snapshot() == before
    twins = [copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))]
    wanted, *_ = theirs.step(action)
    for twin in (ours, *twins):
        same(twin.step(action)[0], wanted)
    same(ours.restore(before), theirs.restore(before))
    other = made(path, num_envs=5)
    same(
        other.set_state(None, theirs.get_state([2])),
        made(path, "cpu", 5).set_state(None, theirs.get_state([2])),
    )


def test_an_unstarted_env_shows_nothing(path: Path) -> None:
    ours = made(path)
    state = ours.get_state([0])
    ours.reset(seed=1)
    assert not read(ours.set_state([1], state)["image"])[1].any()


# -- DLPack


def test_both_kinds_of_capsules(path: Path) -> None:
    envs = made(path)
    image = envs.reset(seed=1)[0]["image"]
    with borrowed(image.__dlpack__()) as plain, borrowed(image.__dlpack__(max_version=(1, 3))) as versioned:
        assert (plain.version, versioned.version) == (None, (1, 0))
        assert plain.address == versioned.address and versioned.flags == 0
        assert plain.strides == versioned.strides == (48 * 37 * 3, 37 * 3, 3, 1)
    with borrowed(image.__dlpack__(max_version=(0, 8))) as old:
        assert old.version is None
    with borrowed(image.__dlpack__(max_version=(1, 0), copy=True)) as own:
        assert own.flags == 2 and own.address != plain.address


def test_a_capsule_that_nobody_takes_is_let_go(path: Path) -> None:
    """Also one whose consumer keeps it beyond the environment."""
    envs = made(path)
    depth = envs.reset(seed=1)[0]["depth"]
    capsules = [depth.__dlpack__(), depth.__dlpack__(max_version=(1, 0)), depth.__dlpack__(copy=True)]
    kept = borrowed(depth.__dlpack__())
    wanted = depth.to_numpy()
    envs.close()
    del envs, depth, capsules
    gc.collect()
    out = np.empty_like(wanted)
    CUDA.fake_cuda_read(out.ctypes.data, kept.address, out.nbytes, LEGACY)
    CUDA.fake_cuda_run(LEGACY)
    np.testing.assert_array_equal(out, wanted)
    kept.let_go()


def queued(found: Borrowed, stream: int) -> npt.NDArray[Any]:
    """A consumer's copy, on its way in his stream."""
    out = np.zeros(found.shape, found.dtype)
    CUDA.fake_cuda_read(out.ctypes.data, found.address, out.nbytes, stream)
    return out


def test_a_stream_waits_for_the_pixels(path: Path) -> None:
    """A consumer that asks not to wait reads the values from before, so the double would show a missing wait."""
    envs, host = made(path), made(path, "cpu")
    wanted = host.reset(seed=1)[0]["near"]  # drawn last: mapping a buffer waits for the copies before
    image = envs.reset(seed=1)[0]["near"]
    waiting, hasty = CUDA.fake_cuda_stream(), CUDA.fake_cuda_stream()
    for stream in (-1, waiting, None, 1, 2):
        with borrowed(image.__dlpack__(stream=stream)) as found:
            runs = hasty if stream == -1 else stream or LEGACY
            out = queued(found, runs)
            CUDA.fake_cuda_run(runs)
            assert (out == wanted).all() == (stream != -1), stream


@pytest.mark.parametrize("default", [True, False])
def test_a_step_waits_for_those_who_read(path: Path, default: bool) -> None:
    """Work that a consumer queued before the next step reads the pixels from before."""
    envs, host = made(path), made(path, "cpu")
    wanted = host.reset(seed=1)[0]["depth"]
    stream = LEGACY if default else CUDA.fake_cuda_stream()
    found = borrowed(envs.reset(seed=1)[0]["depth"].__dlpack__(stream=stream))
    before = CUDA.fake_cuda_count(b"cuCtxSynchronize")
    out = queued(found, stream)
    after, *_ = envs.step(actions_of(1, 3)[0])
    assert (after["depth"].to_numpy() != wanted).any()
    CUDA.fake_cuda_run(stream)
    np.testing.assert_array_equal(out, wanted)
    assert (CUDA.fake_cuda_count(b"cuCtxSynchronize") == before) == default, (
        "one whole context is not waited for"
    )
    found.let_go()


def test_what_dlpack_refuses(path: Path) -> None:
    envs = made(path)
    observation, _ = envs.reset(seed=1)
    image = observation["image"]
    for wish, message in (
        ({"stream": 0}, "stream: found 0, expected None, 1"),
        ({"stream": -2}, "stream: found -2"),
        ({"dl_device": (2, 1)}, r"dl_device: found \(2, 1\), expected \(2, 0\)"),
        ({"dl_device": (1, 0), "copy": False}, "copy: found False"),
    ):
        with pytest.raises(BufferError, match=message):
            image.__dlpack__(**wish)
    with pytest.raises(TypeError, match=r"lies on cuda:0: torch.from_dlpack.*array.to_numpy\(\)"):
        np.asarray(image)


def test_arrays_of_an_earlier_step_are_refused(path: Path) -> None:
    envs = made(path, copy=False)
    image = envs.reset(seed=1)[0]["image"]
    kept, row, pixels = image.copy(), image[-1], image.to_numpy()
    np.testing.assert_array_equal(read(row), pixels[-1])
    latest, *_ = envs.step(actions_of(1, 3)[0])
    assert (latest["image"].to_numpy() != pixels).any() and latest["image"].is_current
    np.testing.assert_array_equal(read(kept), pixels)
    assert "of an earlier step" in repr(image) and kept.is_current
    for use in (image.__dlpack__, image.to_numpy, image.copy, row.to_numpy, lambda: image[0]):
        with pytest.raises(BufferError, match="this array on cuda:0 is of an earlier step"):
            use()
    assert len(latest["image"]) == 3
    for wrong in (3, -4):
        with pytest.raises(IndexError, match=f"index {wrong} of 3"):
            latest["image"][wrong]


def test_others_read_them(path: Path) -> None:
    """NumPy and PyTorch for the CPU take a copy on the host."""
    torch = pytest.importorskip("torch")
    envs = made(path)
    depth = envs.reset(seed=1)[0]["depth"]
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        np.testing.assert_array_equal(np.from_dlpack(depth, device="cpu"), depth.to_numpy())
    tensor = torch.from_dlpack(depth.__dlpack__(dl_device=(1, 0)))
    np.testing.assert_array_equal(tensor.numpy(), depth.to_numpy())


# -- other ways to look, and mistakes


def test_what_takes_no_images_of_a_gpu_says_so(path: Path) -> None:
    envs = made(path)
    observation, _ = envs.reset(seed=1)
    with pytest.raises(ValueError, match=r"out: found with device='cuda:0'.*torch.from_dlpack"):
        envs.step(actions_of(1, 3)[0], out=observation)
    with pytest.raises(mvsim_gym.errors.TermError, match="observation 'image': it lies on cuda:0"):
        bright = made(
            path, reward_terms={"bright": lambda view: view.observations["image"].mean(axis=(1, 2, 3))}
        )
        bright.reset(seed=1)
        bright.step(actions_of(1, 3)[0])
    near = made(path, reward_terms={"free": lambda view: view.observations["range_image"].min(axis=(1, 2))})
    near.reset(seed=1)
    near.step(actions_of(1, 3)[0])


def test_gymnasium_makes_them() -> None:
    envs = gym.make_vec("mvsim/DepthNavigation-v0", num_envs=2, device="cuda:0", time_limit=1)
    host = gym.make_vec("mvsim/DepthNavigation-v0", num_envs=2, camera_backend="egl", time_limit=1)
    observation, wanted = envs.reset(seed=4)[0], host.reset(seed=4)[0]
    assert envs.observation_space == host.observation_space
    for key, values in wanted.items():
        np.testing.assert_array_equal(read(observation[key]), values)


SETTING_UP = ["cuMemAlloc_v2", "cuMemsetD8Async", "cuCtxPushCurrent_v2"]
DRAWING = [
    "cuGraphicsGLRegisterBuffer",
    "cuGraphicsMapResources",
    "cuGraphicsResourceGetMappedPointer_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuGraphicsUnmapResources",
    "cuEventRecord",
    "cuStreamWaitEvent",
    "cuStreamSynchronize",
    "cuMemcpyDtoH_v2",
]


@pytest.mark.parametrize("code", [OUT_OF_MEMORY, ILLEGAL_ADDRESS])
@pytest.mark.parametrize("function", SETTING_UP + DRAWING)
def test_each_failure_of_cuda_is_an_error_that_names_it(path: Path, function: str, code: int) -> None:
    host = made(path, "cpu", 4)
    wanted, _ = host.reset(seed=1)
    expected = mvsim_gym.RenderMemoryError if code == OUT_OF_MEMORY else mvsim_gym.RendererLost
    name = (
        "no memory for"
        if (function, code) == ("cuMemAlloc_v2", OUT_OF_MEMORY)
        else function.removesuffix("_v2")
    )

    def use() -> None:
        envs = made(path, num_envs=4)
        same(envs.reset(seed=1)[0], wanted)
        envs.reset(seed=1)[0]["image"].to_numpy()

    use()
    if function == "cuGraphicsGLRegisterBuffer":  # only with a buffer that is new
        EGL.shim_fail(b"glGetGraphicsResetStatus", 0x8255, 0, 1)
        with pytest.raises(mvsim_gym.RendererLost):
            made(path).reset(seed=1)
    CUDA.fake_cuda_fail(function.encode(), code, 0)
    try:
        with pytest.raises(expected, match=rf"cuda:0.*{name}") as error:
            use()
        assert "\n" not in str(error.value)
    finally:
        CUDA.fake_cuda_fail(function.encode(), 0, 0)
    use()


def test_a_lost_context_is_told_and_the_next_reset_draws_on_the_same_gpu(path: Path) -> None:
    envs, host = made(path), made(path, "cpu")
    wanted, _ = host.reset(seed=1)
    envs.reset(seed=1)
    EGL.shim_fail(b"glGetGraphicsResetStatus", 0x8255, 0, 1)
    with pytest.raises(mvsim_gym.RendererLost, match="lost its context"):
        envs.step(actions_of(1, 3)[0])
    asked = CUDA.fake_cuda_count(b"cuGLGetDevices_v2")
    same(envs.reset(seed=1)[0], wanted)
    assert CUDA.fake_cuda_count(b"cuGLGetDevices_v2") > asked


def test_threads_see_what_one_sees(path: Path) -> None:
    def play() -> list[bytes]:
        envs = made(path)
        out = [envs.reset(seed=2)[0]["image"].to_numpy().tobytes()]
        out += [envs.step(action)[0]["depth"].to_numpy().tobytes() for action in actions_of(5, 3)]
        return out

    wanted, found = play(), []
    threads = [threading.Thread(target=lambda: found.append(play())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == [wanted] * 3
