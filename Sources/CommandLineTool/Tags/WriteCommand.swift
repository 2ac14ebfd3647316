import Bus
import NDEF
import TagrouteClient

extension Command {
  static let write = Command(
    name: "write", usage: "write", summary: "write a message on a tag",
    details: """
      Waits for a tag, writes a message in the place of what it holds, and reads it back. Exactly one of these says what:

        --uri URI             a link
        --text TEXT           a text
        --smart-poster URI    a link with a title
        --ndef FILE           the bytes of a message; - is standard input

        --language LANGUAGE   of the text or the title, by default en
        --title TITLE         of the Smart Poster
      \(TagCommand.optionHelp)

      \(TagCommand.exitHelp)
      """,
    options: TagCommand.optionNames.union(["uri", "text", "smart-poster", "ndef", "language", "title"]), words: 0...0
  ) { arguments, console throws(Failure) in
    let message = try await MessageToWrite.bytes(arguments)
    let options = ReaderSessionOptions(
      message: SheetMessages.write, access: .write)
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      try await tag.attempt { tag throws(BusError) in try await tag.writeNDEF(message) }
      let uid = Hexadecimal.text(tag.uid)
      try await output.answer(
        WriteReport(technology: tag.technology, uid: uid, written: message.count),
        ["\(tag.technology) \(uid): \(message.count) bytes are written and read back"])
    }.run()
  }
}

/// What `write` prints; its keys are what scripts depend on.
struct WriteReport: Encodable {
  let technology: String
  let uid: String
  /// Bytes of the message.
  let written: Int
}

/// The message that the options of `write` describe.
enum MessageToWrite {
  static func bytes(_ arguments: Arguments) async throws(Failure) -> [UInt8] {
    let kinds = ["uri", "text", "smart-poster", "ndef"].filter(arguments.has)
    guard kinds.count == 1, let kind = kinds.first, let value = arguments.options[kind] else {
      throw .usage("say one of --uri, --text, --smart-poster and --ndef")
    }
    guard !arguments.has("title") || kind == "smart-poster" else { throw .usage("--title goes with --smart-poster") }
    guard !arguments.has("language") || kind == "text" || arguments.has("title") else {
      throw .usage("--language goes with --text or --title")
    }
    if kind == "ndef" { return try await file(value) }
    let language = arguments.options["language"] ?? "en"
    do throws(NDEFError) {
      switch kind {
      case "uri": return try NDEFMessage.uri(value).encoded()
      case "text": return try NDEFMessage(records: [TextRecord(value, language: language).record()]).encoded()
      default:
        let titles = arguments.options["title"].map { [TextRecord($0, language: language)] } ?? []
        return try NDEFMessage(records: [SmartPosterRecord(uri: value, titles: titles).record()]).encoded()
      }
    } catch {
      throw .usage("--\(kind): \(error)")
    }
  }

  /// More than any tag holds.
  private static let limit = 1 << 20

  private static func file(_ path: String) async throws(Failure) -> [UInt8] {
    let bytes = try await BlockingRead.file(path, limit: limit)
    guard bytes.count <= limit else { throw .usage("\(path): it has more than \(limit) bytes") }
    do throws(NDEFError) {
      _ = try NDEFMessage(decoding: bytes)
    } catch {
      throw .usage("\(path): it is no NDEF message: \(error)")
    }
    return bytes
  }
}
