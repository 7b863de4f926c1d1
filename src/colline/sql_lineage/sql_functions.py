"""Knowledge about SQL functions of all dialects: which mask, which rank, which choose between values."""

from __future__ import annotations

from sqlglot import exp

# Names of functions whose argument cannot be recovered from the result, in lower case. Spark's own are in `trace`.
MASKING_FUNCTIONS = frozenset((
    "md5", "md5_hex", "md5_binary", "md5_number_lower64", "sha", "sha1", "sha1_hex", "sha1_binary", "sha2",
    "sha2_hex", "sha2_binary", "sha224", "sha256", "sha384", "sha512", "hash", "xxhash64", "hashbytes", "checksum",
    "binary_checksum", "farm_fingerprint", "fnv_hash", "murmur3", "crc32", "hmac", "digest", "crypt", "encrypt",
    "encryptbykey", "encryptbypassphrase", "aes_encrypt", "pgp_sym_encrypt", "pgp_pub_encrypt", "ora_hash",
    "standard_hash", "mask", "mask_inner", "mask_outer", "hash_agg", "count", "count_if", "countif", "count_big",
    "approx_count_distinct", "approx_distinct", "hll", "apply_aggregation",
))  # fmt: skip
# Names of functions that recover what a masking one took.
DECRYPTIONS = frozenset((
    "aes_decrypt", "try_aes_decrypt", "decrypt", "decrypt_raw", "try_decrypt", "decryptbykey", "decryptbypassphrase",
    "pgp_sym_decrypt", "pgp_pub_decrypt",
))  # fmt: skip
# classes of sqlglot for masking functions; a class that this version of sqlglot does not have is skipped
_MASKING_CLASSES = (
    "MD5", "MD5Digest", "MD5NumberLower64", "MD5NumberUpper64", "SHA", "SHA1Digest", "SHA2", "SHA2Digest", "Count",
    "CountIf", "ApproxDistinct", "FarmFingerprint", "StandardHash", "Encrypt", "EncryptRaw", "HashAgg", "Hll",
    "ApproxCountDistinct",
)  # fmt: skip
MASKING_CLASSES = tuple(getattr(exp, name) for name in _MASKING_CLASSES if hasattr(exp, name))
# window functions whose result depends on the window only
_RANK_CLASSES = ("RowNumber", "Rank", "DenseRank", "PercentRank", "CumeDist", "Ntile")
RANK_CLASSES = tuple(getattr(exp, name) for name in _RANK_CLASSES if hasattr(exp, name))
RANK_FUNCTIONS = frozenset(("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"))
# window functions that take a value from another row; sqlglot counts them among the aggregates
VALUE_FUNCTIONS = frozenset(("lag", "lead", "nth_value"))
# functions that return several rows for one
_GENERATOR_CLASSES = ("Explode", "ExplodeOuter", "Posexplode", "PosexplodeOuter", "Inline", "Stack", "Unnest")
GENERATOR_CLASSES = tuple(getattr(exp, name) for name in _GENERATOR_CLASSES if hasattr(exp, name))
# aggregates that sqlglot has no class for
AGGREGATE_FUNCTIONS = frozenset((
    "string_agg", "listagg", "group_concat", "count_big", "checksum_agg", "approx_percentile", "bit_and", "bit_or",
    "bit_xor", "every", "any_value", "mode", "first_value", "last_value", "hll", "approx_count_distinct", "countif",
    "sumif", "product", "geomean", "var", "stdev", "varp", "stdevp",
))  # fmt: skip
# functions with a condition, its value, … as arguments, and functions that test every argument
CASE_FUNCTIONS = frozenset(("decode", "decode_oracle", "choose"))
CHOICE_FUNCTIONS = frozenset(("coalesce", "nvl", "ifnull", "isnull", "greatest_ignore_nulls"))


def function_name(node: exp.Expression) -> str:
    """The name of a function call in lower case; empty for another node."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return str(node.sql_name()).lower() if isinstance(node, exp.Func) else ""


def is_masking(node: exp.Expression) -> bool:
    """Whether the argument of a function cannot be recovered from its result."""
    return isinstance(node, MASKING_CLASSES) or function_name(node) in MASKING_FUNCTIONS


def is_rank(node: exp.Expression) -> bool:
    """Whether a window function has no input but its window."""
    return isinstance(node, RANK_CLASSES) or function_name(node) in RANK_FUNCTIONS


def is_aggregate(node: exp.Expression) -> bool:
    """Whether a function combines the values of many rows."""
    return isinstance(node, exp.AggFunc) or function_name(node) in AGGREGATE_FUNCTIONS


def is_value_of_another_row(node: exp.Expression) -> bool:
    """Whether a window function returns the value of another row, without combining values."""
    return function_name(node) in VALUE_FUNCTIONS
