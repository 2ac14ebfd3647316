public import Bus
import Names

/// The options of a new reader session (`StartReaderSession` of `org.tagroute.Tagroute1`).
public struct ReaderSessionOptions: Sendable, Hashable {
  /// The operations that are allowed on the tags that are found.
  public enum Access: String, Sendable, Hashable {
    /// Reading; the polkit action `org.tagroute.Tagroute1.read-tags`.
    case read
    /// Also writing and locking; the polkit action `org.tagroute.Tagroute1.write-tags`.
    case write
  }

  /// The instruction for the user: plain text of at most 256 bytes, without control characters except U+000A, which
  /// begins a line. A daemon with interface version 1 refuses that one, too.
  public var message: String
  /// The reader's object path; nil for the first one that is ready on the user's seat.
  public var reader: ObjectPath?
  /// The operations that are allowed on the tags.
  public var access: Access
  /// The kinds of tags to report, such as `type-2`; all if empty.
  public var technologies: [String]
  /// The applications of ISO-DEP cards, 5 to 16 bytes each, at most 512. They are selected in this order. The daemon
  /// reports only cards that have at least one of them, unless `reportsUndeclaredCards` is set. If the list is empty,
  /// every card is reported. Raw commands select only these and NDEF's.
  public var applicationIdentifiers: [[UInt8]]
  /// The systems of FeliCa cards, at most 64, without a byte FF. The daemon reports only cards that have at least one of
  /// them. If the list is empty, every card is reported. Raw commands reach only these and NDEF's.
  public var systemCodes: [UInt16]
  /// Whether to read each tag's NDEF message, report the first one, and then end the session.
  public var endsAfterFirstRead: Bool
  /// Whether to report an ISO-DEP card that has none of `applicationIdentifiers`, too, with an empty
  /// `selectedApplication`. A daemon with interface version 1 ignores this.
  public var reportsUndeclaredCards: Bool
  /// Whether the first of `applicationIdentifiers` that a card has is selected when the card is found. If not, every
  /// ISO-DEP card is reported, and raw commands may select these applications. A passport, for example, begins with
  /// PACE on its master file. A daemon with interface version 1 ignores this.
  public var selectsApplication: Bool
  /// Whether writing formats a blank tag first, which overwrites what is stored on it. Without it, writing to such a
  /// tag fails with ``TagFailure/notFormatted``. A daemon with interface version 1 ignores this.
  public var formatsBlankTags: Bool

  /// - Parameters:
  ///   - message: the instruction for the user.
  ///   - reader: the reader's object path; nil for the first one that is ready.
  ///   - access: the operations that are allowed on the tags.
  ///   - technologies: the kinds of tags to report; all if empty.
  ///   - applicationIdentifiers: the applications of ISO-DEP cards.
  ///   - systemCodes: the systems of FeliCa cards.
  ///   - endsAfterFirstRead: whether the session ends after the first message.
  ///   - reportsUndeclaredCards: whether to report ISO-DEP cards without any of these applications.
  ///   - selectsApplication: whether one of these applications is selected when a card is found.
  ///   - formatsBlankTags: whether writing formats a blank tag first.
  public init(
    message: String = "", reader: ObjectPath? = nil, access: Access = .read, technologies: [String] = [],
    applicationIdentifiers: [[UInt8]] = [], systemCodes: [UInt16] = [], endsAfterFirstRead: Bool = false,
    reportsUndeclaredCards: Bool = false, selectsApplication: Bool = true, formatsBlankTags: Bool = false
  ) {
    self.message = message
    self.reader = reader
    self.access = access
    self.technologies = technologies
    self.applicationIdentifiers = applicationIdentifiers
    self.systemCodes = systemCodes
    self.endsAfterFirstRead = endsAfterFirstRead
    self.reportsUndeclaredCards = reportsUndeclaredCards
    self.selectsApplication = selectsApplication
    self.formatsBlankTags = formatsBlankTags
  }

  /// The options as the bus has them, without unset ones.
  var value: Value {
    var options: [String: Value] = ["access": .string(access.rawValue)]
    if !message.isEmpty { options["message"] = .string(message) }
    options["reader"] = reader.map(Value.objectPath)
    options.merge(Self.tags(technologies, applicationIdentifiers, systemCodes)) { $1 }
    if endsAfterFirstRead { options["first-read"] = .boolean(true) }
    if reportsUndeclaredCards { options["undeclared-cards"] = .boolean(true) }
    if !selectsApplication { options["select-application"] = .boolean(false) }
    if formatsBlankTags { options["format"] = .boolean(true) }
    return .dictionary(options)
  }

  /// The options that choose tags as the bus has them, without empty ones.
  static func tags(
    _ technologies: [String], _ applicationIdentifiers: [[UInt8]], _ systemCodes: [UInt16]
  ) -> [String: Value] {
    var options: [String: Value] = [:]
    if !technologies.isEmpty { options["technologies"] = .strings(technologies) }
    if !applicationIdentifiers.isEmpty {
      options["application-identifiers"] = .array(element: "ay", applicationIdentifiers.map(Value.bytes))
    }
    if !systemCodes.isEmpty { options["system-codes"] = .array(element: "q", systemCodes.map(Value.uint16)) }
    return options
  }
}
