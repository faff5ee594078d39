"""Sessions that answer queries while hypotheses are added, changed and removed."""

from mediaeval_ap.live.live_session import Live

__all__ = ['Live']
