import Bus
import Names
import TagrouteClient

extension Command {
  static let transceive = Command(
    name: "transceive", summary: "wait for a tag, send it commands and print its answers", arguments: "HEX…",
    details: """
      Commands and answers are hexadecimal digits. The form of a command depends on
      the tag:

        ISO-DEP card         an APDU; the answer ends with the status word
        FeliCa card          command code and parameters, without the length; IDM
                             stands for the card's own IDm
        Ultralight and NTAG  as in the data sheet, without checksum
        ISO 15693 tag        flags, command code and parameters, without checksum;
                             UID stands for the tag's own UID, with the byte E0 last

      SELECT and FeliCa Polling commands reach only declared applications and systems,
      and NDEF. Payment applications are never selected.

      With --write, the command sends nothing and ends with 75 if several tags lie on
      the reader.

      \(TagCommand.exitHelp)
      """,
    options: [
      .init("aid", "HEX,…", "declare applications of ISO-DEP cards; the first that the card has is selected"),
      .init("system-code", "HEX,…", "declare systems of FeliCa cards"),
      .init("write", "allow commands that change the tag"),
      .init("answer-within", "MS", "wait this long for an answer, 1 to 5000 milliseconds; the default is 1000"),
    ] + TagCommand.options
  ) { arguments, console throws(Failure) in
    let commands = try arguments.words.map { word throws(Failure) in try RawCommand(word) }
    let limit = try arguments.number("answer-within", in: 1...5000) ?? 1000
    let options = ReaderSessionOptions(
      message: SheetMessages.any, access: arguments.has("write") ? .write : .read,
      applicationIdentifiers: try list(arguments, "aid", of: 5...16),
      systemCodes: try list(arguments, "system-code", of: 2...2).map { UInt16($0[0]) << 8 | UInt16($0[1]) })
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      var exchanges: [[String: String]] = []
      // Print the answers before a failure too, because the commands may have changed the tag.
      var failure: Failure?
      for command in commands where failure == nil {
        let bytes = command.bytes(idm: tag.idm, uid: tag.transmittedUID)
        do throws(Failure) {
          let answer = try await tag.attempt { tag throws(BusError) in
            try await tag.transceive(bytes, timeout: .milliseconds(limit))
          }
          if !console.json { await output.lines([Hexadecimal.text(answer)]) }
          exchanges.append(["command": Hexadecimal.text(bytes), "answer": Hexadecimal.text(answer)])
        } catch {
          failure = error
        }
      }
      if console.json {
        try await output.object(
          ["technology": tag.technology, "uid": Hexadecimal.text(tag.uid), "exchanges": exchanges] as JSON)
      }
      if let failure { throw failure }
    }.run()
  }

  private static func list(
    _ arguments: Arguments, _ option: String, of lengths: ClosedRange<Int>
  ) throws(Failure) -> [[UInt8]] {
    guard let text = arguments.options[option] else { return [] }
    return try text.split(separator: ",", omittingEmptySubsequences: false).map { part throws(Failure) in
      guard let bytes = Hexadecimal.bytes(String(part)), lengths.contains(bytes.count) else {
        throw .usage("--\(option): \(part) is not valid")
      }
      return bytes
    }
  }
}

extension ReaderTag {
  /// The UID in the order in which a command of the tag has it.
  fileprivate var transmittedUID: [UInt8] { TagType(rawValue: technology) == .type5 ? uid.reversed() : uid }
}

/// A command as typed, with placeholders for the card's own identifiers.
struct RawCommand: Equatable {
  private enum Part: Equatable {
    case bytes([UInt8])
    case idm
    case uid
  }

  private let parts: [Part]

  /// Parses hexadecimal digits, `IDM` and `UID`.
  init(_ text: String) throws(Failure) {
    var parts: [Part] = []
    var rest = text.uppercased()[...]
    while !rest.isEmpty {
      if rest.hasPrefix("IDM") || rest.hasPrefix("UID") {
        parts.append(rest.hasPrefix("IDM") ? .idm : .uid)
        rest = rest.dropFirst(3)
        continue
      }
      let digits = rest.prefix { $0 != "I" && $0 != "U" }
      guard let bytes = Hexadecimal.bytes(String(digits)) else {
        throw .usage("\(text) is not a command: use hexadecimal digits")
      }
      parts.append(.bytes(bytes))
      rest = rest.dropFirst(digits.count)
    }
    guard !parts.isEmpty else { throw .usage("a command is empty") }
    self.parts = parts
  }

  func bytes(idm: [UInt8], uid: [UInt8] = []) -> [UInt8] {
    parts.flatMap { part in
      switch part {
      case .bytes(let bytes): bytes
      case .idm: idm
      case .uid: uid
      }
    }
  }
}
