import Bus
import Names
import ReaderLink

/// What a client wants of a reader session: the options of `StartReaderSession`, checked.
struct ReaderSessionRequest: Sendable, Hashable {
  /// Why a session is not started.
  enum Refusal: Error, Hashable {
    case invalid(String)
    case notPossible(String)
  }

  static let maximumMessage = 256

  /// What the person is told; may be empty.
  var message = ""
  /// The reader; nil takes the one where the user sits.
  var reader: ObjectPath?
  var mayWrite = false
  /// Empty for all.
  var technologies: [String] = []
  var applications: [[UInt8]] = []
  var systemCodes: [UInt16] = []
  /// It ends after the first message, which it reads by itself.
  var isFirstRead = false

  init() {}

  /// - Parameter options: unknown keys are ignored, wrong types refused.
  /// - Throws: `Refusal`, which names the key.
  init(_ options: [String: Value]) throws(Refusal) {
    message = try Self.value(options, "message", "a string", \.asString) ?? ""
    if let problem = PlainText.problem(message, "message", 0...Self.maximumMessage) { throw .invalid(problem) }
    reader = try Self.value(options, "reader", "an object path", \.asObjectPath)
    isFirstRead = try Self.value(options, "first-read", "a boolean", \.asBool) ?? false
    switch try Self.value(options, "access", "a string", \.asString) {
    case nil, "read": break
    case "write": mayWrite = true
    case let other?: throw .invalid("access is \(other.prefix(32).debugDescription): write “read” or “write”")
    }
    technologies = try Self.technologies(try Self.value(options, "technologies", "an array of strings", \.asStrings))
    applications = try Self.list(options, "application-identifiers", "ay", ReaderLimits.applications, \.asBytes)
    for identifier in applications {
      if let problem = CardApplications.problem(declaring: identifier) {
        throw .invalid("application-identifiers: \(problem)")
      }
    }
    systemCodes = try Self.list(options, "system-codes", "q", ReaderLimits.systemCodes, \.asUInt16)
    for code in systemCodes {
      if let problem = CardApplications.problem(declaring: code) { throw .invalid("system-codes: \(problem)") }
    }
  }

  private static func value<T>(
    _ options: [String: Value], _ key: String, _ type: String, _ read: (Value) -> T?
  ) throws(Refusal) -> T? {
    guard let value = options[key] else { return nil }
    guard let result = read(value) else { throw .invalid("\(key) is not \(type)") }
    return result
  }

  private static func list<T>(
    _ options: [String: Value], _ key: String, _ element: String, _ most: Int, _ read: (Value) -> T?
  ) throws(Refusal) -> [T] {
    guard let value = options[key] else { return [] }
    guard case .array(let signature, let values) = value, signature.string == element else {
      throw .invalid("\(key) is not of type a\(element)")
    }
    guard values.count <= most else { throw .invalid("\(key) has \(values.count) entries: at most \(most) are taken") }
    return values.compactMap(read)
  }

  private static func technologies(_ names: [String]?) throws(Refusal) -> [String] {
    guard let names else { return [] }
    guard names.count <= 32 else { throw .invalid("technologies has \(names.count) entries") }
    for name in names where !Names.technologies.contains(name) {
      guard !["type-5", "iso-15693"].contains(name) else {
        throw .notPossible(
          "\(name) is not possible: the readers that libnfc drives work at ISO/IEC 14443 and FeliCa, not at ISO/IEC 15693"
        )
      }
      throw .invalid(
        "technologies: \(name.prefix(32).debugDescription) is no kind of tag: write some of "
          + Names.technologies.joined(separator: ", "))
    }
    // Each once, in our own order.
    return Names.technologies.filter(names.contains)
  }
}
