/// The NDEF access and capacity of a tag.
package struct NDEFStatus: Sendable, Hashable {
  /// The same three values as in Core NFC.
  package enum Access: String, Sendable, Hashable {
    case notSupported = "not supported"
    case readWrite = "read-write"
    case readOnly = "read-only"
  }

  /// How the tag can be accessed.
  package let access: Access
  /// The length in bytes of the longest NDEF message that fits; 0 if NDEF is not supported.
  package let capacity: Int
  /// Why NDEF is not supported, or why a password or key makes the tag read-only; else nil.
  package let problem: TagProblem?

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
