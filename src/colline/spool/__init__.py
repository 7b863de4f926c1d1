"""Durable local queue: append-only files of JSON lines that outlive the process that wrote them.

The transport uses `Spool`, a bounded queue from which events are removed when they are delivered. The receiver writes a
`Segment` and moves it to the landing folder.
"""

from __future__ import annotations

from colline.spool.landing_file import land, land_abandoned
from colline.spool.queue import Spool, SpoolOptions
from colline.spool.segment import Segment, make_folder

__all__ = ["Segment", "Spool", "SpoolOptions", "land", "land_abandoned", "make_folder"]
