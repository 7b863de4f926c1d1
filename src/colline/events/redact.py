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
    "client secret", "encryption key", "master key", "session key", "shared access key", "jaas config",
)  # fmt: skip
_ENDINGS = "(?: (?:id|value|text|b64|base64))?"
_SECRET = f"(?:{'|'.join(_WORDS)}){_ENDINGS}".replace(" ", "[-_.]?")
_NAME = rf"[\w.$-]*?{_SECRET}"
_QUOTED = r"""(?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")"""

# what it is, its pattern, what stays. Wider shapes come first. Flags: i and s are on everywhere, m too.
_TABLE = (
    ("PEM block", r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", HIDDEN),
    ("user and password in an address", r"(?<=://)([^\s/:@'\"]*):[^\s/'\"]+@", r"\1:***@"),
    ("Oracle user and password", r"(jdbc:oracle:[a-z0-9]+:[^\s/@'\"]*)/(?:\"[^\"]*\"|[^\s@'\"]+)@", r"\1/***@"),
    ("JSON web token", r"\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*", HIDDEN),
    ("bearer or basic header", r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", r"\1 ***"),
    ("AWS access key id", r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b", HIDDEN),
    ("Google API key", r"\bAIza[\w-]{30,}", HIDDEN),
    ("Google access token", r"\bya29\.[\w.-]{10,}", HIDDEN),
    ("Databricks token", r"\bdapi[0-9a-f]{32}(?:-\d+)?\b", HIDDEN),
    ("GitHub token", r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,})", HIDDEN),
    ("GitLab token", r"\bglpat-[\w-]{16,}", HIDDEN),
    ("Slack token", r"\bxox[abposr]-[\w-]{10,}", HIDDEN),
    ("Stripe, OpenAI or Anthropic key", r"\b(?:sk|rk|pk)[-_](?:live|test|proj|ant)[-_][\w-]{10,}", HIDDEN),
    ("PyPI or npm token", r"\b(?:pypi-[\w-]{20,}|npm_\w{30,})", HIDDEN),
    ("Azure client secret", r"(?<![\w~.-])[\w.-]{3}\dQ~[\w~.-]{30,}", HIDDEN),
    ("key of a cipher", rf"\b((?:try_)?aes_(?:en|de)crypt\s*\((?:[^(),']|\([^()]*\))+,\s*){_QUOTED}", r"\1'***'"),
    ("password clause", rf"\b((?:identified\s+by|password|secret|token)\s+){_QUOTED}", r"\1'***'"),
    ("quoted name, quoted value", rf"(['\"`]{_NAME}['\"`]\s*(?::|=>?|,|\s)\s*){_QUOTED}", r"\1'***'"),
    ("JSON name, bare value", rf"(\"{_NAME}\"\s*:\s*)(?!null)[\w.+/-]+", r'\1"***"'),
    ("name, quoted value", rf"(?<![\w.$-])({_NAME}\s*(?:=>?|:)\s*){_QUOTED}", r"\1'***'"),
    ("name, bare value", rf"(?<![\w.$-])({_NAME}(?:=|%3D))[^\s&;,)'\"?#]+", r"\1***"),
    (
        "dotted name, bare value",
        rf"(?<![\w.$-])([\w$-]+\.[\w.$-]*?{_SECRET}(?:\s*[:=]\s*|[ \t]+))[^\s'\"=]+$",
        r"\1***",
    ),
)
PATTERNS = tuple((what, re.compile(pattern, re.I | re.S | re.M), stays) for what, pattern, stays in _TABLE)


def redact(text: str) -> str:
    """The text with every secret replaced by `***`.

    `jdbc:postgresql://db/x?user=etl&password=hunter2` → `jdbc:postgresql://db/x?user=etl&password=***`
    """
    for _, pattern, stays in PATTERNS:
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
  | (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
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
