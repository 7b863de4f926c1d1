"""Masking is claimed for a function only if all that it returns certainly derives from a hash or a cipher."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import hmac
import json
import uuid
from typing import Any, ClassVar

import pytest

from colline.capture.udf_code.code_reader import returns_masked_values
from tests.capture import masking_helpers as helpers
from tests.capture.masking_helpers import Hasher, counting, hashing

ALGORITHMS = {"md5": hashlib.md5, "sha1": hashlib.sha1}
CACHE: dict[str, str] = {}
SALT = b"pepper"
KNOWN = Hasher("salt")
LAST = ""


def hashes(v):
    return hashlib.sha256(v.encode()).hexdigest()


def hashes_step_by_step(v):
    digest = hashlib.new("sha256")
    digest.update(SALT)
    digest.update(v.encode())
    return base64.b64encode(digest.digest()).decode()[:12]


def keeps_none(v):
    if v is None or v == "":
        return v
    return hmac.new(SALT, v.encode(), "sha256").hexdigest()


def keeps_none_otherwise(v):
    if v:
        return f"id-{hashes(v)}"
    return v


def uses_helper(v):
    return helpers.mask(v, salt="x")


def uses_method_of_known_object(v):
    return KNOWN.mask(v)


def creates_object(v):
    return Hasher("x", hashlib.blake2b).mask(v)


def chooses_from_dict(v, name="md5"):
    return ALGORITHMS[name](v.encode()).hexdigest()


def chooses_from_local_dict(v):
    functions = {"a": hashlib.md5, "b": hashlib.sha1}
    return functions[v[:1]](v.encode()).hexdigest()


def uses_getattr(v):
    return getattr(hashlib, "sha" + "256")(v.encode()).hexdigest()


def imports_inside(v):
    import hashlib as h

    from cryptography.fernet import Fernet

    return Fernet(b"0" * 32).encrypt(h.sha1(v.encode()).digest()).decode()


def encrypts(v):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(b"0" * 16), modes.CTR(b"0" * 16)).encryptor()
    return (encryptor.update(v.encode()) + encryptor.finalize()).hex()


def hash_by_inner_function(v):
    def inner(text):
        return hashlib.md5(text.encode()).hexdigest()

    return ",".join(inner(each) for each in v.split(","))


def collects(v):
    found = []
    for each in v:
        found.append(hashes(each))
    return json.dumps(found)


def tries(v):
    try:
        return hashes(v)
    except ValueError:
        return None


def maps_series(series):
    return series.fillna("").map(lambda text: hashlib.md5(text.encode()).hexdigest())


def maps_batches(batches):
    for series in batches:
        yield series.apply(hashes)


def struct_of_hashes(v):
    return {"short": hashes(v)[:4], "long": hashes(v)}


def names_uuid(v):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, v))


@hashing
def hashed_by_decorator(v):
    return v.upper()


@counting
def hashes_behind_decorator(v):
    return hashes(v)


@functools.lru_cache(maxsize=10)
def hashes_with_cache(v):
    return hashes(v)


class Algorithms:
    functions: ClassVar = {"md5": lambda v: hashlib.md5(v.encode()).hexdigest()}

    def mask(self, v):
        return self.functions["md5"](v)


def sentinel_becomes_null(v):
    if v == "n/a":
        return None
    return "***" if len(v) < 3 else hashes(v)


class Tokens:
    """A table function."""

    def __init__(self):
        self.salt = "x"

    def eval(self, v):
        for part in v.split(" "):
            yield hashlib.sha1((self.salt + part).encode()).hexdigest(), 1


MASKING = [
    hashes,
    hashes_step_by_step,
    keeps_none,
    keeps_none_otherwise,
    uses_helper,
    helpers.mask,
    uses_method_of_known_object,
    KNOWN.mask,
    KNOWN,
    creates_object,
    chooses_from_dict,
    chooses_from_local_dict,
    uses_getattr,
    imports_inside,
    encrypts,
    hash_by_inner_function,
    collects,
    tries,
    maps_series,
    maps_batches,
    struct_of_hashes,
    names_uuid,
    hashed_by_decorator,
    hashes_behind_decorator,
    hashes_with_cache,
    Tokens,
    Algorithms().mask,
    sentinel_becomes_null,
    functools.partial(helpers.mask, salt="y"),
    functools.partial(hmac.digest, SALT, digest="sha256"),
    lambda v: hashes(v) if v is not None else v,
    lambda v: v and hashes(v),
    lambda v: f"{hashes(v)}-{1}",
]


def decrypts(v):
    from cryptography.fernet import Fernet

    return Fernet(b"0" * 32).decrypt(v)


def encrypts_and_decrypts(v):
    from cryptography.fernet import Fernet

    fernet = Fernet(b"0" * 32)
    return fernet.decrypt(fernet.encrypt(v))


def hash_is_a_cache_key(v):
    key = hashes(v)
    if key not in CACHE:
        CACHE[key] = v.upper()
    return CACHE[key]


def hash_is_a_key_of_a_local_cache(v):
    cache = {}
    return cache.setdefault(hashes(v), v)


def raw_and_hash(v):
    return v, hashes(v)


def raw_in_dict(v):
    found = {"hash": hashes(v)}
    found["raw"] = v
    return found


def raw_through_alias(v):
    found = [hashes(v)]
    other = found
    other.append(v)
    return found


def raw_through_helper(v):
    found = []
    add(found, v)
    return hashes(v), found


def add(items, value):
    items.append(value)


def hash_is_only_logged(v):
    print(hashes(v))
    return v


def compares(v):
    return hmac.compare_digest(v, hashes(v))


def falls_back(v):
    try:
        return hashes(v)
    except ValueError:
        return v


def keeps_short_values(v):
    if len(v) < 4:
        return v
    return hashes(v)


def keeps_in_loop(v):
    found = ""
    previous = ""
    for each in v:
        found = found + previous
        previous = each
    return hashes(v) + found


def keeps_in_global(v):
    global LAST
    previous, LAST = LAST, v
    return hashes(v) + previous


def keeps_in_nonlocal(v):
    kept = ""

    def keep(text):
        nonlocal kept
        kept += text

    keep(v)
    return hashes(v) + kept


def leaves_loop(v):
    found = hashes(v)
    for each in v:
        found = each
        break
    return found


def yields_both(v):
    yield hashes(v)
    x = yield v
    yield x


def constant(v):
    return "***"


def unreadable(v):
    return hashes(v) + eval("v")


class Reversed:
    def __init__(self, value):
        self.value = value

    def show(self):
        return self.value[::-1]


def creates_revealing_object(v):
    return Reversed(v).show() + hashes(v)


class RawTokens:
    def eval(self, v):
        yield hashes(v), v


class KeepingTokens:
    def __init__(self):
        self.kept = ""

    def eval(self, v):
        self.kept = v
        yield (hashes(v),)

    def terminate(self):
        yield (self.kept,)


def keeps_long_in_loop(v):
    a = b = c = d = e = f = ""
    for each in v:
        f, e, d, c, b, a = e, d, c, b, a, each
    return hashes(v) + f


def passes_along_in_loop(v):
    a = b = c = d = e = f = ""
    for each in v:
        f = e
        e = d
        d = c
        c = b
        b = a
        a = each
    return hashes(v) + f


def names_each_value(v):
    if v == "DE":
        return "Germany"
    return hashes(v)


def names_one_of_several(v):
    return hashes(v) if v not in ("DE", "FR") else "known"


def names_matched_value(v):
    match v:
        case "DE":
            return "Germany"
        case _:
            return hashes(v)


def spells_by_tests(v):
    found = hashes(v)
    for letter in "abc":
        if v.startswith(letter):
            found += letter
    return found


def selects_letters(v):
    return "".join("abcdefgh"[ord(each) - 97] for each in v) + hashes(v)


def error_is_suppressed(v):
    found = v
    with contextlib.suppress(ValueError):
        found = hashes(v)
    return found


def series_with_raw_rows(series):
    found = series.map(hashes)
    found.loc[series == "x"] = series
    return found


def series_that_is_updated(series):
    found = series.map(hashes)
    found.update(series)
    return found


def first_is_hash_second_is_not(v):
    a, b = hashes(v), v
    return b or a


def recursive(v):
    return v if len(v) < 2 else recursive(v[1:]) + hashes(v)


NOT_MASKING = [
    decrypts,
    encrypts_and_decrypts,
    hash_is_a_cache_key,
    hash_is_a_key_of_a_local_cache,
    raw_and_hash,
    raw_in_dict,
    raw_through_alias,
    raw_through_helper,
    hash_is_only_logged,
    compares,
    falls_back,
    keeps_short_values,
    keeps_in_loop,
    keeps_in_global,
    keeps_in_nonlocal,
    leaves_loop,
    yields_both,
    constant,
    unreadable,
    creates_revealing_object,
    RawTokens,
    KeepingTokens,
    keeps_long_in_loop,
    passes_along_in_loop,
    names_each_value,
    names_one_of_several,
    names_matched_value,
    spells_by_tests,
    selects_letters,
    error_is_suppressed,
    series_with_raw_rows,
    series_that_is_updated,
    first_is_hash_second_is_not,
    recursive,
    KNOWN.leak,
    helpers.half_mask,
    str.upper,
    hash,
    CACHE.get,
    lambda v: v[::-1],
    lambda v: hashes(v) + v,
    lambda v: hashes(v) or v,
    lambda v: [each for each in v if hashes(each)],
    lambda v: {hashes(v): v},
    lambda v: list(map(str.upper, v)),
]


def name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


@pytest.mark.parametrize("function", MASKING, ids=name)
def test_function_masks(function: Any) -> None:
    assert returns_masked_values(function)


@pytest.mark.parametrize("function", NOT_MASKING, ids=name)
def test_function_does_not_mask(function: Any) -> None:
    assert not returns_masked_values(function)


def test_function_without_source_does_not_mask() -> None:
    names: dict[str, Any] = {"hashlib": hashlib}
    exec("def f(v): return hashlib.md5(v).hexdigest()", names)
    assert not returns_masked_values(names["f"])


def test_endless_code_is_given_up() -> None:
    def calls_itself_often(v: str) -> str:
        return repeat(v) + repeat(v)

    def repeat(v: str) -> str:
        return calls_itself_often(v) + calls_itself_often(v)

    assert not returns_masked_values(calls_itself_often)
