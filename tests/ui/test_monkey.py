"""Whatever is typed, pasted, clicked or resized: nothing ends the dashboard, and nothing is done that no sheet has shown."""

import pytest
from tests.ui import monkey


@pytest.mark.long
@pytest.mark.parametrize("seed", [4, 1_711])
def test_no_key_breaks_it(seed: int) -> None:
    assert monkey.main(12.0, seed) == 0
