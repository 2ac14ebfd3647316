import Bus
import NDEF
import Names
import TagrouteClient

extension Command {
  static let resolve = Command(
    name: "resolve", summary: "show what a tag would do, and why", arguments: "[URI]",
    details: "The tag holds the link URI. Opens no app, and runs no program.",
    options: [
      .init("explain", "print every step, each rule that was tried, and why each app won or lost"),
      .init("uid", "UID", "ask for the tag with this UID, such as 04A2195A"),
      .init("technology", "TECHNOLOGY", "ask for a tag of this technology, such as type-2"),
      .init("reader", "READER", "ask for a tag on this reader: its number, name or device"),
      .init("type", "TYPE", "add an empty record of this media type or external type to the tag"),
      .init(
        "message", "FILE", "ask for a tag with this NDEF message; - is standard input", formArguments: ""),
    ]
  ) { arguments, console throws(Failure) in
    let uid = try TagToResolve.uid(arguments)
    let message = try await TagToResolve.message(arguments)
    let reader = try await TagToResolve.reader(arguments)
    let link = arguments.words.first
    let isLinkAlone = !["uid", "technology", "reader", "type", "message"].contains(where: arguments.has)
    let agent = try await AgentClient.own()
    let resolution = try await Failure.asking(.agent) { () throws(BusError) in
      if isLinkAlone, let link { return try await agent.resolve(link) }
      return try await agent.resolve(
        uid: uid, message: message, technology: arguments.options["technology"], reader: reader)
    }
    let isExplained = arguments.has("explain")
    try console.answer(
      resolution,
      (isExplained ? resolution.explanation : []) + [verdict(of: resolution, isExplained: isExplained)])
    return 0
  }

  /// Most reasons name the app.
  static func verdict(of resolution: Resolution, isExplained: Bool = false) -> String {
    guard let handler = resolution.handler.map(AppID.text) else { return "\(resolution.kind): \(resolution.reason)" }
    if isExplained, resolution.repeatsClaim { return "\(resolution.kind): \(handler)" }
    return resolution.reason.contains(handler) ? resolution.reason : "\(handler): \(resolution.reason)"
  }
}

/// The tag that the options of `resolve` describe.
private enum TagToResolve {
  static func uid(_ arguments: Arguments) throws(Failure) -> [UInt8] {
    guard let text = arguments.options["uid"] else { return [] }
    guard let uid = UIDText.bytes(text) else { throw .usage("--uid takes 4 to 10 bytes, such as 04A2195A") }
    return uid
  }

  /// The object path of a reader. The tag need not exist, nor its reader.
  static func reader(_ arguments: Arguments) async throws(Failure) -> String? {
    guard let text = arguments.options["reader"] else { return nil }
    let readers = (try? await DaemonClient.own().status(timeout: .seconds(5)).readers) ?? []
    guard readers.contains(where: { ReaderChoice.matches($0, text) }) else { return text }
    var choice = ReaderChoice(text)
    return try choice.choose(among: readers).string
  }

  /// Nil for a tag without a message.
  static func message(_ arguments: Arguments) async throws(Failure) -> [UInt8]? {
    let (link, type) = (arguments.words.first, arguments.options["type"])
    if let file = arguments.options["message"] {
      guard type == nil else { throw .usage("use only one of --message and --type") }
      return try await MessageToWrite.message(inFile: file)
    }
    var records = link.map { NDEFMessage.uri($0).records } ?? []
    if let type {
      // As in rules, a media type has a slash, and an external type a colon.
      let format: TypeNameFormat = type.contains("/") || !type.contains(":") ? .mediaType : .external
      records.append(NDEFRecord(typeNameFormat: format, type: Array(type.utf8)))
    }
    guard !records.isEmpty else {
      guard ["uid", "technology", "reader"].contains(where: arguments.has) else {
        throw .usage("give a URI, or an option that describes the tag")
      }
      return nil
    }
    do throws(NDEFError) { return try NDEFMessage(records: records).encoded() } catch {
      throw .usage("no tag can hold this: \(error)")
    }
  }
}
