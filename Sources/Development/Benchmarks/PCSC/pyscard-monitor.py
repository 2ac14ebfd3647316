"""Prints the NDEF message of each Type 2 tag that pyscard's CardMonitor reports, one line per event.

usage: pyscard-monitor.py

    ready          the monitor runs
    message HEX    the first 48 bytes of the tag's data area
    error TEXT     the tag could not be read
    gone           the tag was removed
"""

import sys

from smartcard.CardConnection import CardConnection
from smartcard.CardMonitoring import CardMonitor, CardObserver


def say(*words):
    print(*words, flush=True)


def read(connection, page):
    data, sw1, sw2 = connection.transmit([0xFF, 0xB0, 0x00, page, 0x10])
    if (sw1, sw2) != (0x90, 0x00):
        raise OSError(f"page {page}: {sw1:02X}{sw2:02X}")
    return bytes(data)


class Printer(CardObserver):
    def update(self, _observable, actions):
        added, removed = actions
        for _card in removed:
            say("gone")
        for card in added:
            try:
                connection = card.createConnection()
                connection.connect(CardConnection.T1_protocol)
                say("message", b"".join(read(connection, page) for page in (4, 8, 12)).hex())
                connection.disconnect()
            except Exception as error:  # Any failure of pyscard is its answer.
                say("error", repr(error))


monitor = CardMonitor()
monitor.addObserver(Printer())
say("ready")
sys.stdin.read()
