"""A broker that answers CONNECT, and then sends what no broker may send.

    hostile-broker.py

Prints "port N". Each connection gets the next answer of the list, and prints "connection N". After the last answer,
connections only get the answer to CONNECT.
"""

import random
import socket

NOISE = random.Random(1)
ANSWERS = [
    # An unknown property in PUBLISH and in PUBACK.
    bytes([0x30, 6, 0, 1, 0x61, 2, 0x7F, 0]),
    bytes([0x40, 6, 0, 1, 0, 2, 0x7F, 0]),
    # A PUBLISH of 256 MiB, and then a packet that is wrong.
    bytes([0x30, 0xFF, 0xFF, 0xFF, 0x7F]) + bytes(0x0FFFFFFF) + bytes([0xF0, 0]),
    NOISE.randbytes(100_000),
]

listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
number = 0
while True:
    connection, _ = listener.accept()
    number += 1
    print("connection", number, flush=True)
    request = connection.recv(4096)
    isFive = b"MQTT\5" in request
    try:
        connection.sendall(bytes([0x20, 3, 0, 0, 0]) if isFive else bytes([0x20, 2, 0, 0]))
        if number <= len(ANSWERS):
            connection.sendall(ANSWERS[number - 1])
        # Until the client closes the connection.
        while connection.recv(65536):
            pass
    except OSError:
        pass
    connection.close()
