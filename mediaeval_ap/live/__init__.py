"""Sessions about hypotheses that come, change and are withdrawn while queries are answered."""

from mediaeval_ap.live.session import Live
from mediaeval_ap.live.watch_page import WatchPage
from mediaeval_ap.live.watching import Point

__all__ = ['Live', 'Point', 'WatchPage']
