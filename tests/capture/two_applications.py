"""Runs two Spark applications in one process; the second creates an RDD with the same id as one of the first.

two_applications.py FOLDER    prints for each a JSON list: the inputs of a DataFrame made from that RDD
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import colline
from tests.sessions import session

FOLDER = Path(sys.argv[1])
SCHEMA = "secret long"


def input_names(frame: object) -> list[str]:
    return sorted(Path(each.name.name).name for each in colline.lineage(frame).inputs)


first = session(FOLDER, plain=True)
first.range(3).selectExpr("id as secret").write.parquet(str(FOLDER / "salaries"))
salaries = first.read.parquet(str(FOLDER / "salaries"))
colline.lineage(salaries)
rows = salaries.rdd
rdd_id = rows._jrdd.rdd().id()
print(json.dumps(input_names(first.createDataFrame(rows, SCHEMA))))
first.stop()

second = session(FOLDER, plain=True)
rdd = second.sparkContext.parallelize([(1,)])
ids = []
while rdd_id not in ids:
    rdd = rdd.coalesce(1)  # each call creates a new RDD in the JVM
    ids.append(rdd._jrdd.rdd().id())
print(json.dumps(input_names(second.createDataFrame(rdd, SCHEMA))))
second.stop()
