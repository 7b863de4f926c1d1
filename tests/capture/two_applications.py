"""Two applications in one process, the second of which makes RDDs with the numbers that the first one's had.

two_applications.py FOLDER    one line of JSON each: where a DataFrame made from an RDD comes from
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import colline
from tests.sessions import session

HOME = Path(sys.argv[1])
SHAPE = "secret long"


def told(frame: object) -> list[str]:
    return sorted(Path(found.name.name).name for found in colline.lineage(frame).inputs)


first = session(HOME, plain=True)
first.range(3).selectExpr("id as secret").write.parquet(str(HOME / "salaries"))
salaries = first.read.parquet(str(HOME / "salaries"))
colline.lineage(salaries)
rows = salaries.rdd
number = rows._jrdd.rdd().id()
print(json.dumps(told(first.createDataFrame(rows, SHAPE))))
first.stop()

second = session(HOME, plain=True)
given = second.sparkContext.parallelize([(1,)])
seen = []
while number not in seen:
    given = given.coalesce(1)  # each is an RDD of its own in the JVM
    seen.append(given._jrdd.rdd().id())
print(json.dumps(told(second.createDataFrame(given, SHAPE))))
second.stop()
