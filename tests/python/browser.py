"""A headless Chromium that looks at a view."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

WHY_NOT = (
    "needs chromium and chromedriver (Debian: chromium-driver)"
    if not (shutil.which("chromium") and shutil.which("chromedriver"))
    else ""
)


class Browser:
    """A page; pictures of it are (height, width, 3) uint8."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def picture(self) -> npt.NDArray[np.uint8]:
        import imageio.v3 as imageio
        from selenium.common.exceptions import TimeoutException

        for attempt in range(3):  # software draws slowly where others want the processors
            try:
                png = self.driver.get_screenshot_as_png()
                break
            except TimeoutException:
                if attempt == 2:
                    raise
        return np.asarray(imageio.imread(io.BytesIO(png))[..., :3])

    def press(self, keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()


@contextmanager
def browser(url: str, width: int = 900, height: int = 640) -> Iterator[Browser]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--window-size={width},{height}",
    ):
        options.add_argument(argument)
    for argument in ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-proxy-server"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.get(url)
        yield Browser(driver)
    finally:
        driver.quit()


def wait_for(happened: Callable[[], Any], seconds: float = 120) -> Any:
    """Returns the result of `happened` once it is true. Raises AssertionError if it does not become true."""
    ends = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.05)
    return found
