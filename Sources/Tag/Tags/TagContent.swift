import NDEF

/// The message on a tag, or why there is none.
package enum TagContent: Sendable, Hashable {
  /// It decodes. The bytes are as on the tag.
  case message([UInt8])
  case problem(TagProblem)
}

/// Why a tag has no usable message. It describes the state of the tag, not a failed exchange.
package struct TagProblem: Error, Sendable, Hashable, CustomStringConvertible {
  package struct Code: Sendable, Hashable {
    let words: String

    private init(_ words: String) { self.words = words }

    /// Formatted for NDEF, but without a message.
    package static let empty = Code("empty")
    /// Not formatted for NDEF.
    package static let notNDEF = Code("not NDEF")
    /// Not formatted for NDEF, but it can be. Only writing finds this out.
    package static let blank = Code("blank")
    /// Formatted for NDEF, but its contents contradict each other.
    package static let damaged = Code("damaged")
    /// Formatted for NDEF, but writing requires a password or key.
    package static let protected = Code("protected")
    /// A tag, or a use of a tag, that this module does not support.
    package static let unsupported = Code("unsupported")
  }

  package let code: Code
  /// Whether the problem is concluded from the tag's silence after a command. Tags refuse commands by silence, but a
  /// lost frame looks the same. Trust the conclusion only if a retry confirms it.
  package let isConcludedFromSilence: Bool
  /// The damaged contents, as far as they were read, at most ``mostContents`` bytes: the undecodable message, or the
  /// memory. Empty if no memory was read. They never decode as a message.
  package private(set) var contents: [UInt8] = []
  private let detail: String

  /// The most bytes of damaged contents that are kept.
  package static let mostContents = 4096

  /// The memory of a damaged tag may happen to decode as a message. Then the last byte is left out, so that no later
  /// stage opens that message.
  func holding(_ bytes: [UInt8]) -> TagProblem {
    var problem = self
    problem.contents = Array(bytes.prefix(Self.mostContents))
    if (try? NDEFMessage(decoding: problem.contents)) != nil { _ = problem.contents.popLast() }
    return problem
  }

  init(_ code: Code, _ detail: String, isConcludedFromSilence: Bool = false) {
    self.code = code
    self.detail = detail
    self.isConcludedFromSilence = isConcludedFromSilence
  }

  /// For a caller who wants to format the tag.
  var notFormattable: TagProblem {
    TagProblem(
      code, "\(detail), and it is not a blank tag that can be formatted",
      isConcludedFromSilence: isConcludedFromSilence)
  }

  /// For example "damaged: the NDEF message is longer than the file that holds it".
  package var description: String { "\(code.words): \(detail)" }
}

extension TagContent {
  static func damaged(_ detail: String) -> TagContent { .problem(TagProblem(.damaged, detail)) }

  static func notNDEF(_ detail: String) -> TagContent { .problem(TagProblem(.notNDEF, detail)) }

  static func unsupported(_ detail: String) -> TagContent { .problem(TagProblem(.unsupported, detail)) }

  static var empty: TagContent { .problem(TagProblem(.empty, "the tag holds no message")) }

  /// `bytes` are the tag's NDEF message. Zeros behind a complete message are left out: some writers round its length
  /// up.
  static func written(_ bytes: [UInt8]) -> TagContent {
    if bytes.isEmpty { return .empty }
    do throws(NDEFError) {
      _ = try NDEFMessage(decoding: bytes)
      return .message(bytes)
    } catch {
      if error.code == .trailingBytes, bytes[error.offset...].allSatisfy({ $0 == 0 }) {
        return .message(Array(bytes[..<error.offset]))
      }
      let problem = TagProblem(.damaged, "the NDEF message does not decode, \(error)")
      return .problem(problem.holding(bytes))
    }
  }
}

/// The NDEF access and capacity of a tag.
package struct NDEFStatus: Sendable, Hashable {
  /// The same three values as in Core NFC.
  package enum Access: String, Sendable, Hashable {
    case notSupported = "not supported"
    case readWrite = "read-write"
    case readOnly = "read-only"
  }

  package let access: Access
  /// Of the longest NDEF message, in bytes; 0 if NDEF is not supported.
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

/// The known part of a tag's memory, by byte address.
struct TagMemory {
  private var bytes: [UInt8?]

  init(size: Int) { bytes = [UInt8?](repeating: nil, count: size) }

  /// Nil if the byte is unknown or the address is out of range.
  subscript(address: Int) -> UInt8? { bytes.indices.contains(address) ? bytes[address] : nil }

  /// Ignores bytes that are out of range.
  mutating func learn(_ new: some Sequence<UInt8>, at start: Int) {
    for (offset, byte) in new.enumerated() where bytes.indices.contains(start + offset) {
      bytes[start + offset] = byte
    }
  }

  /// In the order of the addresses.
  func known(at addresses: some Sequence<Int>) -> [UInt8] { addresses.compactMap { self[$0] } }
}
