"""How long a database that does not answer is asked again."""

import time

__all__ = ["RetryTimer"]

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


class RetryTimer:
    """Counts the time of a loop that asks again.

    ::

        timer = RetryTimer(300)
        while True:
            try:
                return ask()
            except StoreUnavailable:
                timer.wait()

    Args:
        seconds: from now on.
        pausing: whether there is a pause before the next try, longer each time; without, the try itself takes long.
    """

    def __init__(self, seconds: float, *, pausing: bool = True) -> None:
        self._give_up = time.monotonic() + seconds
        self._pause = FIRST_PAUSE if pausing else 0.0

    def wait(self) -> None:
        """Wait a little, while an error is handled; raises that error when it has been tried for long enough."""
        if time.monotonic() >= self._give_up:
            raise  # noqa: PLE0704 - the error that the caller handles
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
