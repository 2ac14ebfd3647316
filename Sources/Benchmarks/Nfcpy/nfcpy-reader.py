"""nfcpy on the device at a path: says what is on each tag that comes, one line a tag.

usage: nfcpy-reader.py PATH [--interval SECONDS] [--full-speed] [--write HEX]

    ready               it looks for tags from now on
    message HEX         what a tag holds; nothing behind the word where the message is empty
    no-message KIND     a tag in which nfcpy sees no NDEF message; KIND is nfcpy's name for it
    written             --write: the tag's message was replaced by that
    error TEXT          the tag could not be read or written
    gone                the tag of the line before is away

nfcpy finds serial devices by a pattern of names, and a pseudo-terminal is none of them, so it is given the transport. On
Linux it goes to 921,600 baud as soon as it can; here it stays at 115,200, as libnfc does, without --full-speed.
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
        # The speed is changed on Linux only, and the operating system is asked for nothing else that matters here.
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
    except Exception as error:  # whatever nfcpy trips over is its answer
        say("error", repr(error))
    # Who counts commands can tell those that brought the message from those that look whether the tag is still there.
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
