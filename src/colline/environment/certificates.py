"""The certificate authorities this computer trusts, in the form Java reads.

Python, curl and the rest take a PEM bundle (`SSL_CERT_FILE`, or the system's). A Java runtime from a wheel brings a
trust store of its own and knows nothing of a company's authority: behind such a proxy Spark could not fetch a jar.
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

# where systems keep their bundle: Debian, Fedora, SUSE, Alpine, macOS
SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def ca_bundle() -> Path | None:
    """The PEM bundle this computer trusts: SSL_CERT_FILE if it is set and there, else the system's."""
    named = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *SYSTEM_BUNDLES)
    return next((Path(path) for path in named if path and Path(path).is_file()), None)


def trust_store(bundle: Path, folder: Path) -> Path:
    """A PKCS12 trust store with the bundle's certificates. A changed bundle is a new store."""
    content = bundle.read_bytes()
    store = folder / f"trust-{hashlib.sha256(content).hexdigest()[:16]}.p12"
    if not store.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = store.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(_as_pkcs12(content))
        fresh.replace(store)
    return store


def _as_pkcs12(pem: bytes) -> bytes:
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    entries = [
        pkcs12.PKCS12Certificate(certificate, f"authority-{number}".encode())
        for number, certificate in enumerate(_certificates(pem))
    ]
    return pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(STORE_PASSWORD.encode()))


def _certificates(pem: bytes) -> Iterator[Certificate]:
    """Every certificate that can be read: old ones in system bundles break today's rules, so each is read alone."""
    from cryptography.x509 import load_pem_x509_certificate

    for block in re.findall(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", pem, re.DOTALL):
        with warnings.catch_warnings(), contextlib.suppress(ValueError):
            warnings.simplefilter("ignore")
            yield load_pem_x509_certificate(block)
