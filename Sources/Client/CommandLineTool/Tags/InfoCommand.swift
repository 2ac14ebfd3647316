import Bus
import Names
import TagrouteClient

extension Command {
  static let info = Command(
    name: "info", summary: "wait for a tag and print its type, identifiers and memory",
    details: """
      Missing values are omitted, or null with --json. A tag that refuses to be read
      has the status refused.

      \(TagCommand.exitHelp)
      """,
    options: TagCommand.options
  ) { arguments, console throws(Failure) in
    let options = ReaderSessionOptions(message: SheetMessages.any)
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      var report: TagStatusReport?
      var refusal = ""
      do throws(BusError) {
        report = try await TagStatusReport.asked(tag)
      } catch {
        guard TagFailure(error) == .refused else { throw Failure(tag: error) }
        refusal = error.message
      }
      let info = InfoReport(tag, report, refusal: refusal, await ChipVersion.of(tag), await Type5Chip.of(tag))
      try await output.answer(info.json, info.lines)
    }.run()
  }
}

/// What `info` prints; scripts depend on the keys. `refusal` is the error of a tag that refuses to be read.
struct InfoReport {
  private(set) var json: JSON
  let lines: [String]

  init(_ tag: ReaderTag, _ report: TagStatusReport?, refusal: String, _ chip: ChipVersion?, _ type5: Type5Chip?) {
    func text(_ bytes: [UInt8]) -> String? { bytes.isEmpty ? nil : Hexadecimal.text(bytes) }
    let kind = Self.kind(tag)
    // The daemon's word, or `refused`.
    let status = report?.status.rawValue ?? "refused"
    let capacity = report?.capacity
    let size = report?.message?.count
    json = [
      "technology": tag.technology, "kind": kind, "uid": Hexadecimal.text(tag.uid), "status": status,
      "capacity": capacity, "size": size,
    ]
    let room = capacity ?? 0
    let used = size.map { "\($0) of \(room) bytes used" } ?? "\(room) bytes, empty"
    let ndef =
      switch status {
      case "refused": "\(status), \(refusal)"
      case "not-supported": report?.isBlank == true ? TagStatusReport.blank : status
      default: "\(status), \(used)"
      }
    let technology = kind.map { "\(tag.technology), \($0)" } ?? tag.technology
    let memory = type5?.memory
    let blocks = memory.map { "\($0.blockCount) blocks of \($0.blockSize) bytes" }
    func digits(_ byte: UInt8?) -> String? { byte.map { Hexadecimal.text([$0]) } }
    let version = chip.map { Hexadecimal.text($0.answer) }
    let systemCode = tag.systemCode.map { Hexadecimal.text($0) }
    // The label for a person, the key for a script, and the value; nil if the tag has none.
    let rows: [(label: String, key: String?, value: String?)] = [
      ("technology", nil, technology), ("manufacturer", "manufacturer", type5?.manufacturer),
      ("chip", "chip", chip?.name ?? type5?.name), ("version", "version", version), ("UID", nil, text(tag.uid)),
      ("NDEF", nil, ndef), ("memory", nil, blocks), ("DSFID", "dsfid", digits(type5?.information?.dsfid)),
      ("AFI", "afi", digits(type5?.information?.afi)),
      ("IC reference", "icReference", digits(type5?.information?.icReference)), ("ATQA", "atqa", text(tag.atqa)),
      ("SAK", "sak", digits(tag.sak)),
      ("historical bytes", "historicalBytes", text(tag.historicalBytes)),
      ("application data", "applicationData", text(tag.applicationData)),
      ("protocol info", "protocolInfo", text(tag.protocolInfo)), ("IDm", "idm", text(tag.idm)),
      ("PMm", "pmm", text(tag.pmm)), ("system code", "systemCode", systemCode),
    ]
    lines = rows.compactMap { row in row.value.map { "\(row.label): \($0)" } }
    for row in rows { if let key = row.key { json.members.append((key, row.value)) } }
    json.members.append(("blockCount", memory?.blockCount))
    json.members.append(("blockSize", memory?.blockSize))
  }

  private static func kind(_ tag: ReaderTag) -> String? {
    switch TagType(rawValue: tag.technology) {
    case .type1: "NFC Forum Type 1 (Topaz)"
    case .type2: "NFC Forum Type 2 (MIFARE Ultralight, NTAG)"
    case .type3: "NFC Forum Type 3 (FeliCa)"
    case .type4A: "ISO-DEP card of Type A (NFC Forum Type 4)"
    case .type4B: "ISO-DEP card of Type B (NFC Forum Type 4)"
    case .type5: "NFC Forum Type 5 (ISO/IEC 15693)"
    case .mifareClassic: "MIFARE Classic"
    case .peer, nil: nil
    }
  }
}

/// The reply of a Type 2 tag to GET_VERSION (NXP MF0ULx1, NTAG213_215_216 and NT3H2111_2211, section GET_VERSION).
struct ChipVersion: Equatable {
  /// Eight bytes: a fixed one, vendor, product, subtype, major and minor version, storage size, protocol.
  let answer: [UInt8]

  /// Nil if it is not such a reply.
  init?(_ answer: [UInt8]) {
    guard answer.count == 8 else { return nil }
    self.answer = answer
  }

  /// Asks a tag. This must be the last command: a tag that does not know it stops replying. Nil if it is another kind
  /// of tag, or does not know the command.
  static func of(_ tag: ReaderTag) async -> ChipVersion? {
    guard TagType(rawValue: tag.technology) == .type2 else { return nil }
    do throws(BusError) {
      return ChipVersion(try await tag.transceive([0x60]))
    } catch {
      return nil
    }
  }

  /// The name of the chip; nil if it is unknown.
  var name: String? {
    guard answer[1] == 0x04 else { return nil }
    switch (answer[2], answer[3], answer[4], answer[5], answer[6]) {
    case (0x03, 0x01...0x02, 2, _, 0x0B): return "MIFARE Ultralight Nano"
    case (0x03, 0x01...0x02, _, _, 0x0B): return "MIFARE Ultralight EV1, 48 bytes"
    case (0x03, 0x01...0x02, _, _, 0x0E): return "MIFARE Ultralight EV1, 128 bytes"
    case (0x04, 0x01...0x02, 2, _, 0x0B): return "NTAG210µ"
    case (0x04, 0x01...0x02, _, _, 0x0B): return "NTAG210"
    case (0x04, 0x01...0x02, _, _, 0x0E): return "NTAG212"
    // The major version tells a chip with AES from one without.
    case (0x03, 0x01...0x03, 4, _, 0x0F): return "MIFARE Ultralight AES"
    case (0x04, _, 4, _, 0x0F): return "NTAG 223 DNA"
    case (0x04, _, 5, _, 0x10): return "NTAG 224 DNA"
    case (0x04, 0x01...0x02, _, _, 0x0F): return "NTAG213"
    case (0x04, 0x01...0x02, _, _, 0x11): return "NTAG215"
    case (0x04, 0x01...0x02, _, _, 0x13): return "NTAG216"
    case (0x04, 0x05, _, 1, 0x13): return "NTAG I²C 1k"
    case (0x04, 0x05, _, 1, 0x15): return "NTAG I²C 2k"
    case (0x04, 0x05, _, 2, 0x13): return "NTAG I²C plus 1k"
    case (0x04, 0x05, _, 2, 0x15): return "NTAG I²C plus 2k"
    default: return nil
    }
  }
}
