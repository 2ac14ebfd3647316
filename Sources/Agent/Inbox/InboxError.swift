/// A call that the inbox refused.
package struct InboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of refusal; later versions may add some.
  package struct Code: Sendable, Hashable {
    private let name: String

    /// No tap has this id.
    package static let unknownTap = Code(name: "unknown-tap")
    /// A tap in this state cannot move to that state.
    package static let illegalTransition = Code(name: "illegal-transition")
    /// The file cannot be written.
    package static let storage = Code(name: "storage")
  }

  /// The kind of refusal.
  package let code: Code
  /// What happened, to which tap, and how to fix it if that is possible.
  package let message: String

  static func unknownTap(_ id: String) -> InboxError {
    InboxError(code: .unknownTap, message: "no tap has the id \(id)")
  }

  static let notWritable = InboxError(
    code: .storage, message: "the inbox's file cannot be written now, so nothing was removed; is the disk full?")

  static let inUse = InboxError(
    code: .storage,
    message:
      "another process of this user has the inbox's file, for example the agent of another session bus. Nothing was removed; "
      + "try it in that session")

  static func illegalTransition(_ id: String, from: TapState, to: TapState) -> InboxError {
    InboxError(
      code: .illegalTransition, message: "tap \(id) is \(from.rawValue) and cannot become \(to.rawValue)")
  }

  /// The message.
  package var description: String { message }
}
