"""A TLS server that answers well or badly, depending on the first label of the host name in the request.

Usage: association-server.py FOLDER. The folder holds NAME.pem of each certificate, and server.key for all of them. The
server prints two ports: the first for current TLS, the second for TLS 1.0 and 1.1.
"""
import socket
import ssl
import sys
import threading

folder = sys.argv[1]
FILE = b'{"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{"/": "/menu/*"}]}]}}'
LINKS = (
    b'[{"relation": ["delegate_permission/common.handle_all_urls"],'
    b' "target": {"namespace": "linux_app", "desktop_id": "org.example.Menu"}}]'
)
never = threading.Event()
output = threading.Lock()


def say(line):
    """Prints a line. print() alone writes the line and its end separately, so that lines of two threads could mix."""
    with output:
        print(line, flush=True)


def context(name):
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    result.load_cert_chain(f"{folder}/{name}.pem", f"{folder}/server.key")
    return result


contexts = {name: context(name) for name in ("server", "expired", "elsewhere", "selfsigned")}
old = context("server")
old.set_ciphers("ALL:@SECLEVEL=0")
old.minimum_version = ssl.TLSVersion.TLSv1
old.maximum_version = ssl.TLSVersion.TLSv1_1


def choose(connection, name, _):
    label = (name or "").split(".")[0]
    if label == "nohandshake":
        never.wait()
    if label in contexts:
        connection.context = contexts[label]


def answer(connection):
    request = b""
    while b"\r\n\r\n" not in request:
        more = connection.recv(4096)
        if not more:
            return
        request += more
    lines = request.decode("ascii").split("\r\n")
    path = lines[0].split(" ")[1]
    host = next(line.split(": ")[1] for line in lines if line.lower().startswith("host:"))
    label = host.split(".")[0]
    file = LINKS if path.endswith("assetlinks.json") else FILE
    say(f"request {label} {path} {'|'.join(lines[1:-2])}")

    def send(status, body, *fields):
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: text/plain", *fields, "", ""]
        connection.sendall("\r\n".join(head).encode() + body)

    if label == "redirect":
        send("302 Found", b"", "Location: https://target.example.com" + path)
    elif label == "missing":
        send("404 Not Found", b"there is none")
    elif label == "gone":
        send("410 Gone", b"")
    elif label == "broken":
        send("500 Internal Server Error", file)
    elif label == "forbidden":
        send("403 Forbidden", file)
    elif label == "largest":
        send("200 OK", file + b" " * (128 * 1024 - len(file)))
    elif label == "large":
        send("200 OK", file + b" " * (128 * 1024 + 1 - len(file)))
    elif label == "endless":
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 65536)
    elif label == "chunked":
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for byte in file:
            connection.sendall(b"1\r\n" + bytes([byte]) + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
    elif label == "headers":
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")
    elif label == "informs":
        while True:
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    elif label == "drip":
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" ")
            never.wait(0.05)
    elif label == "silent":
        never.wait()
    elif label == "short":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + file)
    elif label == "old":
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + file)
    elif label == "cut":
        # Closes the connection without TLS's closing message, as an attacker on the way could. libcurl accepts this.
        # The client is safe because a JSON object that is cut short is not valid JSON.
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + file[:-1])
        socket.socket(fileno=connection.detach()).close()
        return
    elif label == "ancient":
        connection.sendall(file)
    elif label == "invalid":
        send("200 OK", b'{"applinks": {"details": [}}')
    elif label == "page":
        send("200 OK", b"<!doctype html><title>Welcome</title>")
    elif label == "squeezed":
        send("200 OK", b"\x1f\x8b\x08\x00", "Content-Encoding: gzip")
    elif label == "cookies":
        send("200 OK", file, "Set-Cookie: visitor=7; Domain=example.com; Path=/")
    else:
        send("200 OK", file, "Cache-Control: public, max-age=7200")
    connection.unwrap()


def serve(plain, tls):
    try:
        with tls.wrap_socket(plain, server_side=True) as connection:
            answer(connection)
    except OSError:
        pass


contexts["server"].sni_callback = choose
listeners = [(socket.create_server(("127.0.0.1", 0)), tls) for tls in (contexts["server"], old)]


def listen(listener, tls):
    while True:
        accepted, _ = listener.accept()
        threading.Thread(target=serve, args=(accepted, tls), daemon=True).start()


for listener in listeners:
    threading.Thread(target=listen, args=listener, daemon=True).start()
say(f"ports {' '.join(str(listener.getsockname()[1]) for listener, _ in listeners)}")
# The parent process holds the other end, and may end at any time. Each line comes back after all earlier output.
for line in sys.stdin:
    say(line.rstrip("\n"))
