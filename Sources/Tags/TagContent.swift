import NDEF

/// What a tag holds, or why there is nothing to hand on.
public enum TagContent: Sendable, Hashable {
  /// An NDEF message that decodes, as it is on the tag.
  case message([UInt8])
  /// No message, and why.
  case problem(TagProblem)
}

/// Why a tag has no message for us: a state of the tag, not a failure of ours.
public struct TagProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problem; a later version may know more.
  public struct Code: Sendable, Hashable {
    let words: String

    private init(_ words: String) { self.words = words }

    /// Formatted for NDEF, and nothing is written on it.
    public static let empty = Code("empty")
    /// Not formatted for NDEF.
    public static let notNDEF = Code("not NDEF")
    /// Formatted for NDEF, and what is written contradicts itself.
    public static let damaged = Code("damaged")
    /// Formatted for NDEF, and not to be written without a password or key.
    public static let protected = Code("protected")
    /// A tag, or a use of it, that cannot be read here.
    public static let unsupported = Code("unsupported")
  }

  /// What kind of problem it is.
  public let code: Code
  /// Whether that is concluded from the tag's silence at a command, which is how tags refuse one, and what a frame that was lost
  /// on the air looks like, too: only if it is so again, it can be believed.
  public let isConcludedFromSilence: Bool
  private let detail: String

  init(_ code: Code, _ detail: String, isConcludedFromSilence: Bool = false) {
    self.code = code
    self.detail = detail
    self.isConcludedFromSilence = isConcludedFromSilence
  }

  /// The kind and the reason: "damaged: the NDEF message is longer than the file that holds it".
  public var description: String { "\(code.words): \(detail)" }
}

extension TagContent {
  static func damaged(_ detail: String) -> TagContent { .problem(TagProblem(.damaged, detail)) }

  static func notNDEF(_ detail: String) -> TagContent { .problem(TagProblem(.notNDEF, detail)) }

  static func unsupported(_ detail: String) -> TagContent { .problem(TagProblem(.unsupported, detail)) }

  static var empty: TagContent { .problem(TagProblem(.empty, "the tag holds no message")) }

  /// What was written as the NDEF message of a tag.
  static func written(_ bytes: [UInt8]) -> TagContent {
    if bytes.isEmpty { return .empty }
    do throws(NDEFError) {
      _ = try NDEFMessage(decoding: bytes)
      return .message(bytes)
    } catch {
      return .damaged("the NDEF message does not decode, \(error)")
    }
  }
}
