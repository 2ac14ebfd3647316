import Bus
import Names
import ReaderProtocol

/// The checked options of `StartReaderSession`.
struct ReaderSessionRequest: Sendable, Hashable {
  static let maximumMessage = 256
  /// The most entries of a list, including the ignored ones. All of them are checked on the daemon's event loop.
  static let maximumEntries = 4096

  /// For the user; may be empty, and may have several lines.
  var message = ""
  /// Nil for one on the user's seat.
  var reader: ObjectPath?
  var mayWrite = false
  /// Format a blank tag before the first message is written on it.
  var formatsBlankTags = false
  /// Empty for all technologies.
  var technologies = TagType.readable
  var applications: [[UInt8]] = []
  var systemCodes: [UInt16] = []
  /// Also report a Type 4 card without any of `applications`.
  var reportsUndeclaredCards = false
  /// Select the first of `applications` that a card has when the card is found.
  var selectsApplication = true
  /// The daemon reads the first message itself, and then ends the session.
  var isFirstRead = false
  /// The declared tags that were left out, as a part of a sentence; may be empty.
  var leftOut = ""

  init() {}

  /// Throws `InvalidArgument` or `NotPossible`, with the key in the message. Unknown keys are ignored.
  init(_ options: [String: Value]) throws(BusError) {
    message = try Self.value(options, "message", "a string", \.asString) ?? ""
    try Self.check(message, "message")
    reader = try Self.value(options, "reader", "an object path", \.asObjectPath)
    isFirstRead = try Self.value(options, "first-read", "a boolean", \.asBool) ?? false
    reportsUndeclaredCards = try Self.value(options, "undeclared-cards", "a boolean", \.asBool) ?? false
    selectsApplication = try Self.value(options, "select-application", "a boolean", \.asBool) ?? true
    switch try Self.value(options, "access", "a string", \.asString) {
    case nil, "read": break
    case "write": mayWrite = true
    case let other?:
      throw .invalidArgument("access is \(other.prefix(32).debugDescription): use “read” or “write”")
    }
    formatsBlankTags = try Self.value(options, "format", "a boolean", \.asBool) ?? false
    let wanted = try Wanted(options)
    if !wanted.technologies.isEmpty { technologies = wanted.technologies }
    (applications, systemCodes, leftOut) = (wanted.applications, wanted.systemCodes, wanted.leftOut)
  }

  /// The same request for a part of its technologies, applications and systems: the options of
  /// `RestartPollingWithOptions`. A list that is missing or empty stays as it is. Unknown keys are ignored.
  ///
  /// Throws `InvalidArgument` if the session has not declared all of the tags, with the key in the message.
  func limited(by options: [String: Value]) throws(BusError) -> ReaderSessionRequest {
    let wanted = try Wanted(options)
    var limited = self
    limited.technologies = try Self.part(wanted.technologies, of: technologies, "technologies")
    limited.applications = try Self.part(wanted.applications, of: applications, "application-identifiers")
    limited.systemCodes = try Self.part(wanted.systemCodes, of: systemCodes, "system-codes")
    return limited
  }

  private static func part<T: Equatable>(_ part: [T], of declared: [T], _ key: String) throws(BusError) -> [T] {
    guard part.allSatisfy({ declared.contains($0) }) else {
      throw .invalidArgument("\(key) has entries that the session has not declared")
    }
    return part.isEmpty ? declared : part
  }

  /// A list is empty if the option is missing. Tags that may not be declared are left out, as on iOS: programs that are
  /// written for phones have long lists.
  private struct Wanted {
    let technologies: [TagType]
    let applications: [[UInt8]]
    let systemCodes: [UInt16]
    let leftOut: String

    init(_ options: [String: Value]) throws(BusError) {
      technologies = try ReaderSessionRequest.technologies(
        try ReaderSessionRequest.value(options, "technologies", "an array of strings", \.asStrings))
      let identifiers = try ReaderSessionRequest.list(options, "application-identifiers", "ay", \.asBytes)
      let codes = try ReaderSessionRequest.list(options, "system-codes", "q", \.asUInt16)
      let some = try Self.allowed(identifiers, "application-identifiers", ReaderLimits.applications) {
        CardApplications.problem(declaring: $0)
      }
      let others = try Self.allowed(codes, "system-codes", ReaderLimits.systemCodes) {
        CardApplications.problem(declaring: $0)
      }
      (applications, systemCodes) = (some.allowed, others.allowed)
      leftOut = [some.leftOut, others.leftOut].compactMap(\.self).joined(separator: "; ")
    }

