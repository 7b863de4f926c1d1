"""Secrets out of text, before an event exists. Pure functions over one table of patterns.

`redact` is for any text: addresses, paths, JDBC URLs, Spark properties, SQL, error messages. `redact_literals` is for
SQL text whose values may be personal data. `pick_properties` lets only chosen Spark properties through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HIDDEN = "***"

# Words that name a secret, alone or at the end of a longer name: `fs.s3a.secret.key`, `sfPassword`, `SharedAccessKey`.
# A space here is a place where names differ: nothing, `-`, `_` or `.`.
_WORDS = (
    "pass(?:word|wd|phrase|code)?", "pwd", "secret", "token", "credentials?", "signature", "sig", "sas", "bearer",
    "auth(?:orization)?", "api key", "access key(?: id)?", "account key", "shared key", "private key", "secret key",
    "client secret", "encryption key", "master key", "shared access key", "jaas config",
    r"account key\.[\w.-]{1,100}\.(?:net|com|cn|de|us)",
)  # fmt: skip
_ENDINGS = "(?: (?:id|value|text|b64|base64))?"
_SECRET = f"(?:{'|'.join(_WORDS)}){_ENDINGS}".replace(" ", "[-_.]?")
# First words of properties: after one of these a bare value is no column of a query.
_ROOTS = r"(?:spark|fs|hadoop|hive|dfs|javax|trino|presto|sasl|ssl|kafka|aws|azure|google|jdbc|datasource)"
_QUOTED = r"""(?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")"""

# what it is, its pattern, what stays, and a clue: without one of these in the text the pattern is not tried.
# Wider shapes come first. Case does not matter anywhere. Runs have an upper bound where what must follow them may be
# missing: a stranger's text must not cost more than its length.
_TABLE: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("PEM block", r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", "***", ("-----begin",)),
    # What follows the colon is a port when it is digits and a delimiter; a secret key may hold slashes.
    ("password in an address", r"(?<=://)([^\s/:;@'\"]*):(?!\d+[/;?])[^\s'\"@;]{1,500}@", r"\1:***@", ("://",)),
    (
        "Oracle user and password",
        r"(jdbc:oracle:[a-z0-9]+:[^\s/@'\"]{0,100})/(?:\"[^\"]{1,500}\"|[^\s@'\"]{1,500})@",
        r"\1/***@",
        ("jdbc:oracle",),
    ),
    ("JSON web token", r"\beyJ[\w-]{8,2000}\.[\w-]{4,}\.[\w-]*", "***", ("eyj",)),
    ("header", r"\b(bearer|basic)\s+(?=\S*[\d=+/.-])[\w.~+/=-]{8,}", r"\1 ***", ("bearer", "basic")),
    ("AWS key id", r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b", "***", ("akia", "asia", "aroa", "aida")),
    ("Google API key", r"\bAIza[\w-]{30,}", "***", ("aiza",)),
    ("Google access token", r"\bya29\.[\w.-]{10,}", "***", ("ya29.",)),
    ("Databricks token", r"\bdapi[0-9a-f]{32}(?:-\d+)?\b", "***", ("dapi",)),
    (
        "GitHub token",
        r"\b(?:gh[pousr]_|github_pat_)\w{20,}",
        "***",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    ("GitLab token", r"\bglpat-[\w-]{16,}", "***", ("glpat-",)),
    ("Slack token", r"\bxox[abposr]-[\w-]{10,}", "***", ("xox",)),
    (
        "Stripe, OpenAI or Anthropic key",
        r"\b(?:sk|rk|pk)[-_](?:live|test|proj|ant)[-_][\w-]{10,}",
        "***",
        ("sk-", "sk_", "rk-", "rk_", "pk-", "pk_"),
    ),
    ("PyPI or npm token", r"\b(?:pypi-[\w-]{20,}|npm_\w{30,})", "***", ("pypi-", "npm_")),
    ("Azure client secret", r"(?<![\w~.-])[\w.-]{3}\dQ~[\w~.-]{30,}", "***", ("q~",)),
    (
        "key of a cipher",
        rf"\b((?:try_)?aes_(?:en|de)crypt\s*\((?:[^(),']|\([^()]*\))+,\s*){_QUOTED}",
        r"\1'***'",
        ("aes_",),
    ),
    (
        "password clause",
        rf"\b((?:identified\s+by|password|secret|token)\s+){_QUOTED}",
        r"\1'***'",
        ("identified", "password", "secret", "token"),
    ),
)
# the same for what is a secret by its name; tried when the text has such a word and a mark that a value may follow
_BY_NAME: tuple[tuple[str, str, str], ...] = (
    ("quoted value", rf"({_SECRET}(?:['\"`]\s*(?::|=>?|,|\s)|\s*(?:=>?|:))\s*){_QUOTED}", r"\1'***'"),
    ("JSON number", rf"({_SECRET}\"\s*:\s*)-?[\d.]+", r"\1'***'"),
    ("bare value, or one in braces", rf"({_SECRET}(?:=|%3D))(?:\{{[^}}]*\}}|[^\s&;,)'\"?#]+)", r"\1***"),
    ("property", rf"(?<![\w.$-])({_ROOTS}\.[\w.$-]*?{_SECRET}(?:\s*[:=]\s*|[ \t]+))[^\s'\"=,;]\S*", r"\1***"),
)
_NAMED = ("pass", "pwd", "secret", "token", "credential", "sig", "sas", "bearer", "auth", "key", "jaas")
_MARKS = ("=", ":", "'", '"', "%3d", "spark.", "fs.")
SHAPES = tuple((re.compile(pattern, re.I | re.S), stays, clues) for _, pattern, stays, clues in _TABLE)
BY_NAME = tuple((re.compile(pattern, re.I | re.S), stays) for _, pattern, stays in _BY_NAME)
_CLUES = tuple((clue, row) for row, (*_, clues) in enumerate(SHAPES) for clue in clues)


def redact(text: str) -> str:
    """The text with every secret replaced by `***`.

    `jdbc:postgresql://db/x?user=etl&password=hunter2` → `jdbc:postgresql://db/x?user=etl&password=***`
    """
    folded = text.lower()
    # A plain search for clues is twenty times cheaper than trying every pattern, and most text has none.
    for row in sorted({row for clue, row in _CLUES if clue in folded}):
        pattern, stays, _ = SHAPES[row]
        text = pattern.sub(stays, text)
    if any([mark in folded for mark in _MARKS]) and any([word in folded for word in _NAMED]):  # noqa: C419 (so few: a list beats a generator)
        for pattern, stays in BY_NAME:
            text = pattern.sub(stays, text)
    return text


_SECRET_NAME = re.compile(rf"(?:{_SECRET})$", re.I)


def is_secret_name(name: str) -> bool:
    """True when a setting or property of this name holds a secret: `spark.hadoop.fs.s3a.secret.key`, `apiKey`."""
    return _SECRET_NAME.search(name) is not None


_SQL_TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<name>`(?:[^`]|``)*`|[^\W\d]\w*)
  | (?P<text>'(?:[^'\\]|\\.|'')*(?:'|\\?\Z)|"(?:[^"\\]|\\.|"")*(?:"|\\?\Z))
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?\b)
    """,
    re.X | re.S | re.I,
)
# `r'…'` and `x'…'` are one literal with what follows; `date '…'` keeps its word.
_LITERAL_PREFIX = re.compile(r"(?i)\b[rx](?=\?)")


def redact_literals(sql: str) -> str:
    """SQL text with every literal replaced by `?` and every comment removed; names stay as they are.

    `select * from t1 where name = 'Ann' and age > 42` → `select * from t1 where name = ? and age > ?`
    """
    return _LITERAL_PREFIX.sub("", _SQL_TOKEN.sub(_without_literal, sql))


def _without_literal(token: re.Match[str]) -> str:
    if token["name"] is not None:
        return token["name"]
    return "" if token["comment"] is not None else "?"


def pick_properties(properties: Mapping[str, str], chosen: Iterable[str]) -> dict[str, str]:
    """Only the chosen properties, and none whose name says that it is a secret; values redacted."""
    names = [name for name in chosen if name in properties and not is_secret_name(name)]
    return {name: redact(str(properties[name])) for name in names}
