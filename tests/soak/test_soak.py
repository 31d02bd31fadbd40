"""The soak of `tests.soak.soak`, short: `pytest -m soak` takes about five minutes."""

from pathlib import Path

import pytest
from tests.soak.soak import soaked

pytestmark = [pytest.mark.sshd, pytest.mark.soak, pytest.mark.long]


async def test_faults_for_three_minutes_end_with_all_well(tmp_path: Path) -> None:
    assert await soaked(tmp_path, hosts=8, minutes=3, every=20, seed=1) == []
