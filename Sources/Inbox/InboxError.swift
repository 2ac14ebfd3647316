/// Why the inbox refused something.
public struct InboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of refusal it is; more may come.
  public struct Code: Sendable, Hashable {
    private let name: String

    /// No tap has this id.
    public static let unknownTap = Code(name: "unknown-tap")
    /// A tap in this state cannot become that one.
    public static let illegalTransition = Code(name: "illegal-transition")
    /// Neither the file nor memory could hold it.
    public static let storage = Code(name: "storage")
  }

  /// What kind of refusal it is.
  public let code: Code
  /// What happened, to which tap, and what to do where something can be done.
  public let message: String

  static func unknownTap(_ id: String) -> InboxError {
    InboxError(code: .unknownTap, message: "no tap has the id \(id)")
  }

  static let notWritable = InboxError(
    code: .storage, message: "the inbox's file cannot be written now, and nothing was removed; is the disk full?")

  static let inUse = InboxError(
    code: .storage,
    message:
      "another process of this user has the inbox's file, as an agent of another session bus, and nothing was removed; "
      + "ask in that session")

  static func illegalTransition(_ id: String, from: TapState, to: TapState) -> InboxError {
    InboxError(
      code: .illegalTransition, message: "tap \(id) is \(from.rawValue) and cannot become \(to.rawValue)")
  }

  /// The message.
  public var description: String { message }
}
