"""The command ``report``: the page of a campaign, or one of its figures."""

from __future__ import annotations


