import Bus
import TagrouteClient

extension Command {
  static let transceive = Command(
    name: "transceive", usage: "transceive HEX…", summary: "send commands to a tag, and print its answers",
    details: """
      Waits for a tag, sends it each command, and prints each answer on a line, all in hexadecimal digits. A command is, by tag,

        ISO-DEP card         an APDU; the answer ends in the status word
        FeliCa card          command code and what follows, without the length; IDM stands for the card's own IDm
        Ultralight and NTAG  as in the data sheet, without check sum

      A SELECT or a poll reaches only what is declared, and NDEF; applications that pay are never selected.

        --aid HEX,…           the applications of ISO-DEP cards; the first that the card has is selected
        --system-code HEX,…   the systems of FeliCa cards
        --write               let it send commands that change the tag
        --answer-within MS    how long the tag may take for an answer, 1 to 5000 milliseconds, by default 1000
      \(TagCommand.optionHelp)

      \(TagCommand.exitHelp)
      """,
    flags: ["write"], options: TagCommand.optionNames.union(["aid", "system-code", "answer-within"]), words: 1...256
  ) { arguments, console throws(Failure) in
    let commands = try arguments.words.map { word throws(Failure) in try RawCommand(word) }
    let limit = try arguments.number("answer-within", in: 1...5000) ?? 1000
    let options = ReaderSessionOptions(
      message: SheetMessages.any, access: arguments.has("write") ? .write : .read,
      applicationIdentifiers: try list(arguments, "aid", of: 5...16),
      systemCodes: try list(arguments, "system-code", of: 2...2).map { UInt16($0[0]) << 8 | UInt16($0[1]) })
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      var exchanges: [TransceiveReport.Exchange] = []
      // What the tag has answered before a command fails is told: it may have been changed.
      var failure: Failure?
      for command in commands where failure == nil {
        let bytes = command.bytes(idm: tag.idm)
        do throws(Failure) {
          let answer = try await tag.attempt { tag throws(BusError) in
            try await tag.transceive(bytes, timeout: .milliseconds(limit))
          }
          if !console.json { await output.lines([Hexadecimal.text(answer)]) }
          exchanges.append(.init(command: Hexadecimal.text(bytes), answer: Hexadecimal.text(answer)))
        } catch {
          failure = error
        }
      }
      if console.json {
        try await output.object(
          TransceiveReport(technology: tag.technology, uid: Hexadecimal.text(tag.uid), exchanges: exchanges))
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
        throw .usage("--\(option): \(part) is not what it takes")
      }
      return bytes
    }
  }
}

/// A command as it is typed, with a place for the IDm that only the card knows.
struct RawCommand: Equatable {
  private enum Part: Equatable {
    case bytes([UInt8])
    case idm
  }

  private let parts: [Part]

  /// - Parameter text: hexadecimal digits, and `IDM`.
  /// - Throws: a usage failure where it is something else.
  init(_ text: String) throws(Failure) {
    var parts: [Part] = []
    for (index, piece) in text.uppercased().split(separator: "IDM", omittingEmptySubsequences: false).enumerated() {
      if index > 0 { parts.append(.idm) }
      guard !piece.isEmpty else { continue }
      guard let bytes = Hexadecimal.bytes(String(piece)) else {
        throw .usage("\(text) is no command: write it in hexadecimal digits")
      }
      parts.append(.bytes(bytes))
    }
    guard !parts.isEmpty else { throw .usage("a command is empty") }
    self.parts = parts
  }

  func bytes(idm: [UInt8]) -> [UInt8] {
    parts.flatMap { part in
      switch part {
      case .bytes(let bytes): bytes
      case .idm: idm
      }
    }
  }
}

/// What `transceive` prints; its keys are what scripts depend on.
struct TransceiveReport: Encodable {
  struct Exchange: Encodable {
    let command: String
    let answer: String
  }

  let technology: String
  let uid: String
  let exchanges: [Exchange]
}
