"""A TCP proxy in front of an MQTT broker, which breaks connections at chosen places.

Usage: mqtt-proxy.py SOCKET. SOCKET is the broker's Unix socket. The proxy listens on a port of the loopback that the
kernel chooses, and prints it as "port NUMBER".

Commands on standard input, one per line. Each is confirmed with "ok COMMAND":

    open, shut          accept new connections (the default), or close them at once
    cut                 reset all present connections
    cut-publish BYTES   forward this many bytes of the client's next QoS 1 PUBLISH, then reset the connection
    cut-puback          when the broker sends its next PUBACK, drop it, reset the connection, and shut
    hold, release       keep the broker's PUBACKs back, or forward them in their order
    refuse VERSION      answer each CONNECT of MQTT 5 as a broker without it: 4 answers as MQTT 3.1.1, 5 as MQTT 5,
                        close closes the connection; none ends this

Events on standard output: "connect PROTOCOL CLIENT", "publish MID" (a whole QoS 1 PUBLISH was forwarded), "held MID"
(a PUBACK), "cut", "refused". A connection that does not begin with a CONNECT is forwarded as it is.
"""
import asyncio
import socket
import struct
import sys

CONNECT, CONNACK, PUBLISH, PUBACK = 1, 2, 3, 4


class Rules:
    is_open, holds, cut_publish, cut_puback, refuse = True, False, None, False, "none"


rules = Rules()
links = set()


def say(line):
    print(line, flush=True)


async def packet(reader):
    """One MQTT control packet, with its header."""
    data = await reader.readexactly(1)
    length = shift = 0
    while True:
        data += await reader.readexactly(1)
        length |= (data[-1] & 0x7F) << shift
        shift += 7
        if data[-1] < 0x80:
            return data, data + await reader.readexactly(length)


def string(data, at):
    (length,) = struct.unpack_from(">H", data, at)
    return data[at + 2 : at + 2 + length], at + 2 + length


class Link:
    def __init__(self, client, client_writer):
        self.client, self.client_writer = client, client_writer
        self.broker = self.broker_writer = None
        self.held = []

    def reset(self):
        for writer in (self.client_writer, self.broker_writer):
            if writer is None:
                continue
            own = writer.get_extra_info("socket")
            if own is not None and own.family == socket.AF_INET:
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def run(self):
        if not rules.is_open:
            return self.reset()
        first = await self.client.readexactly(1)
        self.client._buffer[0:0] = first
        self.broker, self.broker_writer = await asyncio.open_unix_connection(sys.argv[1])
        if first[0] == CONNECT << 4:
            directions = (self.from_client(), self.from_broker())
        else:
            directions = (copy(self.client, self.broker_writer), copy(self.broker, self.client_writer))
        tasks = [asyncio.ensure_future(direction) for direction in directions]
        _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def from_client(self):
        while True:
            header, data = await packet(self.client)
            kind = data[0] >> 4
            if kind == CONNECT:
                if not await self.connect(data, len(header)):
                    return
                continue
            is_acknowledged = kind == PUBLISH and data[0] >> 1 & 3 == 1
            if is_acknowledged and rules.cut_publish is not None:
                self.broker_writer.write(data[: rules.cut_publish])
                await self.broker_writer.drain()
                rules.cut_publish = None
                say("cut")
                return self.reset()
            self.broker_writer.write(data)
            await self.broker_writer.drain()
            if is_acknowledged:
                _, at = string(data, len(header))
                say(f"publish {struct.unpack_from('>H', data, at)[0]}")

    async def connect(self, data, at):
        _, at = string(data, at)
        protocol = data[at]
        at += 4
        if protocol == 5:
            # The properties are shorter than 128 bytes: their length is one byte.
            at += 1 + data[at]
        client, _ = string(data, at)
        say(f"connect {protocol} {client.decode()}")
        if protocol == 5 and rules.refuse != "none":
            answers = {"4": b"\x20\x02\x00\x01", "5": b"\x20\x03\x00\x84\x00", "close": b""}
            self.client_writer.write(answers[rules.refuse])
            await self.client_writer.drain()
            say("refused")
            return False
        self.broker_writer.write(data)
        await self.broker_writer.drain()
        return True

    async def from_broker(self):
        while True:
            _, data = await packet(self.broker)
            if data[0] >> 4 == PUBACK:
                if rules.cut_puback:
                    rules.cut_puback = rules.is_open = False
                    say("cut")
                    return self.reset()
                if rules.holds:
                    self.held.append(data)
                    say(f"held {struct.unpack_from('>H', data, 2)[0]}")
                    continue
            self.client_writer.write(data)
            await self.client_writer.drain()

    def release(self):
        for data in self.held:
            self.client_writer.write(data)
        self.held = []


async def copy(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def serve(client, client_writer):
    link = Link(client, client_writer)
    links.add(link)
    try:
        await link.run()
    except (asyncio.IncompleteReadError, OSError):
        pass
    finally:
        links.discard(link)
        for writer in (link.client_writer, link.broker_writer):
            if writer is not None:
                writer.close()


def obey(command):
    word, _, value = command.partition(" ")
    if word in ("open", "shut"):
        rules.is_open = word == "open"
    elif word == "cut":
        for link in list(links):
            link.reset()
    elif word == "cut-publish":
        rules.cut_publish = int(value)
    elif word == "cut-puback":
        rules.cut_puback = True
    elif word in ("hold", "release"):
        rules.holds = word == "hold"
        if not rules.holds:
            for link in links:
                link.release()
    elif word == "refuse":
        rules.refuse = value
    else:
        return say(f"error unknown command: {command}")
    say(f"ok {command}")


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    say(f"port {server.sockets[0].getsockname()[1]}")
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        obey(line.decode().rstrip("\n"))


asyncio.run(main())
