"""Removes secrets from text before it becomes part of an event.

`redact` is for any text: URLs, paths, Spark properties, SQL, error messages. `redact_literals` is for SQL text whose
literals may be personal data. `pick_properties` selects Spark properties.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

HIDDEN = "***"

# Names of secrets, alone or at the end of a longer name: `fs.s3a.secret.key`, `sfPassword`, `SharedAccessKey`.
# A space stands for an optional `-`, `_` or `.`.
_WORDS = (
    "pass(?:word|wd|phrase|code)?", "pwd", "secret", "token", "credentials?", "signature", "sig", "sas", "bearer",
    "auth(?:orization)?", "api key", "access key(?: id)?", "account key", "shared key", "private key", "secret key",
    "client secret", "client key", "pvt key", "encryption key", "master key", "keystore key", "shared access key",
    "jaas config", "auth user info", "logdata",
)  # fmt: skip
# `password1` and `password2` are properties of MySQL's driver.
_ENDINGS = r"(?: (?:id|value|text|b64|base64|\d{1,2}))?"
# Hadoop's Azure connectors append the account, or the container and the account, to the name of a secret.
_AZURE_WORDS = (
    "account key", "account oauth2 (?:client secret|user password|refresh token)", "sas fixed token",
    "sas(?! (?:token provider|token renew|expiry))", "(?:encryption encoded )?client-provided(?:-encryption)?-key",
)  # fmt: skip
_AZURE = rf"azure\.(?:{'|'.join(_AZURE_WORDS)})\.[\w.-]{{1,150}}".replace(" ", r"\.")
_SECRET = rf"(?:{_AZURE}|(?:{'|'.join(_WORDS)}){_ENDINGS})".replace(" ", "[-_.]?")
# First words of property names. After these, a value without quotes is not a column of a query.
_ROOTS = r"(?:spark|fs|hadoop|hive|dfs|javax|oracle|trino|presto|sasl|ssl|kafka|aws|azure|google|jdbc|datasource|es)"
# In the text of a schema, the type of a column follows its name and a colon.
_TYPES = (
    r"(?:string|(?:big|small|tiny)?int|integer|long|short|byte|double|float|boolean|binary|decimal|date|timestamp\w*"
    r"|array|struct|map|variant|void|null|none|true|false|bearer|basic)"
)
_QUOTED = r"""(?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")"""

# Kind of secret, pattern, replacement, and hints: the pattern is tried only if the text contains one of the hints.
# Wider patterns come first. All are case-insensitive. Repetitions are bounded where the text after them may be missing,
# so that the time to redact untrusted text is linear in its length.
_SECRET_SHAPES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("PEM block", r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", "***", ("-----begin",)),
    # Digits and a delimiter after the colon are a port. A secret key may contain slashes.
    ("password in an address", r"(?<=://)([^\s/:;@'\"]*):(?!\d+[/;?])[^\s'\"@;]{1,500}@", r"\1:***@", ("://",)),
    (
        "Oracle user and password",
        r"(jdbc:oracle:[a-z0-9]+:[^\s/@'\"]{0,100})/(?:\"[^\"]{1,500}\"|[^\s@'\"]{1,500})@",
        r"\1/***@",
        ("jdbc:oracle",),
    ),
    # a scheme that is followed by a value, or a value alone
    (
        "Authorization header",
        r"(authorization\s{0,5}:\s{1,5}(?:(?!bearer|basic)[\w-]{2,20}\s{1,5}(?=[\w~+/-]{8}))?)(?!bearer|basic|\*)[^\s'\",;]+",
        r"\1***",
        ("authorization",),
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
    (
        "token of a service",
        r"\b(?:hf_|gsk_|xai-|pplx-|dop_v1_|doo_v1_|shp(?:at|ca|pa|ss)_|glsa_|dckr_pat_|hvs\.|ATATT3)(?=[A-Z]*\d)[A-Z0-9]{24}[\w.=-]*",
        "***",
        ("hf_", "gsk_", "xai-", "pplx-", "dop_v1_", "doo_v1_", "shp", "glsa_", "dckr_pat_", "hvs.", "atatt3"),
    ),
    ("SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}", "***", ("sg.",)),
    (
        "address of a webhook",
        r"(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/|\.webhook\.office\.com/webhookb2/|api\.telegram\.org/bot)[^\s'\"]+",
        r"\1***",
        ("hooks.slack", "discord", "webhook.office", "api.telegram"),
    ),
    ("Azure client secret", r"(?<![\w~.-])[\w.-]{3}\dQ~[\w~.-]{30,}", "***", ("q~",)),
    ("key in a query string", r"([?&](?:key|code|subscription-key)=)[^\s&#'\"]+", r"\1***", ("key=", "code=")),
    (
        "password clause",
        rf"\b((?:identified\s+by|password|secret|token)\s+){_QUOTED}",
        r"\1'***'",
        ("identified", "password", "secret", "token"),
    ),
    ("password of Oracle's ALTER USER", r"\b(identified\s+by\s+)(?!values\b)[^\s'\";*]+", r"\1***", ("identified",)),
    (
        "salt of a program",
        rf"(\b\w{{0,40}}(?:salt|pepper)\s{{0,5}}=\s{{0,5}}[bru]{{0,2}}){_QUOTED}",
        r"\1'***'",
        ("salt", "pepper"),
    ),
)
# Kind of value, pattern and replacement of secrets that are recognized by their names. They are tried only if the text
# contains one of `_NAME_HINTS` and one of `_VALUE_HINTS`.
_NAMED_SECRETS: tuple[tuple[str, str, str], ...] = (
    (
        "quoted value",
        rf"({_SECRET}(?:['\"`]\s*(?:->|\]?\s*(?::|=>?|,|\s))|\s*(?:->|=>?|:)|\s)\s*[bru]{{0,2}}){_QUOTED}",
        r"\1'***'",
    ),
    ("JSON number", rf"({_SECRET}\"\s*:\s*)-?[\d.]+", r"\1'***'"),
    ("bare value, or one in braces", rf"({_SECRET}(?:=|%3D))(?:\{{(?:[^}}]|\}}\}})*\}}|[^\s&;,)'\"?#]+)", r"\1***"),
    ("entry of a Scala map", rf"({_SECRET}\s{{0,5}}->\s{{0,5}})[^\s'\",)]+", r"\1***"),
    (
        "value after a colon",
        rf"({_SECRET}\s{{0,5}}:\s{{1,5}})(?!{_TYPES}\b)[^\s'\",;(){{}}\[\]*][^\s'\",;(){{}}\[\]]*",
        r"\1***",
    ),
    ("property", rf"(?<![\w.$-])({_ROOTS}\.[\w.$-]*?{_SECRET}(?:\s*[:=]\s*|[ \t]+))[^\s'\"=,;]\S*", r"\1***"),
    ("SET statement", rf"((?:\A|;)\s*set\s+[\w.$-]*?{_SECRET}\s*=\s*)[^\s'\";]\S*", r"\1***"),
    ("option of a command", rf"((?<!\S)--?[\w.-]{{0,60}}?{_SECRET}[ =])[^\s'\"-]\S*", r"\1***"),
)
_NAME_HINTS = ("pass", "pwd", "secret", "token", "credential", "sig", "sas", "bearer", "auth", "key", "jaas", "logdata")
_VALUE_HINTS = ("=", ":", "->", "'", '"', "%3d", ".", "--")
_SHAPE_PATTERNS = tuple(
    (re.compile(pattern, re.I | re.S), replacement) for _, pattern, replacement, _ in _SECRET_SHAPES
)
_NAMED_PATTERNS = tuple((re.compile(pattern, re.I | re.S), replacement) for _, pattern, replacement in _NAMED_SECRETS)
_SHAPE_HINTS = tuple((hint, row) for row, (*_, hints) in enumerate(_SECRET_SHAPES) for hint in hints)


# Functions that take a key (`aes_encrypt`, `hmac_sha256`, `pgp_sym_encrypt`) or hash a salt (`sha2`, `md5`, `xxhash64`)
_CIPHER_WORDS = (
    "hmac",
    "fernet",
    "aes.new",
    "encrypt",
    "decrypt",
    "sha",
    "md5",
    "hash",
    "crc32",
    "digest",
    "fingerprint",
)
_CIPHER_CALL = re.compile(
    r"\b(?:\w{0,50}?(?:(?P<keyed>hmac(?:\.new)?|encrypt|decrypt|fernet|aes\.new)|sha\d|md5|hash|crc32|digest|fingerprint)\w{0,50}|sha)\s{0,10}\(",
    re.I,
)
# A number of four digits or more may be a salt; the length of a hash has three.
_CALL_TOKEN = re.compile(
    r"""[()]|'(?:[^'\\]|\\.|'')*(?:'|\\?\Z)|"(?:[^"\\]|\\.|"")*(?:"|\\?\Z)|(?<![\w.])\d{4,}(?![\w.])""", re.S
)
# Literals of such calls that name an algorithm, a mode or an encoding
_ALGORITHM = re.compile(
    r"""["'](?:sha-?\d*(?:_\d+)?|md5|gcm|cbc|ecb|pkcs|none|default|aes-?\d*|hex|base64|utf-?8)?["']""", re.I
)
# A literal that separates hashed columns
_SEPARATOR = re.compile(r"""["'][^\w'"]{1,2}["']""")


def as_is(text: str) -> str:
    """The text itself: no redaction."""
    return text


@dataclass(frozen=True, slots=True)
class Redaction:
    """Redacts `text` (names and messages) and `sql` (expressions and queries, whose literals may be personal data)."""

    text: Callable[[str], str]
    sql: Callable[[str], str]


NO_REDACTION = Redaction(as_is, as_is)


def redact(text: str) -> str:
    """Replace every secret by `***`.

    `jdbc:postgresql://db/x?user=etl&password=hunter2` → `jdbc:postgresql://db/x?user=etl&password=***`
    """
    folded = text.lower()
    # Searching for hints is 20 times cheaper than trying every pattern, and most text contains none.
    for row in sorted({row for hint, row in _SHAPE_HINTS if hint in folded}):
        pattern, replacement = _SHAPE_PATTERNS[row]
        text = pattern.sub(replacement, text)
    if any([hint in folded for hint in _VALUE_HINTS]) and any([hint in folded for hint in _NAME_HINTS]):  # noqa: C419 - for few items a list is faster than a generator
        for pattern, replacement in _NAMED_PATTERNS:
            text = pattern.sub(replacement, text)
    if any([word in folded for word in _CIPHER_WORDS]):  # noqa: C419 - as above
        text = _redact_cipher_calls(text)
    return text


def _redact_cipher_calls(text: str) -> str:
    """Replace keys and salts: `hmac('k', a)` → `hmac('***', a)`, `md5('salt' || a)` → `md5('***' || a)`."""
    out, start = [], 0
    while call := _CIPHER_CALL.search(text, start):
        out.append(text[start : call.end()])
        start, depth = call.end(), 1
        harmless = (_ALGORITHM,) if call["keyed"] else (_ALGORITHM, _SEPARATOR)
        while depth and (token := _CALL_TOKEN.search(text, start)):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            is_harmless = token[0] in "()" or any(pattern.fullmatch(token[0]) for pattern in harmless)
            out += text[start : token.start()], token[0] if is_harmless else "'***'"
            start = token.end()
    return "".join((*out, text[start:]))


_SECRET_NAME = re.compile(rf"(?:{_SECRET})$", re.I)


def is_secret_name(name: str) -> bool:
    """Whether a setting or property with this name contains a secret: `spark.hadoop.fs.s3a.secret.key`, `apiKey`."""
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
# The prefix of `r'…'` and `x'…'` is part of the literal; the `date` in `date '…'` is not.
_LITERAL_PREFIX = re.compile(r"(?i)\b[rx](?=\?)")


def redact_literals(sql: str) -> str:
    """Replace every literal in SQL text by `?`, and remove comments.

    `select * from t1 where name = 'Ann' and age > 42` → `select * from t1 where name = ? and age > ?`
    """
    return _LITERAL_PREFIX.sub("", _SQL_TOKEN.sub(_replace_literal, sql))


def _replace_literal(token: re.Match[str]) -> str:
    if token["name"] is not None:
        return token["name"]
    return "" if token["comment"] is not None else "?"


def pick_properties(properties: Mapping[str, str], chosen: Iterable[str]) -> dict[str, str]:
    """The chosen properties with redacted values, without those whose name is that of a secret."""
    names = [name for name in chosen if name in properties and not is_secret_name(name)]
    return {name: redact(str(properties[name])) for name in names}
