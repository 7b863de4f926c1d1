"""Binds the address of a server before the server starts, so that a port in use is one clear error."""

from __future__ import annotations

import socket

from colline.errors import SettingError


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to this address; port 0 is any free one."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        is_name_error = isinstance(error, socket.gaierror)
        hint = "use a name or address of this machine" if is_name_error else "choose another --port, or stop its user"
        raise SettingError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from error
    bound.set_inheritable(False)
    return bound
