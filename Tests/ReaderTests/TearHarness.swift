import ReaderSimulator
import Tags

@testable import Reader

/// Lets something go wrong at every exchange of an action, puts the tag back and looks at what is on it: through the real
/// libnfc and the simulated chip. What goes wrong is, if nothing else is said, that the tag is torn away, once before it hears
/// the frame and once after.
///
///     let walk = TearWalk(.typeA) { try .type2(.ntag215, message: message) }
///     let report = try await walk.reading(message)
///     #expect(report.findings.isEmpty)
///     #expect(report.exchanges == 3)
struct TearWalk: Sendable {
  /// One thing that can go wrong.
  struct Accident: Sendable {
    /// What became of the tag: "torn away at exchange".
    let words: String
    /// Whether the tag is still there, so that each failure is one of the moment.
    let leavesTag: Bool
    let fault: @Sendable (_ exchange: Int) -> Fault

    static let tearing = [
      Accident(words: "torn away at exchange", leavesTag: false) { .removal(exchange: $0) },
      Accident(words: "torn away, once it has heard it, at exchange", leavesTag: false) {
        .removal(exchange: $0, heard: true)
      },
    ]
  }

  /// What came of it.
  struct Report: Sendable {
    /// Exchanges that the action takes where nothing is torn.
    var exchanges = 0
    /// What should not have happened, in words; empty is good.
    var findings: [String] = []
  }

  /// What became of a tag's memory, which says all of it: reading a memory once is enough.
  private struct Aftermath {
    /// What is read from it.
    let content: TagContent
    /// What another attempt at the same then came to, where that was tried.
    let again: Again
  }

  /// What another attempt came to.
  private enum Again {
    case notTried
    /// There was something to do, and it was done.
    case done
    /// Nothing was left to do.
    case needless
    case failed(String)

    var failure: String? { if case .failed(let words) = self { words } else { nil } }
  }

  /// What one placement came to.
  private struct Placement {
    /// What went wrong; nil where nothing did.
    let accident: Accident?
    /// What the action threw.
    let failure: (any Error)?
    /// What is on the tag afterwards.
    let content: TagContent
    let again: Again
    /// Whether the tag's memory is as it was before.
    let isUntouched: Bool
    /// Exchanges that the action took.
    let exchanges: UInt64
  }

  /// No action takes more exchanges.
  static let most = 4_000

  let modulation: Modulation
  /// What a tag says that was torn away while it was written, where its specification has a mark for that.
  private let unfinished: String?
  private let accidents: [Accident]
  /// At every so manieth exchange.
  private let stride: Int
  let makeTag: @Sendable () throws -> SimulatedTag

  /// - Parameters:
  ///   - modulation: what finds the tag.
  ///   - unfinished: the problem that a tag torn away while it was written says of itself, where its specification has a
  ///     mark for that.
  ///   - accidents: what goes wrong.
  ///   - stride: at every so manieth exchange only, where there are very many.
  ///   - makeTag: makes the tag as it is before, always the same.
  init(
    _ modulation: Modulation, unfinished: String? = nil, accidents: [Accident] = Accident.tearing, stride: Int = 1,
    makeTag: @escaping @Sendable () throws -> SimulatedTag
  ) {
    self.modulation = modulation
    self.unfinished = unfinished
    self.accidents = accidents
    self.stride = stride
    self.makeTag = makeTag
  }

  /// Reading yields the message on the tag or none, and changes nothing.
  func reading(_ message: [UInt8]) async throws -> Report {
    try await walk { channel in
      let content = try channel.tag.readNDEF(over: &channel)
      guard Self.holds(content, message) else { throw Unexpected(content: content) }
    } again: { _ in
      .notTried
    } judge: { placement in
      if let unexpected = placement.failure as? Unexpected, !isPassing(unexpected.content, placement.accident) {
        return "was read as \(unexpected.content)"
      }
      if !placement.isUntouched { return "was written to" }
      if placement.accident == nil, let failure = placement.failure { return "cannot be read: \(failure)" }
      return Self.holds(placement.content, message) ? nil : "holds \(placement.content) now"
    }
  }

  /// A torn write leaves the old message where nothing was changed, else none or the new one, and the tag can be
  /// written again.
  func writing(_ message: [UInt8], over old: [UInt8]) async throws -> Report {
    try await walk { channel in
      try channel.tag.writeNDEF(message, over: &channel)
    } again: { channel in
      do {
        try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
        return .done
      } catch {
        return .failed("cannot be written again: \(error)")
      }
    } judge: { placement in
      let isWritten = Self.holds(placement.content, message)
      if placement.failure == nil, !isWritten { return "counts as written, and holds \(placement.content)" }
      if placement.accident == nil, let failure = placement.failure { return "cannot be written: \(failure)" }
      let isOld = placement.isUntouched && Self.holds(placement.content, old)
      return isWritten || isOld || isNone(placement.content) ? nil : "holds \(placement.content) now"
    }
  }

