"""`python -m tests.replays`: the table of seconds in which specdeck's word and the timeline's differ."""

import sys

from tests.replays.lives import LIVES
from tests.replays.observer import differences
from tests.replays.watching import said, watched


def main() -> int:
    """1: more than a thousandth of all seconds differ, looked at in every row of the timelines."""
    print(f"{'capture':28}{'seconds':>9}{'differing':>11}{'at own pace':>13}  where")
    sums = [0.0, 0.0, 0.0]
    for name, life in LIVES.items():
        found, paced = (list(differences(life, said(watched(name, at_own_pace=own)))) for own in (False, True))
        figures = [life.rows[-1].at - life.rows[0].at, *(sum(each.seconds for each in some) for some in (found, paced))]
        where = "; ".join(f"{each.at:.1f} s {each.said}, by rule {each.observed}" for each in (*found[:1], *paced[:1]))
        print(f"{name:28}{figures[0]:9.1f}{figures[1]:11.2f}{figures[2]:13.2f}  {where}")
        sums = [whole + part for whole, part in zip(sums, figures, strict=True)]
    print(f"{'all':28}{sums[0]:9.1f}{sums[1]:11.2f}{sums[2]:13.2f}  {sums[1] / sums[0]:.3%}, {sums[2] / sums[0]:.3%}")
    return int(sums[1] > sums[0] / 1000)


if __name__ == "__main__":
    sys.exit(main())
