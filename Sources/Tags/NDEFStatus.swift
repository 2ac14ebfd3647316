/// The NDEF access and capacity of a tag.
public struct NDEFStatus: Sendable, Hashable {
  /// The same three values as in Core NFC.
  public enum Access: String, Sendable, Hashable {
    case notSupported = "not supported"
    case readWrite = "read-write"
    case readOnly = "read-only"
  }

  /// How the tag can be accessed.
  public let access: Access
  /// The length in bytes of the longest NDEF message that fits; 0 if NDEF is not supported.
  public let capacity: Int
  /// Why NDEF is not supported, or why a password or key makes the tag read-only; else nil.
  public let problem: TagProblem?

  init(capacity: Int, isWritable: Bool) {
    access = isWritable ? .readWrite : .readOnly
    self.capacity = capacity
    problem = nil
  }

  init(readOnly problem: TagProblem, capacity: Int) {
    access = .readOnly
    self.capacity = capacity
    self.problem = problem
  }

  init(notSupported problem: TagProblem) {
    access = .notSupported
    capacity = 0
    self.problem = problem
  }
}

/// Why a tag was not written or locked. Unless a case says otherwise, the tag still holds its previous message.
public enum TagWriteError: Error, Sendable, Hashable {
  /// An exchange failed. If writing had begun, the tag may hold no message now.
  case channel(TagChannelError)
  /// The tag cannot be written for this reason.
  case refused(TagProblem)
  /// The tag is read-only.
  case readOnly
  /// The message does not fit. The longest one that fits has `capacity` bytes.
  case tooLong(capacity: Int)
  /// The tag cannot be made read-only. The text names what it would need.
  case cannotLock(String)
  /// The message read back differs from the message written.
  case notAsWritten

  /// Runs `body` and converts its error.
  static func onChannel<Result>(
    _ body: () throws(TagChannelError) -> Result
  ) throws(TagWriteError) -> Result {
    do throws(TagChannelError) {
      return try body()
    } catch {
      throw .channel(error)
    }
  }
}

extension TagWriteError: CustomStringConvertible {
  /// A sentence for people: "the tag is read-only".
  public var description: String {
    switch self {
    case .channel(let error): error.reason
    case .refused(let problem): problem.description
    case .readOnly: "the tag is read-only"
    case .tooLong(let capacity): "the message does not fit: the tag has room for \(capacity) bytes"
    case .cannotLock(let reason): reason
    case .notAsWritten: "the tag does not hold what was written to it; it may be worn out"
    }
  }
}
