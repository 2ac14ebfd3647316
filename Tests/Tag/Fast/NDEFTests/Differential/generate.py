#!/usr/bin/env python3
"""Prints messages and the results of ndeflib, one JSON object per line, for DifferentialTests.swift.

Packaging/check-ndeflib runs this with the right version of ndeflib. The output depends only on that version. It uses no
clock, and random numbers only from the generator below.

A line has a `name`, the `bytes`, and either the `error` of ndeflib or the decoded `records`. If ndeflib encodes these
records to other bytes, the line also has them as `encoded`.

A record has its `type` in the notation of ndeflib, its `id` and its `payload`. A URI, Text or Smart Poster record also
has either a `viewError` or a `view`. A record of a Wi-Fi network has that network as `wifi`. If ndeflib encodes the view to another payload, the view has it as `payload`.
"""
import json
import sys

import ndef

KNOWN = {
    "urn:nfc:wkt:U": ndef.UriRecord,
    "urn:nfc:wkt:T": ndef.TextRecord,
    "urn:nfc:wkt:Sp": ndef.SmartposterRecord,
}


def decode(octets, known):
    """The decoded records. Any exception is a rejection."""
    try:
        return list(ndef.message_decoder(octets, "strict", known)), None
    except Exception as error:  # also UnicodeDecodeError and ValueError, which ndeflib does not catch
        return None, " ".join(str(error).split())


WIFI = "application/vnd.wfa.wsc"


def view_of(record):
    if isinstance(record, ndef.UriRecord):
        return {"uri": record.iri}
    if isinstance(record, ndef.TextRecord):
        return {"text": record.text, "language": record.language, "encoding": record.encoding}
    view = {"uri": record.resource.iri}
    if record.title_records:
        view["titles"] = [view_of(title) for title in record.title_records]
    if record.action_records:
        view["action"] = record.action_records[0]._action
    if record.icon_records:
        view["icons"] = [[icon.type, bytes(icon.data).hex()] for icon in record.icon_records]
    if record.resource_size is not None:
        view["size"] = record.resource_size
    if record.resource_type is not None:
        view["mediaType"] = record.resource_type
    return view


def describe_record(record):
    payload = bytes(record.data)
    described = {"type": record.type, "payload": payload.hex()}
    if record.name:
        described["id"] = record.name.encode("latin").hex()
    if record.type in KNOWN:
        single = b"".join(ndef.message_encoder([record]))
        views, error = decode(single, KNOWN)
        if views is None:
            described["viewError"] = error
        else:
            described["view"] = view_of(views[0])
            made = bytes(views[0].data)
            if made != payload:
                described["view"]["payload"] = made.hex()
    if record.type == WIFI:
        single = b"".join(ndef.message_encoder([record]))
        views, _ = decode(single, {WIFI: ndef.WifiSimpleConfigRecord})
        if views is not None:
            described["wifi"] = network_of(views[0])
    return described


def network_of(record):
    credential = record.get_attribute("credential")
    names = {"ssid": 0x1045, "authentication": 0x1003, "encryption": 0x100F, "key": 0x1027}
    return {name: bytes(credential[number][0]).hex() for name, number in names.items()}


def describe(name, octets):
    line = {"name": name, "bytes": octets.hex()}
    records, error = decode(octets, {})
    if records is None:
        line["error"] = error
    else:
        line["records"] = [describe_record(record) for record in records]
        encoded = b"".join(ndef.message_encoder(records))
        if encoded != octets:
            line["encoded"] = encoded.hex()
    return line


def record(tnf, type=b"", payload=b"", id=None, mb=True, me=True, cf=False, sr=True):
    """A record with exactly these fields, valid or not."""
    header = mb << 7 | me << 6 | cf << 5 | sr << 4 | (id is not None) << 3 | tnf
    octets = bytes([header, len(type)]) + len(payload).to_bytes(1 if sr else 4, "big")
    if id is not None:
        octets += bytes([len(id)])
    return octets + type + (id or b"") + payload


def message(*records):
    """A message of (tnf, type, payload) triples."""
    last = len(records) - 1
    return b"".join(record(*fields, mb=i == 0, me=i == last) for i, fields in enumerate(records))


def uri(payload):
    return record(1, b"U", payload)


def text(payload):
    return record(1, b"T", payload)


def poster(*records):
    return record(1, b"Sp", message(*records))


LINK = (1, b"U", b"\x04a.example")
THREE = (record(1, b"U", b"\x04a", id=b"i", me=False) + record(2, b"a/b", b"\xff", mb=False, me=False, sr=False)
         + record(4, b"a.b:c", b"12", mb=False))


def headers():
    """Every type name format with and without type, id and payload, in short and long records."""
    for tnf in range(8):
        type = {2: b"a/b", 3: b"a://b/c"}.get(tnf, b"x")
        for with_type in (False, True):
            for payload in (b"", b"\x00"):
                for id in (None, b"", b"i"):
                    for sr in (True, False):
                        yield record(tnf, type if with_type else b"", payload, id, sr=sr)