  /// A torn lock leaves the message, and the tag can be locked after all.
  func locking(_ message: [UInt8]) async throws -> Report {
    // Not all that locks a tag is in what is called its memory.
    try await walk(knowsMemories: false) { channel in
      try channel.tag.lockNDEF(over: &channel)
    } again: { channel in
      do {
        var again = Again.done
        do { try channel.tag.lockNDEF(over: &channel) } catch TagWriteError.readOnly { again = .needless }
        let status = try channel.tag.queryNDEF(over: &channel)
        guard status.access == .readOnly else { return .failed("is \(status.access.rawValue) after all") }
        let content = try channel.tag.readNDEF(over: &channel)
        return Self.holds(content, message) ? again : .failed("holds \(content) after all")
      } catch {
        return .failed("cannot be locked again: \(error)")
      }
    } judge: { placement in
      guard Self.holds(placement.content, message) else { return "holds \(placement.content) now" }
      if placement.accident == nil, let failure = placement.failure { return "cannot be locked: \(failure)" }
      // What was locked to the end says so.
      if placement.failure == nil, case .done = placement.again { return "counts as locked, and was not wholly" }
      return nil
    }
  }

  /// Whether a failure is stated as one that another attempt may not have.
  private func isPassing(_ content: TagContent, _ accident: Accident?) -> Bool {
    accident?.leavesTag == true && Reading(content).isDoubtful()
  }

  private struct Unexpected: Error { let content: TagContent }

  private func walk(
    knowsMemories: Bool = true,
    _ act: @escaping @Sendable (inout TargetChannel) throws -> Void,
    again: @escaping @Sendable (inout TargetChannel) -> Again,
    judge: @escaping @Sendable (Placement) -> String?
  ) async throws -> Report {
    try await withOpenReader { reader in
      // One tag for all: what is known of a memory would not be known of one with another UID.
      let original = try makeTag()
      var known: [[UInt8]: Aftermath]? = knowsMemories ? [:] : nil
      var report = Report()
      let usual = try place(original, reader, nil, &known, act, again).exchanges
      for accident in accidents {
        var isStruck = false
        for number in Swift.stride(from: 1, through: Self.most, by: stride) {
          let placement = try place(original, reader, (accident, number), &known, act, again)
          let moment = placement.accident.map { "\($0.words) \(number)" } ?? "left alone"
          if let finding = judge(placement) ?? placement.again.failure {
            report.findings.append("a tag \(moment) \(finding)")
          }
          if placement.exchanges > 2 * usual + 8 {
            report.findings.append("a tag \(moment) takes \(placement.exchanges) exchanges instead of \(usual)")
          }
          guard placement.accident != nil else { break }
          isStruck = true
          report.exchanges = max(report.exchanges, number)
          if number == Self.most { report.findings.append("it goes on after \(number) exchanges") }
        }
        if !isStruck { report.findings.append("nothing was \(accident.words)") }
      }
      return report
    }
  }

  private func place(
    _ original: SimulatedTag, _ reader: borrowing OpenReader, _ planned: (accident: Accident, exchange: Int)?,
    _ known: inout [[UInt8]: Aftermath]?, _ act: (inout TargetChannel) throws -> Void,
    _ again: (inout TargetChannel) -> Again
  ) throws -> Placement {
    let fault = planned.map { $0.accident.fault($0.exchange) }
    let attempt = try reader.attempt(on: original, modulation, fault, act)
    let memory = reader.memory(of: attempt.tag)
    let aftermath = try known?[memory] ?? aftermath(of: attempt.tag, reader, again)
    known?[memory] = aftermath
    return Placement(
      accident: attempt.isStruck ? planned?.accident : nil, failure: attempt.failure, content: aftermath.content,
      again: aftermath.again, isUntouched: memory == attempt.before, exchanges: attempt.exchanges)
  }

  private func aftermath(
    of tag: SimulatedTag, _ reader: borrowing OpenReader, _ again: (inout TargetChannel) -> Again
  ) throws -> Aftermath {
    try reader.withTag(tag, modulation) { channel in
      let content = try channel.tag.readNDEF(over: &channel)
      return Aftermath(content: content, again: again(&channel))
    }
  }

  static func holds(_ content: TagContent, _ message: [UInt8]) -> Bool {
    switch content {
    case .message(let bytes): bytes == message
    case .problem(let problem): message.isEmpty && problem.code == .empty
    }
  }

  private func isNone(_ content: TagContent) -> Bool {
    guard case .problem(let problem) = content else { return false }
    return problem.description == unfinished || problem.code == .empty || problem.code == .notNDEF
  }
}
