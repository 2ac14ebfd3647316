import Bus
import NDEF
import TagrouteClient

extension Command {
  static let write = Command(
    name: "write", summary: "wait for a tag, write a message on it and read it back",
    details: """
      Replaces the message on the tag. Give exactly one of --uri, --text,
      --smart-poster and --ndef.

      \(TagCommand.exitHelp)
      """,
    options: [
      .init("uri", "URI", "write a link"),
      .init("text", "TEXT", "write a text"),
      .init("smart-poster", "URI", "write a link with a title"),
      .init("ndef", "FILE", "write the bytes of a message; - is standard input"),
      .init("language", "LANGUAGE", "set the language of the text or the title; the default is en"),
      .init("title", "TITLE", "set the title of the Smart Poster"),
    ] + TagCommand.options, words: 0...0
  ) { arguments, console throws(Failure) in
    let message = try await MessageToWrite.bytes(arguments)
    let options = ReaderSessionOptions(
      message: SheetMessages.write, access: .write)
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      try await tag.attempt { tag throws(BusError) in try await tag.writeNDEF(message) }
      let uid = Hexadecimal.text(tag.uid)
      try await output.answer(
        ["technology": tag.technology, "uid": uid, "written": message.count] as JSON,
        ["\(tag.technology) \(uid): \(message.count) bytes written and read back"])
    }.run()
  }
}

/// The message that the options of `write` describe.
enum MessageToWrite {
  static func bytes(_ arguments: Arguments) async throws(Failure) -> [UInt8] {
    let kinds = ["uri", "text", "smart-poster", "ndef"].filter(arguments.has)
    guard kinds.count == 1, let kind = kinds.first, let value = arguments.options[kind] else {
      throw .usage("use exactly one of --uri, --text, --smart-poster and --ndef")
    }
    guard !arguments.has("title") || kind == "smart-poster" else { throw .usage("--title needs --smart-poster") }
    guard !arguments.has("language") || kind == "text" || arguments.has("title") else {
      throw .usage("--language needs --text or --title")
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

  /// More bytes than any tag can hold.
  private static let limit = 1 << 20

  private static func file(_ path: String) async throws(Failure) -> [UInt8] {
    let bytes = try await BlockingRead.file(path, limit: limit)
    guard bytes.count <= limit else { throw .usage("\(path) has more than \(limit) bytes") }
    do throws(NDEFError) {
      _ = try NDEFMessage(decoding: bytes)
    } catch {
      throw .usage("\(path) is not an NDEF message: \(error)")
    }
    return bytes
  }
}
