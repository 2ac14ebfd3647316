public import Bus
import Names

/// What a reader session is started with (`StartReaderSession` of `org.tagroute.Tagroute1`).
public struct ReaderSessionOptions: Sendable, Hashable {
  /// What may be done with the tags that are found.
  public enum Access: String, Sendable, Hashable {
    /// They are read; the polkit action `org.tagroute.Tagroute1.read-tags`.
    case read
    /// They may be written and locked, too; the polkit action `org.tagroute.Tagroute1.write-tags`.
    case write
  }

  /// What the person at the machine is told to do: plain text without control characters, at most 256 bytes.
  public var message: String
  /// The reader's object path; nil is the first one that is ready on the seat where the user sits.
  public var reader: ObjectPath?
  /// What may be done with the tags.
  public var access: Access
  /// The kinds of tags that are wanted, `type-2` for instance; none stands for all.
  public var technologies: [String]
  /// The applications of ISO-DEP cards, 5 to 16 bytes each, at most 16: they are selected in this order, and a card that has
  /// none of them is not reported. None: every card is reported. Raw commands select no others but NDEF's.
  public var applicationIdentifiers: [[UInt8]]
  /// The systems of FeliCa cards, at most 8, without a byte FF: a card that has none of them is not reported. None: every
  /// card is reported. Raw commands reach no others but NDEF's.
  public var systemCodes: [UInt16]
  /// Whether each tag's NDEF message is read, the first is told, and the session ends then.
  public var endsAfterFirstRead: Bool

  /// - Parameters:
  ///   - message: what the person at the machine is told to do.
  ///   - reader: the reader's object path; nil is the first one that is ready.
  ///   - access: what may be done with the tags.
  ///   - technologies: the kinds of tags that are wanted; none stands for all.
  ///   - applicationIdentifiers: the applications of ISO-DEP cards.
  ///   - systemCodes: the systems of FeliCa cards.
  ///   - endsAfterFirstRead: whether the session ends after the first message.
  public init(
    message: String = "", reader: ObjectPath? = nil, access: Access = .read, technologies: [String] = [],
    applicationIdentifiers: [[UInt8]] = [], systemCodes: [UInt16] = [], endsAfterFirstRead: Bool = false
  ) {
    self.message = message
    self.reader = reader
    self.access = access
    self.technologies = technologies
    self.applicationIdentifiers = applicationIdentifiers
    self.systemCodes = systemCodes
    self.endsAfterFirstRead = endsAfterFirstRead
  }

  /// The options as the bus has them; what is not asked for is left away.
  var value: Value {
    var options: [String: Value] = ["access": .string(access.rawValue)]
    if !message.isEmpty { options["message"] = .string(message) }
    options["reader"] = reader.map(Value.objectPath)
    if !technologies.isEmpty { options["technologies"] = .strings(technologies) }
    if !applicationIdentifiers.isEmpty {
      options["application-identifiers"] = .array(element: "ay", applicationIdentifiers.map(Value.bytes))
    }
    if !systemCodes.isEmpty { options["system-codes"] = .array(element: "q", systemCodes.map(Value.uint16)) }
    if endsAfterFirstRead { options["first-read"] = .boolean(true) }
    return .dictionary(options)
  }
}
