"""The functions of Spark that mask their arguments: the original value cannot be recovered from the result.

Encodings such as base64, hex or upper are reversible and not listed.
"""

from __future__ import annotations

# Spark's expression class → its SQL function
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

# these restore the clear value of what `AesEncrypt` has masked
DECRYPTIONS = frozenset({"AesDecrypt"})

# SQL names of the functions that plugins registered, in lower case
PLUGIN_MASKING_FUNCTIONS: set[str] = set()
