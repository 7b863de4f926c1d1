"""A process that emits numbered events until it is killed, and prints which events were accepted.

    killed_emitter.py <settings as JSON> <first number> [<seconds between events>]

After `ready` it prints one line per event, after `emit` has returned: the number of the event, the time, and how many
events are not delivered according to the transport's counters.
"""

from __future__ import annotations

import json
import os
import sys
import time

from colline.config import settings_from, transport_from


def main() -> None:
    given, first, pause = json.loads(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    transport = transport_from(settings_from({"transport": given}, environ={}))
    os.write(1, b"ready\n")
    number, filling = first, "x" * 500
    while True:
        transport.emit({"n": number, "filling": filling})
        stats = transport.stats
        os.write(1, b"%d %.6f %d\n" % (number, time.time(), stats.emitted + stats.adopted - stats.sent))
        number += 1
        if pause:
            time.sleep(pause)


main()
