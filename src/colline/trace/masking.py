"""Which of Spark's own functions hide what goes in. Encodings (base64, hex, upper) hide nothing and are not here."""

from __future__ import annotations

# Spark's expression class → the SQL function it is
MASKING_EXPRESSIONS = {
    "Murmur3Hash": "hash",
    "XxHash64": "xxhash64",
    "HiveHash": "hive_hash",
    "CollationAwareMurmur3Hash": "hash",
    "CollationAwareXxHash64": "xxhash64",
    "Md5": "md5",
    "Sha1": "sha1",
    "Sha2": "sha2",
    "Crc32": "crc32",
    "Mask": "mask",
    "AesEncrypt": "aes_encrypt",
    "Count": "count",
    "CountIf": "count_if",
    "ApproxCountDistinctForIntervals": "approx_count_distinct",
    "HyperLogLogPlusPlus": "approx_count_distinct",
    "HllSketchAgg": "hll_sketch_agg",
    "HllUnionAgg": "hll_union_agg",
    "HllSketchEstimate": "hll_sketch_estimate",
    "ThetaSketchAgg": "theta_sketch_agg",
    "ThetaUnionAgg": "theta_union_agg",
    "ThetaIntersectionAgg": "theta_intersection_agg",
    "ThetaSketchEstimate": "theta_sketch_estimate",
}

# functions that extensions added, by the name SQL calls them, in lower case
PLUGIN_MASKING_FUNCTIONS: set[str] = set()
