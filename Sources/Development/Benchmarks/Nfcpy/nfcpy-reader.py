"""Runs nfcpy on the device at a path, and prints the message of each tag, one line per event.

usage: nfcpy-reader.py PATH [--interval SECONDS] [--full-speed] [--write HEX]

    ready               nfcpy polls from now on
    message HEX         the tag's message; HEX is missing if the message is empty
    no-message KIND     nfcpy finds no NDEF message on the tag; KIND is nfcpy's name for the tag
    written             the tag's message was replaced by the one from --write
    error TEXT          the tag could not be read or written
    gone                the tag of the previous line was removed

nfcpy finds serial devices by their names, and does not know those of pseudo-terminals. This program therefore passes it
the transport. On Linux, nfcpy switches to 921,600 baud as soon as it can. Without --full-speed, this program keeps it at
115,200, as libnfc does.
"""

import argparse
import sys
import time
import types

import nfc
import nfc.clf.pn532
import nfc.clf.transport


def open_device(path, full_speed):
    if not full_speed:
        # nfcpy changes the speed only on Linux. Its other uses of the platform do not matter here.
        nfc.clf.pn532.sys = types.SimpleNamespace(platform="another")
    frontend = nfc.ContactlessFrontend()
    frontend.device = nfc.clf.pn532.init(nfc.clf.transport.TTY(path))
    frontend.device._path = path
    return frontend


def say(*words):
    print(*words, flush=True)


def on_connect(tag, new_message):
    try:
        if tag.ndef is None:
            say("no-message", type(tag).__name__)
            return True
        if new_message is not None:
            tag.ndef.octets = new_message
            say("written")
        else:
            say("message", bytes(tag.ndef.octets).hex())
    except Exception as error:  # Any failure of nfcpy is its answer.
        say("error", repr(error))
    # The pause separates the commands that read the message from those that check the tag's presence.
    time.sleep(0.1)
    return True


def on_release(_tag):
    say("gone")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--interval", type=float)
    parser.add_argument("--full-speed", action="store_true")
    parser.add_argument("--write", type=bytes.fromhex)
    options = parser.parse_args()
    frontend = open_device(options.path, options.full_speed)
    reading = {"on-connect": lambda tag: on_connect(tag, options.write), "on-release": on_release}
    if options.interval is not None:
        reading["interval"] = options.interval
    say("ready")
    while frontend.connect(rdwr=reading) is not False:
        pass


if __name__ == "__main__":
    sys.exit(main())
