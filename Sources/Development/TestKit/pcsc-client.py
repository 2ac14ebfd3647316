#!/usr/bin/python3
"""A client of pcscd that is driven line by line, with pyscard as its library.

Takes one command per line and answers each with "ok …" or "failed: NAME OF THE ERROR". Names of readers come last,
because they have spaces. Bytes are hexadecimal digits.

    list                       the readers, separated by tabs
    state READER               the state word, the counter of insertions and removals, the ATR or "-"
    await WHAT READER          as state, once the card is "present" (with an ATR), "absent" or "mute"
    await-change STATE READER  as state, once the counter differs from that in this state word
    await-reader READER        once pcscd lists it
    await-no-reader READER     once pcscd does not
    connect MODE READER        MODE is shared, exclusive or direct; the protocol
    reconnect WHAT             WHAT is leave, reset or unpower
    disconnect WHAT
    transmit BYTES             the answer
    control CODE BYTES         CODE is hexadecimal; the answer
    attribute TAG              TAG is hexadecimal; the value
    begin                      begins a transaction
    end                        ends it
    time COUNT BYTES           the milliseconds that COUNT transmissions took
"""

import sys
import time

from smartcard import scard

DISPOSITIONS = {"leave": scard.SCARD_LEAVE_CARD, "reset": scard.SCARD_RESET_CARD, "unpower": scard.SCARD_UNPOWER_CARD}
MODES = {
    "shared": (scard.SCARD_SHARE_SHARED, scard.SCARD_PROTOCOL_T0 | scard.SCARD_PROTOCOL_T1),
    "exclusive": (scard.SCARD_SHARE_EXCLUSIVE, scard.SCARD_PROTOCOL_T0 | scard.SCARD_PROTOCOL_T1),
    "direct": (scard.SCARD_SHARE_DIRECT, 0),
}
ERRORS = {
    getattr(scard, name) & 0xFFFFFFFF: name for name in dir(scard) if name.startswith(("SCARD_E_", "SCARD_W_", "SCARD_F_"))
}
# No wait inside pcscd has a time limit, because an event at the moment of a timeout may confuse libpcsclite 1.9.9
# (compare issue 160 of pcsc-lite).
FOREVER = scard.INFINITE


class Failure(Exception):
    pass


def check(result):
    """The values after the return code, or an error with its name."""
    code = result[0] & 0xFFFFFFFF
    if code != scard.SCARD_S_SUCCESS:
        raise Failure(ERRORS.get(code, hex(code)))
    return result[1] if len(result) == 2 else result[1:]


class Client:
    def __init__(self):
        code, self.context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)
        check((code, None))
        self.card, self.header = None, scard.SCARD_PCI_T1

    def readers(self):
        try:
            code, readers = scard.SCardListReaders(self.context, [])
        except SystemError:
            # The list has grown between pyscard's two calls.
            return self.readers()
        return readers if code & 0xFFFFFFFF == scard.SCARD_S_SUCCESS else []

    def state(self, reader, known=scard.SCARD_STATE_UNAWARE, timeout=0):
        code, states = scard.SCardGetStatusChange(self.context, timeout, [(reader, known)])
        if code & 0xFFFFFFFF != scard.SCARD_E_TIMEOUT & 0xFFFFFFFF:
            check((code, None))
        return states[0][1], bytes(states[0][2])

    @staticmethod
    def describe(state, atr):
        return f"{state:08x} {state >> 16} {atr.hex() or '-'}"

    def await_card(self, what, reader):
        state, atr = self.state(reader)
        while True:
            present, mute = state & scard.SCARD_STATE_PRESENT, state & scard.SCARD_STATE_MUTE
            if what == ("mute" if mute else "present" if present and atr else "absent" if not present else None):
                return self.describe(state, atr)
            state, atr = self.state(reader, state, FOREVER)

    def await_change(self, known, reader):
        state, atr = self.state(reader)
        while state >> 16 == known >> 16:
            state, atr = self.state(reader, state, FOREVER)
        return self.describe(state, atr)

    def await_reader(self, reader, is_wanted):
        while (reader in self.readers()) != is_wanted:
            time.sleep(0.02)
        return ""

    def perform(self, command, rest):
        if command == "list":
            return "\t".join(self.readers())
        if command == "state":
            return self.describe(*self.state(rest))
        if command == "await":
            return self.await_card(*rest.split(" ", 1))
        if command == "await-change":
            known, reader = rest.split(" ", 1)
            return self.await_change(int(known, 16), reader)
        if command == "await-reader":
            return self.await_reader(rest, True)
        if command == "await-no-reader":
            return self.await_reader(rest, False)
        if command == "connect":
            mode, reader = rest.split(" ", 1)
            self.card, protocol = check(scard.SCardConnect(self.context, reader, *MODES[mode]))
            self.header = scard.SCARD_PCI_T0 if protocol == scard.SCARD_PROTOCOL_T0 else scard.SCARD_PCI_T1
            return str(protocol)
        if command == "reconnect":
            mode, protocols = MODES["shared"]
            return str(check(scard.SCardReconnect(self.card, mode, protocols, DISPOSITIONS[rest])))
        if command == "disconnect":
            check((scard.SCardDisconnect(self.card, DISPOSITIONS[rest]), None))
            return ""
        if command == "transmit":
            return bytes(check(scard.SCardTransmit(self.card, self.header, list(bytes.fromhex(rest))))).hex()
        if command == "control":
            code, _, data = rest.partition(" ")
            return bytes(check(scard.SCardControl(self.card, int(code, 16), list(bytes.fromhex(data))))).hex()
        if command == "attribute":
            return bytes(check(scard.SCardGetAttrib(self.card, int(rest, 16)))).hex()
        if command == "begin":
            check((scard.SCardBeginTransaction(self.card), None))
            return ""
        if command == "end":
            check((scard.SCardEndTransaction(self.card, scard.SCARD_LEAVE_CARD), None))
            return ""
        if command == "time":
            count, data = rest.split(" ")
            bytes_list, begin = list(bytes.fromhex(data)), time.monotonic()
            for _ in range(int(count)):
                check(scard.SCardTransmit(self.card, self.header, bytes_list))
            return f"{(time.monotonic() - begin) * 1000:.3f}"
        raise Failure(f"no such command: {command}")


def main():
    client = Client()
    print("ready", flush=True)
    for line in sys.stdin:
        command, _, rest = line.rstrip("\n").partition(" ")
        try:
            print(f"ok {client.perform(command, rest)}", flush=True)
        except Exception as error:  # Reports any error to the test.
            print(f"failed: {error}", flush=True)


main()