def flags():
    """Every combination of MB, ME and CF on two records. The second one is also tried as a chunk."""
    for first in range(8):
        for second in range(8):
            for tnf, type in ((1, b"x"), (6, b"")):
                bits = [bool(n & bit) for n in (first, second) for bit in (4, 2, 1)]
                yield (record(5, b"", b"a", mb=bits[0], me=bits[1], cf=bits[2])
                       + record(tnf, type, b"b", mb=bits[3], me=bits[4], cf=bits[5]))


def framing():
    yield b""
    yield THREE
    for length in range(1, len(THREE)):
        yield THREE[:length]
    yield THREE + b"\x00"
    yield THREE + THREE
    for extra in (0xFF, 0xFFFF, 0xFFFFF, 0xFFFFFFFF):
        yield bytes([0xC1, 1]) + extra.to_bytes(4, "big") + b"U\x04a"
    middle = dict(mb=False, me=False)
    yield (record(1, b"T", b"\x02", id=b"i", me=False, cf=True) + record(6, payload=b"en", cf=True, **middle)
           + record(6, cf=True, sr=False, **middle) + record(6, payload=b"abc", mb=False))
    yield (record(0, me=False) + record(1, b"U", b"\x04", cf=True, **middle) + record(6, payload=b"a", **middle)
           + record(5, mb=False))
    yield record(1, b"x", me=False, cf=True) + record(6, id=b"", mb=False)
    yield record(1, b"x", me=False, cf=True) + record(6, id=b"i", mb=False)
    yield record(1, b"x", me=False, cf=True) + record(6, b"x", mb=False)
    yield record(0, me=False, cf=True) + record(6, payload=b"a", mb=False)


def types():
    for type in (b"a/b", b"a", b"Image/png", b"text/html;charset=utf-8", b"urn:nfc:wkt:U", b"unknown", b"\xe9/a"):
        yield record(2, type, b"1")
    for type in (b"http://a/b", b"urn:a", b"a:b", b"a/b", b"x-y://a/b/c", b"urn:nfc:ext:a", b"\xff"):
        yield record(3, type, b"1")
    for tnf in (1, 4):
        for type in (b"x", b"a.example:b", b"\xff", b" ", b"x" * 255):
            yield record(tnf, type, b"1", id=b"\xff\x00")


def uris():
    yield uri(b"")
    for code in range(256):
        yield uri(bytes([code]) + b"a.b")
    for rest in (b"", b"\xc3\xa4", b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98\x80",
                 b"a\x00", b"a\nb", b"\x1f", b"\x7f", b"\xc2\x85", b"\xef\xbb\xbfa", b"\xcc\x81a"):
        yield uri(b"\x04" + rest)
    for whole in (b"http://www.a", b"https://www.a", b"ftp://ftp.a", b"ftp://anonymous:anonymous@a", b"urn:epc:id:a",
                  b"urn:epc:pat", b"urn:nfc:a", b"urn:a", b"HTTP://a", b"tel:1", b"sips:a", b"sip:a", b"geo:1,2"):
        yield uri(b"\x00" + whole)


