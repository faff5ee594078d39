"""The command ``report``: the page of a campaign, or one of its figures."""

from __future__ import annotations

import os
from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import NEW_FILE, STANDARD_STREAM, Output, write
