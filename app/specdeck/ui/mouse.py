"""Who has the mouse: specdeck, or the terminal, whose own selection then works as everywhere."""

from collections.abc import Callable

from textual.driver import Driver


class Mouse:
    """Of one dashboard. Textual decides once at the start; its drivers can do it at any time."""

    def __init__(self, driver: Callable[[], Driver | None]) -> None:
        self._driver = driver
        self._is_ours = True

    def toggle(self) -> bool:
        """The other one has it now; whether that is specdeck."""
        self._is_ours = not self._is_ours
        driver = self._driver()
        if driver is None:
            return self._is_ours
        if self._is_ours:
            driver._mouse = True
            self._do(driver, "_enable_mouse_support")
        else:
            self._do(driver, "_disable_mouse_support")
            driver._mouse = False  # else a suspended dashboard would take it back
        driver.flush()
        return self._is_ours

    def _do(self, driver: Driver, name: str) -> None:
        change = getattr(driver, name, None)  # the drivers of tests and of the web have none
        if change is not None:
            change()