def texts():
    yield text(b"")
    for length in (0, 1, 2, 3, 62, 63):
        for flag in (0, 0x40, 0x80, 0xC0):
            status = bytes([flag | length])
            yield text(status)
            yield text(status + b"e" * max(0, length - 1))
            yield text(status + b"e" * length)
            yield text(status + b"e" * length + b"ab")
    for rest in (b"\xc3\xa4", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbfa", b"a\r\nb\x00", b"e\xcc\x81"):
        yield text(b"\x02en" + rest)
    yield text(b"\x02e\xe9a")
    little, big = b"\xff\xfe", b"\xfe\xff"
    for string in ("", "a", "aä", "\U0001f600", "a\r\n", "\ufeffa", "\ud83d", "\ude00a", "\ude00\ud83d", "a\ud83d"):
        for mark, order in ((little, "utf-16-le"), (big, "utf-16-be"), (b"", "utf-16-be"), (b"", "utf-16-le")):
            octets = mark + string.encode(order, "surrogatepass")
            yield text(b"\x82en" + octets)
            yield text(b"\x82en" + octets + b"\x00")


POSTERS = [
    (LINK,),
    (LINK, (1, b"T", b"\x02enA"), (1, b"T", b"\x02deB")),
    (LINK, (1, b"T", b"\x82en\xfe\xff\x00A")),
    (LINK, (1, b"act", b"\x01"), (1, b"s", b"\0\1\2\3"), (1, b"t", b"text/html"), (2, b"image/png", b"\x89P")),
    ((1, b"t", b""), (2, b"video/mp4", b"1"), (1, b"act", b"\x00"), LINK),
]


def posters():
    yield record(1, b"Sp")
    for records in POSTERS:
        yield poster(*records)
    yield poster((1, b"T", b"\x02enA"))
    yield poster((0,))
    yield poster(LINK, LINK)
    for action in (2, 3, 127, 255):
        yield poster(LINK, (1, b"act", bytes([action])))
    for wrong in ((1, b"act", b""), (1, b"act", b"\0\0"), (1, b"s", b"\0\0\0"), (1, b"s", b"\0" * 5), (1, b"t", b"\xff"),
                  (1, b"T", b"\x00"), (1, b"U", b""), (1, b"T", b"\x82en\x00A"), (1, b"U", b"\x05\n")):
        yield poster(LINK, wrong)
    for twice in ((1, b"act", b"\x01"), (1, b"s", b"\0\0\0\1"), (1, b"t", b"a/b"), (1, b"T", b"\x02enA"),
                  (2, b"image/png", b"1")):
        yield poster(LINK, twice, twice)
    yield poster(LINK, (1, b"T", b"\x02enA"), (1, b"T", b"\x02ENB"))
    yield poster(LINK, (2, b"Image/png", b"1"))
    yield poster(LINK, (2, b"text/plain", b"1"))
    yield poster(LINK, (4, b"a.example:b", b"1"))
    yield poster(LINK, (1, b"Sp", message(LINK)))
    yield poster(LINK, (1, b"Sp", b"\x00"))
    yield poster((1, b"U", b"\x30tel:1"))
    whole = message(*POSTERS[1])
    for cut in range(1, len(whole), 3):
        yield record(1, b"Sp", whole[:cut])
    yield record(1, b"Sp", whole + b"\x00")
    yield record(1, b"Sp", record(1, b"U", b"\x05", me=False, cf=True) + record(6, b"", b"1", mb=False))


def wifi():
    """One network each: in several orders of the attributes, and with others around them."""

    def attribute(type, value):
        return type.to_bytes(2, "big") + len(value).to_bytes(2, "big") + value

    def network(ssid, authentication, encryption, key):
        return [attribute(0x1026, b"\x01"), attribute(0x1045, ssid), attribute(0x1003, authentication),
                attribute(0x100F, encryption), attribute(0x1027, key), attribute(0x1020, b"\xff" * 6)]

    for fields in (
            (b"Guest", b"\x00\x20", b"\x00\x08", b"visitors"), (b"Caf\xc3\xa9", b"\x00\x01", b"\x00\x01", b""),
            (b"a" * 32, b"\x00\x22", b"\x00\x0c", b"b" * 64), (b"\xff", b"\x00\x02", b"\x00\x04", b"12345678")):
        attributes = network(*fields)
        for turn in range(len(attributes)):
            order = attributes[turn:] + attributes[:turn]
            yield record(2, WIFI.encode(), attribute(0x100E, b"".join(order)))
        for other in (attribute(0x104A, b"\x10"), attribute(0x1049, b"\x00\x37\x2a\x00\x01\x20")):
            yield record(2, WIFI.encode(), attribute(0x100E, b"".join(attributes)) + other)
            yield record(2, WIFI.encode(), other + attribute(0x100E, b"".join(attributes) + other))


class Numbers:
    """xorshift64*, because the numbers of Python's generator may change between versions."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        state = self.state
        state ^= state >> 12
        state = (state ^ state << 25) & (1 << 64) - 1
        self.state = state ^ state >> 27
        return (self.state * 0x2545F4914F6CDD1D >> 33) % limit


def mutations(count):
    """Valid messages with one to three bits or bytes changed, inserted or removed."""
    numbers = Numbers(20060724)
    good = [THREE, poster(*POSTERS[1]), poster(*POSTERS[3]), text(b"\x02enHello"), text(b"\x82en\xff\xfea\x00b\x00"),
            uri(b"\x04a.example/b"), message(LINK, (1, b"T", b"\x02enA"), (5, b"", b"1")),
            record(1, b"U", b"\x04", me=False, cf=True) + record(6, b"", b"a", mb=False)]
    for _ in range(count):
        octets = bytearray(good[numbers.below(len(good))])
        for _ in range(1 + numbers.below(3)):
            place = numbers.below(len(octets))
            kind = numbers.below(4)
            if kind == 0:
                octets[place] ^= 1 << numbers.below(8)
            elif kind == 1:
                octets[place] = numbers.below(256)
            elif kind == 2:
                octets.insert(place, numbers.below(256))
            elif len(octets) > 1:
                del octets[place]
        yield bytes(octets)


def main():
    groups = {
        "header": headers(), "flags": flags(), "framing": framing(), "type": types(), "uri": uris(), "text": texts(),
        "poster": posters(), "mutation": mutations(500), "wifi": wifi(),
    }
    for group, vectors in groups.items():
        for number, octets in enumerate(vectors):
            line = describe(f"{group}-{number}", octets)
            sys.stdout.write(json.dumps(line, separators=(",", ":"), ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
