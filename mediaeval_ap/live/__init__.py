"""Sessions about hypotheses that come, change and are withdrawn while queries are answered."""

from mediaeval_ap.live.live_session import Live

__all__ = ['Live']
