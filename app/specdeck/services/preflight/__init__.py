"""What is checked on the host before anything is touched: each check says what to change where it fails."""

from specdeck.services.preflight.place import check_lock, check_owner, check_port, neighbour_notes
from specdeck.services.preflight.start import Preflight, check_start

__all__ = ["Preflight", "check_lock", "check_owner", "check_port", "check_start", "neighbour_notes"]
