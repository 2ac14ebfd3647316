#!/usr/bin/python3
"""Prints the history of a transit card (Suica, PASMO, ICOCA, …), like the Swift program in suica/.

Needs only Debian's python3-gi.
"""

import sys

from gi.repository import Gio, GLib

DAEMON, MANAGER = "org.tagroute.Tagroute1", "/org/tagroute/Tagroute1"
SESSION, TAG = DAEMON + ".ReaderSession", DAEMON + ".Tag"
SERVICE = b"\x0f\x09"  # 090F, low byte first

bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
loop = GLib.MainLoop()
failures = []


def call(path, interface, method, arguments=None):
    reply = bus.call_sync(DAEMON, path, interface, method, arguments, None, Gio.DBusCallFlags.NO_AUTO_START, 90_000)
    return reply.unpack()


def transceive(card, command):
    return bytes(call(card, TAG, "Transceive", GLib.Variant("(ayu)", (command, 1000)))[0])


def read(card, idm, blocks):
    """Read Without Encryption (JIS X 6319-4), at most 12 blocks of 16 bytes."""
    elements = b"".join(bytes([0x80, block]) for block in blocks)
    answer = transceive(card, b"\x06" + idm + b"\x01" + SERVICE + bytes([len(blocks)]) + elements)
    if len(answer) != 12 + 16 * len(blocks) or answer[9:11] != b"\0\0":
        raise ValueError("the card refuses")
    return [answer[12 + 16 * index :][:16] for index in range(len(blocks))]


def history(card):
    get = GLib.Variant("(ss)", (TAG, "IDm"))
    idm = bytes(call(card, "org.freedesktop.DBus.Properties", "Get", get)[0])
    version = transceive(card, b"\x02" + idm + b"\x01" + SERVICE)
    if version[10:] == b"\xff\xff":
        raise ValueError("the card keeps no history")
    for block in read(card, idm, range(12)) + read(card, idm, range(12, 20)):
        date = int.from_bytes(block[4:6], "big")
        if date:
            day = f"{2000 + (date >> 9)}-{date >> 5 & 15:02}-{date & 31:02}"
            stations = f"{block[6:8].hex().upper()} → {block[8:10].hex().upper()}"
            print(f"{day}  {stations}  ¥{int.from_bytes(block[10:12], 'little')}")


def signal(_bus, _sender, session, _interface, name, arguments):
    if name == "TagDetected":
        try:
            history(arguments[0])
        except (GLib.Error, ValueError) as error:
            failures.append(str(error))
        call(session, SESSION, "Invalidate", GLib.Variant("(s)", (failures[-1] if failures else "",)))
    elif name == "Ended":
        if arguments[0] != "invalidated":
            failures.append(f"no card was read: {arguments[0]}")
        loop.quit()


def vanished(*_):
    failures.append("the daemon is gone")
    loop.quit()


# Subscribes before the session starts: its signals go only to this connection, and may arrive before the reply.
bus.signal_subscribe(DAEMON, SESSION, None, None, None, Gio.DBusSignalFlags.NONE, signal)
Gio.bus_watch_name_on_connection(bus, DAEMON, Gio.BusNameWatcherFlags.NONE, None, vanished)
try:
    message = GLib.Variant("s", "Hold your transit card near the reader.")
    options = {"message": message, "system-codes": GLib.Variant("aq", [0x0003])}
    call(MANAGER, DAEMON, "StartReaderSession", GLib.Variant("(a{sv})", (options,)))
    loop.run()
except GLib.Error as error:
    failures.append(error.message)
sys.exit("\n".join(failures) or 0)
