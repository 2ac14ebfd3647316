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
    options: TagCommand.options, words: 0...0
  ) { arguments, console throws(Failure) in
    let options = ReaderSessionOptions(message: SheetMessages.any)
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      let (report, refusal) = try await InfoReport.of(tag)
      try await output.answer(report, report.lines(refusal: refusal))
    }.run()
  }
}

/// What `info` prints; scripts depend on its keys.
struct InfoReport: Encodable {
  let technology: String
  @OrNull private(set) var kind: String?
  /// The chip's name and the version that it reports; nil if unknown.
  @OrNull private(set) var chip: String?
  @OrNull private(set) var version: String?
  let uid: String
  /// The daemon's word, or `refused` if the tag refuses to be read.
  let status: String
  /// Nil if unknown.
  @OrNull private(set) var capacity: UInt32?
  /// The size of the message in bytes; nil without a message.
  @OrNull private(set) var size: Int?
  @OrNull private(set) var atqa: String?
  @OrNull private(set) var sak: String?
  @OrNull private(set) var historicalBytes: String?
  @OrNull private(set) var applicationData: String?
  @OrNull private(set) var protocolInfo: String?
  @OrNull private(set) var idm: String?
  @OrNull private(set) var pmm: String?
  @OrNull private(set) var systemCode: String?

  /// Asks a tag. A tag that refuses to be read has a report too.
  ///
  /// - Returns: the report, and the error of a tag that refuses; empty for others.
  static func of(_ tag: ReaderTag) async throws(Failure) -> (report: InfoReport, refusal: String) {
    var report: TagReport?
    var refusal = ""
    do throws(BusError) {
      report = try await TagReport.asked(tag)
    } catch {
      guard TagFailure(error) == .refused else { throw Failure(tag: error) }
      refusal = error.message
    }
    return (InfoReport(tag, report, await ChipVersion.of(tag)), refusal)
  }

  private init(_ tag: ReaderTag, _ report: TagReport?, _ chipVersion: ChipVersion?) {
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
    switch TagType(rawValue: tag.technology) {
    case .type1: "NFC Forum Type 1 (Topaz)"
    case .type2: "NFC Forum Type 2 (MIFARE Ultralight, NTAG)"
    case .type3: "NFC Forum Type 3 (FeliCa)"
    case .type4A: "ISO-DEP card of Type A (NFC Forum Type 4)"
    case .type4B: "ISO-DEP card of Type B (NFC Forum Type 4)"
    case .mifareClassic: "MIFARE Classic"
    case .peer, nil: nil
    }
  }

  /// - Parameter refusal: the error of a tag that refuses to be read.
  /// - Returns: a line for each value that the tag has.
  func lines(refusal: String) -> [String] {
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
