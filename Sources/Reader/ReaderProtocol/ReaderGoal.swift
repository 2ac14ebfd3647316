/// The goal that the daemon sets for a reader.
package enum ReaderGoal: Sendable, Hashable {
  /// Stay idle, with the field off.
  case off
  /// Poll for tags, and announce those that are not known.
  case scan(ReaderPolling)
  /// Serve a reader session: report every tag that matches its options, including known tags. Keep the tag selected and
  /// powered.
  case session(ReaderSessionOptions)
  /// Keep the device closed, so that another program can open it.
  case lent

  /// Whether the field is on while this goal is in force.
  package var usesField: Bool {
    switch self {
    case .scan, .session: true
    case .off, .lent: false
    }
  }

  /// The options of the reader session; nil for other goals.
  package var session: ReaderSessionOptions? { if case .session(let options) = self { options } else { nil } }

  package var isScan: Bool { if case .scan = self { true } else { false } }
}

extension FrameWriter {
  mutating func write(_ goal: ReaderGoal) {
    switch goal {
    case .off: write(UInt8(0))
    case .scan(let polling):
      write(UInt8(1))
      write(polling)
    case .session(let options):
      write(UInt8(2))
      write(options)
    case .lent: write(UInt8(3))
    }
  }
}

extension FrameReader {
  mutating func goal() throws(ReaderLinkError) -> ReaderGoal {
    switch try integer(UInt8.self) {
    case 0: return .off
    case 1: return .scan(try polling())
    case 2: return .session(try sessionOptions())
    case 3: return .lent
    case let other: throw ReaderLinkError("a goal of the unknown kind \(other)")
    }
  }
}
