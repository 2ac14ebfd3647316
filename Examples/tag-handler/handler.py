#!/usr/bin/python3
"""Prints the link and the records that it is opened with, like handler.swift. Needs Debian's python3-gi."""

import sys

from gi.repository import Gio, GLib

NAME, PATH = "org.example.PythonHandler", "/org/example/PythonHandler"
INTERFACES = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.tagroute.Handler1"><method name="HandleTag">
    <arg name="uri" type="s"/><arg name="message" type="ay"/><arg name="platform_data" type="a{sv}"/>
  </method></interface>
  <interface name="org.freedesktop.Application">
    <method name="Activate"><arg name="platform_data" type="a{sv}"/></method>
    <method name="Open"><arg name="uris" type="as"/><arg name="platform_data" type="a{sv}"/></method>
  </interface>
</node>""").interfaces


def records(data):
    """Yields (type name format, type, payload). A record (NDEF 1.0, section 3.2) is header, lengths, type, id, payload."""
    position = 0

    def take(count):
        nonlocal position
        if position + count > len(data):
            raise ValueError(f"the message ends at byte {len(data)}, within a record")
        position += count
        return data[position - count : position]

    while position < len(data):
        header, type_length = take(2)
        payload_length = int.from_bytes(take(1 if header & 0x10 else 4), "big")
        id_length = take(1)[0] if header & 0x08 else 0
        kind, _ = take(type_length), take(id_length)
        yield header & 0x07, kind, take(payload_length)


def text(data):
    return "".join(chr(byte) if 0x20 <= byte <= 0x7E else "." for byte in data)


def called(_bus, _sender, _path, _interface, method, arguments, call):
    try:
        uris = {"HandleTag": [arguments[0]], "Open": arguments[0], "Activate": ["none"]}[method]
        found = list(records(bytes(arguments[1]))) if method == "HandleTag" else []  # The other methods carry no tag.
        for uri in uris:
            print("link:", text(uri.encode()), flush=True)
        data = arguments[2] if method == "HandleTag" else {}
        uid, technology = data.get("uid"), data.get("technology")
        if uid and isinstance(uid, list) and isinstance(technology, str):  # Any program may have called.
            print("tag:", bytes(uid).hex("-").upper(), text(technology.encode()), flush=True)
        for number, (form, kind, payload) in enumerate(found, 1):
            print(f"record {number}: {form} {text(kind)}: {text(payload)}", flush=True)
        call.return_value(None)  # The hand-over is complete. Until then, the user waits.
    except ValueError as error:
        call.return_dbus_error("org.example.Error.Failed", str(error))  # Shown to the user who tapped.


bus, loop = Gio.bus_get_sync(Gio.BusType.SESSION), GLib.MainLoop()
for interface in INTERFACES:
    bus.register_object(PATH, interface, called, None, None)
Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.DO_NOT_QUEUE, None, lambda *_: sys.exit("it runs already"))
loop.run()
