"""Regular expressions that are compiled when they are first looked for: most of those of logs are, after the first frame."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    late_pattern = re.compile
else:

    class late_pattern:  # noqa: N801 - called as `re.compile` is
        """Has the methods of `re.Pattern`, which are as quick as its own once each was called."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.pattern, self.flags = pattern, flags

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the pattern has
            found = getattr(re.compile(self.pattern, self.flags), name)
            setattr(self, name, found)
            return found
