import Bus
import TagrouteClient

extension Command {
  static let info = Command(
    name: "info", usage: "info", summary: "what a tag is",
    details: """
      Waits for a tag and prints what it says of itself, whether it can be written, and how much goes on it. What a tag has not
      is left away, and null with --json. One that refuses to be read has the status refused.

      \(TagCommand.optionHelp)

      \(TagCommand.exitHelp)
      """,
    options: TagCommand.optionNames, words: 0...0
  ) { arguments, console throws(Failure) in
    let options = ReaderSessionOptions(message: SheetMessages.any)
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      let report = try await InfoReport.of(tag)
      try await output.answer(report, report.lines)
    }.run()
  }
}

/// What `info` prints; its keys are what scripts depend on.
struct InfoReport: Encodable {
  let technology: String
  @OrNull private(set) var kind: String?
  /// What the chip is called, and what it says of its version; nil where it does not, or the name is not known.
  @OrNull private(set) var chip: String?
  @OrNull private(set) var version: String?
  let uid: String
  /// As the daemon says it, or `refused` where the tag does not let itself be read.
  let status: String
  /// Nil where it is not known.
  @OrNull private(set) var capacity: UInt32?
  /// Bytes of the message; nil where there is none.
  @OrNull private(set) var size: Int?
  @OrNull private(set) var atqa: String?
  @OrNull private(set) var sak: String?
  @OrNull private(set) var historicalBytes: String?
  @OrNull private(set) var applicationData: String?
  @OrNull private(set) var protocolInfo: String?
  @OrNull private(set) var idm: String?
  @OrNull private(set) var pmm: String?
  @OrNull private(set) var systemCode: String?
  /// How the tag refuses; empty where it does not.
  private let refusal: String

  /// Asks a tag: what it has said of itself is told whatever it answers now.
  static func of(_ tag: ReaderTag) async throws(Failure) -> InfoReport {
    var report: TagReport?
    var refusal = ""
    do throws(BusError) {
      report = try await TagReport.asked(tag)
    } catch {
      guard TagFailure(error) == .refused else { throw Failure(tag: error) }
      refusal = error.message
    }
    return InfoReport(tag, report, refusal: refusal, await ChipVersion.of(tag))
  }

  private init(_ tag: ReaderTag, _ report: TagReport?, refusal: String, _ chipVersion: ChipVersion?) {
    self.refusal = refusal
    chip = chipVersion?.name
    version = chipVersion.map { Hexadecimal.text($0.answer) }
    technology = tag.technology
    kind = InfoReport.kind(tag)
    uid = Hexadecimal.text(tag.uid)
    status = report?.status.rawValue ?? "refused"
    capacity = report?.capacity
    size = report?.message?.count
    func text(_ bytes: [UInt8]) -> String? { bytes.isEmpty ? nil : Hexadecimal.text(bytes) }
    atqa = text(tag.atqa)
    sak = tag.sak.map { Hexadecimal.text([$0]) }
    historicalBytes = text(tag.historicalBytes)
    applicationData = text(tag.applicationData)
    protocolInfo = text(tag.protocolInfo)
    idm = text(tag.idm)
    pmm = text(tag.pmm)
    systemCode = tag.systemCode.map { Hexadecimal.text([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
  }

  private static func kind(_ tag: ReaderTag) -> String? {
    switch tag.technology {
    case "type-1": "NFC Forum Type 1 (Topaz)"
    case "type-2": "NFC Forum Type 2 (MIFARE Ultralight, NTAG)"
    case "type-3": "NFC Forum Type 3 (FeliCa)"
    case "type-4a": "ISO-DEP card of Type A (NFC Forum Type 4)"
    case "type-4b": "ISO-DEP card of Type B (NFC Forum Type 4)"
    case "mifare-classic": "MIFARE Classic"
    default: nil
    }
  }

  enum CodingKeys: CodingKey {
    case technology
    case kind
    case chip
    case version
    case uid
    case status
    case capacity
    case size
    case atqa
    case sak
    case historicalBytes
    case applicationData
    case protocolInfo
    case idm
    case pmm
    case systemCode
  }

  var lines: [String] {
    let room = capacity ?? 0
    let used = size.map { "\($0) of \(room) bytes used" } ?? "\(room) bytes, empty"
    let ndef =
      switch status {
      case "refused": "\(status), \(refusal)"
      case "not-supported": status
      default: "\(status), \(used)"
      }
    let values: [(String, String?)] = [
      ("technology", kind.map { "\(technology), \($0)" } ?? technology), ("chip", chip), ("version", version),
      ("UID", uid.isEmpty ? nil : uid),
      ("NDEF", ndef), ("ATQA", atqa), ("SAK", sak),
      ("historical bytes", historicalBytes), ("application data", applicationData),
      ("protocol info", protocolInfo), ("IDm", idm), ("PMm", pmm), ("system code", systemCode),
    ]
    return values.compactMap { name, value in value.map { "\(name): \($0)" } }
  }
}
