"""Sessions about hypotheses that come, change and are withdrawn while queries are answered."""

from mediaeval_ap.live.live_session import Live
from mediaeval_ap.live.watching import Point, WatchPage

__all__ = ['Live', 'Point', 'WatchPage']