    /// Throws `InvalidArgument` if a list becomes empty, because an empty list would mean every card.
    private static func allowed<T>(
      _ list: [T], _ key: String, _ most: Int, problem: (T) -> String?
    ) throws(BusError) -> (allowed: [T], leftOut: String?) {
      var problems: [String] = []
      var allowed: [T] = []
      for entry in list {
        if let problem = problem(entry) { problems.append(problem) } else { allowed.append(entry) }
      }
      guard list.isEmpty || !allowed.isEmpty else {
        throw .invalidArgument("\(key): \(problems.first ?? "no entry is allowed")")
      }
      var reasons: [String] = []
      if let first = problems.first { reasons.append("\(problems.count) of \(list.count) (\(first))") }
      if allowed.count > most { reasons.append("those after the first \(most)") }
      let leftOut = reasons.isEmpty ? nil : "\(key): \(reasons.joined(separator: " and "))"
      return (Array(allowed.prefix(most)), leftOut)
    }
  }

  /// For a text on the sheet. Throws `InvalidArgument` with its name.
  static func check(_ message: String, _ name: String) throws(BusError) {
    guard let problem = PlainText.problem(message, name, 0...maximumMessage, allowsLineBreaks: true) else { return }
    throw .invalidArgument(problem)
  }

  private static func value<T>(
    _ options: [String: Value], _ key: String, _ type: String, _ read: (Value) -> T?
  ) throws(BusError) -> T? {
    guard let value = options[key] else { return nil }
    guard let result = read(value) else { throw .invalidArgument("\(key) is not \(type)") }
    return result
  }

  private static func list<T>(
    _ options: [String: Value], _ key: String, _ element: String, _ read: (Value) -> T?
  ) throws(BusError) -> [T] {
    guard let value = options[key] else { return [] }
    guard case .array(let signature, let values) = value, signature.string == element else {
      throw .invalidArgument("\(key) is not of type a\(element)")
    }
    guard values.count <= maximumEntries else {
      throw .invalidArgument("\(key) has \(values.count) entries: at most \(maximumEntries) are allowed")
    }
    return values.compactMap(read)
  }

  private static func technologies(_ names: [String]?) throws(BusError) -> [TagType] {
    guard let names else { return [] }
    guard names.count <= 32 else {
      throw .invalidArgument("technologies has \(names.count) entries: at most 32 are allowed")
    }
    let known = TagType.readable.map(\.rawValue)
    // The name of the standard, which clients used before readers for it were supported.
    let wanted = names.map { $0 == "iso-15693" ? TagType.type5.rawValue : $0 }
    for name in wanted where !known.contains(name) {
      throw .invalidArgument(
        "technologies: \(name.prefix(32).debugDescription) is unknown: use "
          + known.joined(separator: ", "))
    }
    return TagType.readable.filter { wanted.contains($0.rawValue) }
  }
}

/// Checks text from a client before it is shown to a person. The text must have a limited length, and no character that
/// a terminal, a log or a notification would interpret.
enum PlainText {
  /// The reason and the remedy; nil if the text is accepted. `bytes` is the allowed length. With `allowsLineBreaks`,
  /// the text may contain U+000A.
  static func problem(
    _ text: String, _ name: String, _ bytes: ClosedRange<Int>, allowsLineBreaks: Bool = false
  ) -> String? {
    guard bytes.contains(text.utf8.count) else {
      return "\(name) has \(text.utf8.count) bytes: give \(bytes.lowerBound) to \(bytes.upperBound)"
    }
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control where scalar == "\n": allowsLineBreaks
      case .control, .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    let remedy = allowsLineBreaks ? "use plain text, with U+000A between lines" : "use plain text"
    return isPlain ? nil : "\(name) contains control characters: \(remedy)"
  }
}
