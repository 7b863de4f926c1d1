"""Lists the library functions that hash, encrypt or anonymize, and those that undo it."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from colline.capture.udf_code.abstract_values import (
    CLEAR,
    MASKED,
    Arguments,
    Container,
    Hasher,
    Level,
    Tool,
    Value,
    combine,
    level_of,
)

# every function of these returns a hash or a hash object
HASH_LIBRARIES = frozenset(
    {"hashlib", "_hashlib", "_sha1", "_sha2", "_sha256", "_sha512", "_sha3", "_md5", "_blake2", "hmac", "_hmac"}
    | {"xxhash", "_xxhash", "mmh3", "blake3"}
)
# objects of these have methods that encrypt or anonymize, and methods that undo it
CIPHER_LIBRARIES = frozenset(
    {"cryptography", "bcrypt", "argon2", "passlib", "nacl", "Crypto", "Cryptodome"}
    | {"presidio_anonymizer", "presidio_analyzer", "presidio", "faker", "secrets"}
)
# functions of other libraries that hash
_HASH_FUNCTIONS = frozenset({("zlib", "crc32"), ("binascii", "crc32"), ("uuid", "uuid3"), ("uuid", "uuid5")})
_NOT_A_HASH = frozenset({"compare_digest", "_compare_digest", "algorithms_available", "algorithms_guaranteed"})
_MASKING_METHODS = frozenset(
    {"encrypt", "encrypt_at_time", "encryptor", "encrypt_and_digest", "encrypt_deterministic", "hash", "hashpw"}
    | {"hash_password", "hash_secret", "kdf", "derive", "digest", "hexdigest", "finalize", "anonymize"}
    | {"token_hex", "token_bytes", "token_urlsafe", "sha256", "sha512", "blake2b", "siphash24"}
)
_RESULTS_OF_MASKING = frozenset({"encryptor"})
# a method with one of these in its name returns the clear value, or reports something about it
_REVEALING = (
    "decrypt",
    "decode",
    "unwrap",
    "unseal",
    "open",
    "verify",
    "check",
    "deanonym",
    "detoken",
    "analyze",
)
# functions of these compute a value from their arguments and keep nothing
PURE_LIBRARIES = frozenset(
    {"base64", "binascii", "struct", "json", "string", "textwrap", "re", "uuid", "math", "_operator", "operator"}
    | {"itertools", "numpy", "pandas", "pyarrow", "zlib", "decimal", "datetime", "_datetime", "urllib", "unicodedata"}
    | {"codecs", "_codecs", "collections", "copy", "typing", "numbers", "fractions", "secrets", "random"}
)
PURE_BUILTINS = frozenset(
    {"str", "bytes", "bytearray", "int", "float", "bool", "hex", "bin", "oct", "repr", "ascii", "format", "list"}
    | {"tuple", "set", "frozenset", "dict", "sorted", "reversed", "enumerate", "zip", "sum", "min", "max", "abs"}
    | {"round", "len", "iter", "next", "ord", "chr", "range", "isinstance", "issubclass", "any", "all", "memoryview"}
    | {"divmod", "pow", "print", "callable", "complex", "slice"}
)

_DEFINITIONS = (type, FunctionType, BuiltinFunctionType)


def is_masking_library(module: str) -> bool:
    """Whether a module hashes, encrypts or anonymizes."""
    return top_level(module) in HASH_LIBRARIES | CIPHER_LIBRARIES


def top_level(module: str) -> str:
    """`cryptography.fernet` → `cryptography`."""
    return module.partition(".")[0]


def module_of(value: Any) -> str:
    """The module that defines a function, a class, or the class of any other object."""
    if isinstance(value, ModuleType):
        return value.__name__
    found = value.__module__ if isinstance(value, _DEFINITIONS) else type(value).__module__
    return found if isinstance(found, str) else ""


def name_of(value: Any) -> str:
    """The name of a function or a class; empty for any other object."""
    return str(value.__name__) if isinstance(value, _DEFINITIONS) else ""


def vars_of(value: Any) -> dict[str, Any]:
    """The attributes of an object itself; empty if it has none."""
    found = getattr(value, "__dict__", None)
    return dict(found) if found is not None else {}


def call_of_library(module: str, name: str, arguments: Arguments) -> Value | None:
    """What a function of a library returns; None if the library is not known."""
    library = top_level(module)
    if library in HASH_LIBRARIES:
        return CLEAR if name in _NOT_A_HASH else Hasher()
    if (library, name) in _HASH_FUNCTIONS:
        return MASKED
    if library in CIPHER_LIBRARIES:
        return call_of_tool(Tool(library), name, arguments)
    if library in PURE_LIBRARIES:
        return Container(list(arguments.all))
    return None


def call_of_tool(tool: Tool, name: str, arguments: Arguments) -> Value:
    """What a method of a library's object returns: `fernet.encrypt(v)` → masked; `fernet.decrypt(v)` → clear."""
    if any(word in name.lower() for word in _REVEALING):
        return CLEAR
    if name in _MASKING_METHODS:
        return Hasher() if name in _RESULTS_OF_MASKING else MASKED
    is_clear = max(map(level_of, arguments.all), default=Level.CONSTANT) is Level.CLEAR
    if tool.library == "faker":
        return CLEAR if is_clear else MASKED if name[:1].islower() else tool
    if tool.library == "secrets":
        return combine(arguments.all)
    return tool
