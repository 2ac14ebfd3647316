/// What can be done with a tag, and how much goes on it.
public struct NDEFStatus: Sendable, Hashable {
  /// The three that Core NFC has, too.
  public enum Access: String, Sendable, Hashable {
    case notSupported = "not supported"
    case readWrite = "read-write"
    case readOnly = "read-only"
  }

  /// What can be done.
  public let access: Access
  /// The most bytes that an NDEF message on it can have; 0 where it is not supported.
  public let capacity: Int
  /// Why it is not supported, or why it is read-only where a password or key makes it so; else nil.
  public let problem: TagProblem?

  /// - Parameters:
  ///   - capacity: bytes of the longest message.
  ///   - isWritable: whether anybody may write it.
  init(capacity: Int, isWritable: Bool) {
    access = isWritable ? .readWrite : .readOnly
    self.capacity = capacity
    problem = nil
  }

  /// - Parameters:
  ///   - problem: why it is read-only.
  ///   - capacity: bytes of the longest message.
  init(readOnly problem: TagProblem, capacity: Int) {
    access = .readOnly
    self.capacity = capacity
    self.problem = problem
  }

  /// - Parameter problem: why not.
  init(notSupported problem: TagProblem) {
    access = .notSupported
    capacity = 0
    self.problem = problem
  }
}

/// Why a tag was not written or locked. Where that is not said otherwise, what was on it is still there.
public enum TagWriteError: Error, Sendable, Hashable {
  /// An exchange failed; once writing has begun the tag may be empty now.
  case channel(TagChannelError)
  /// The tag cannot be written for this reason.
  case refused(TagProblem)
  /// The tag is read-only.
  case readOnly
  /// The message does not fit.
  ///
  /// - Parameter capacity: bytes that do.
  case tooLong(capacity: Int)
  /// The tag cannot be made read-only; what would be needed is in the text.
  case cannotLock(String)
  /// What was read back is not what was written.
  case notAsWritten

  /// Does something on the channel.
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
  /// What happened, for a person: "the tag is read-only".
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
