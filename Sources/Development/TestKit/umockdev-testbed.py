#!/usr/bin/python3
"""Simulated devices for programs that run with the same preloaded library and UMOCKDEV_DIR.

Prints the folder. Then takes one command per line, and answers each with "ok …" or "failed: …":

    add SUBSYSTEM NAME PARENT KEY=VALUE…    a KEY in capitals is a property of udev, any other an attribute
    link PATH NAME TARGET                   add a symbolic link to the device's folder, such as "driver"
    unlink PATH NAME                        remove it
    event PATH ACTION                       send an event, as udev would
    remove PATH                             send the event and remove the device, after its children

PARENT is "-" if there is none. "add" sends no event, and answers "ok" and the device's path. A space in a VALUE is
written as %20.
"""

import os
import sys
import urllib.parse

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402


def pairs(words, are_properties):
    parts = [word.partition("=") for word in words]
    return [(key, urllib.parse.unquote(value)) for key, _, value in parts if key.isupper() == are_properties]


def add(testbed, subsystem, name, parent, words):
    # Write the attributes before the device appears. umockdev would write them after that, and a program that looks for
    # devices at that moment would see half of one.
    folder = f"{testbed.get_root_dir()}{parent or '/sys/devices'}/{name}"
    os.makedirs(folder)
    for key, value in pairs(words, False):
        with open(f"{folder}/{key}", "w") as file:
            file.write(value)
    return testbed.add_device(subsystem, name, parent, [], [text for pair in pairs(words, True) for text in pair])


def remove(testbed, path):
    folder = testbed.get_root_dir() + path
    for name in os.listdir(folder):
        if not os.path.islink(f"{folder}/{name}") and os.path.exists(f"{folder}/{name}/uevent"):
            remove(testbed, f"{path}/{name}")
    testbed.uevent(path, "remove")
    testbed.remove_device(path)


def perform(testbed, command, arguments):
    if command == "add":
        subsystem, name, parent, *words = arguments
        return "ok " + add(testbed, subsystem, name, None if parent == "-" else parent, words)
    if command == "link":
        testbed.set_attribute_link(*arguments)
    elif command == "unlink":
        path, name = arguments
        os.unlink(testbed.get_root_dir() + path + "/" + name)
    elif command == "event":
        testbed.uevent(*arguments)
    elif command == "remove":
        remove(testbed, arguments[0])
    else:
        raise ValueError(command)
    return "ok"


def main():
    testbed = UMockdev.Testbed.new()
    print("root " + testbed.get_root_dir(), flush=True)
    for line in sys.stdin:
        try:
            command, *arguments = line.split()
            print(perform(testbed, command, arguments), flush=True)
        except Exception as error:  # Reports any error to the test.
            print(f"failed: {error!r}", flush=True)


main()
