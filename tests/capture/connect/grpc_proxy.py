"""A gRPC proxy between a client and a Spark Connect server. A test decides per method what it does with a request."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

SERVICE = "/spark.connect.SparkConnectService/"
_STREAMS = ("ExecutePlan", "ReattachExecute")
# from a request and a function that forwards it to the server: the responses
Fault = Callable[[bytes, Callable[[bytes], Iterator[bytes]], grpc.ServicerContext], Iterator[bytes]]


class GrpcProxy(grpc.GenericRpcHandler):
    """Forwards every method, except for those with an entry in `faults`."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", -1)])
        self.faults: dict[str, Fault] = {}
        self.requests: list[str] = []

    def service(self, details: Any) -> Any:
        """The handler of a method; messages are passed on as bytes."""
        method = details.method.removeprefix(SERVICE)
        if method == "AddArtifacts":
            call = self._channel.stream_unary(details.method)
            return grpc.stream_unary_rpc_method_handler(lambda requests, _: call(requests))
        if method in _STREAMS:
            return grpc.unary_stream_rpc_method_handler(lambda request, context: self._answer(method, request, context))
        return grpc.unary_unary_rpc_method_handler(
            lambda request, context: next(iter(self._answer(method, request, context)))
        )

    def _answer(self, method: str, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        self.requests.append(method)
        fault = self.faults.get(method)
        if fault is not None:
            yield from fault(request, lambda content: self._forward(method, content, context), context)
        else:
            yield from self._forward(method, request, context)

    def _forward(self, method: str, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        kind = self._channel.unary_stream if method in _STREAMS else self._channel.unary_unary
        try:
            found = kind(SERVICE + method)(request, metadata=context.invocation_metadata())
            yield from (found if method in _STREAMS else [found])
        except grpc.RpcError as error:
            context.set_trailing_metadata(error.trailing_metadata() or ())
            context.abort(error.code(), error.details())

    def close(self) -> None:
        """Close the connection to the server."""
        self._channel.close()


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """PySpark closes a client that is collected, and waits for the server: a deadlock on a thread of the proxy."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def grpc_proxy(address: str) -> Iterator[tuple[GrpcProxy, str]]:
    """A proxy in front of `sc://…`, and its own address."""
    proxy = GrpcProxy(address.removeprefix("sc://"))
    with ThreadPoolExecutor(16) as threads, without_garbage_collection():
        server = grpc.server(threads, handlers=[proxy], options=[("grpc.max_receive_message_length", -1)])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield proxy, f"sc://127.0.0.1:{port}"
        finally:
            server.stop(0).wait()
            proxy.close()
