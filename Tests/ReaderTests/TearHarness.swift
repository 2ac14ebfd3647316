import ReaderSimulator
import Tags

@testable import Reader

/// Tears a tag away at every exchange of an action, once before the tag hears the frame and once after, puts it back and
/// looks at what is on it: through the real libnfc and the simulated chip.
///
///     let walk = TearWalk(.typeA) { try .type2(.ntag215, message: message) }
///     let report = try await walk.reading(message)
///     #expect(report.findings.isEmpty)
///     #expect(report.exchanges == 3)
struct TearWalk: Sendable {
  /// What came of it.
  struct Report: Sendable {
    /// Exchanges that the action takes where nothing is torn.
    var exchanges = 0
    /// What should not have happened, in words; empty is good.
    var findings: [String] = []
  }

  /// What one placement came to.
  private struct Placement {
    let isTorn: Bool
    /// What the action threw.
    let failure: (any Error)?
    /// What is on the tag afterwards.
    let content: TagContent
    /// Whether the tag's memory is as it was before.
    let isUntouched: Bool
  }

  /// No action takes more exchanges.
  private static let most = 4_000

  private let modulation: Modulation
  /// What a tag says that was torn away while it was written, where its specification has a mark for that.
  private let unfinished: String?
  private let makeTag: @Sendable () throws -> SimulatedTag

  /// - Parameters:
  ///   - modulation: what finds the tag.
  ///   - unfinished: the problem that a tag torn away while it was written says of itself, where its specification has a
  ///     mark for that.
  ///   - makeTag: makes the tag as it is before, always the same.
  init(_ modulation: Modulation, unfinished: String? = nil, makeTag: @escaping @Sendable () throws -> SimulatedTag) {
    self.modulation = modulation
    self.unfinished = unfinished
    self.makeTag = makeTag
  }

  /// Reading yields the message on the tag or none, and changes nothing.
  func reading(_ message: [UInt8]) async throws -> Report {
    try await walk { channel in
      let content = try channel.tag.readNDEF(over: &channel)
      guard Self.holds(content, message) else { throw Unexpected(content: content) }
    } judge: { placement, _ in
      if let unexpected = placement.failure as? Unexpected { return "was read as \(unexpected.content)" }
      if !placement.isUntouched { return "was written to" }
      if !placement.isTorn, let failure = placement.failure { return "cannot be read: \(failure)" }
      return Self.holds(placement.content, message) ? nil : "holds \(placement.content) now"
    }
  }

  /// A torn write leaves the old message where nothing was changed, else none or the new one, and the tag can be
  /// written again.
  func writing(_ message: [UInt8], over old: [UInt8]) async throws -> Report {
    try await walk { channel in
      try channel.tag.writeNDEF(message, over: &channel)
    } judge: { placement, channel in
      let isWritten = Self.holds(placement.content, message)
      if placement.failure == nil, !isWritten { return "counts as written, and holds \(placement.content)" }
      if !placement.isTorn, let failure = placement.failure { return "cannot be written: \(failure)" }
      let isOld = placement.isUntouched && Self.holds(placement.content, old)
      guard isWritten || isOld || isNone(placement.content) else { return "holds \(placement.content) now" }
      do {
        try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
      } catch {
        return "cannot be written again: \(error)"
      }
      return nil
    }
  }

  /// A torn lock leaves the message, and the tag can be locked after all.
  func locking(_ message: [UInt8]) async throws -> Report {
    try await walk { channel in
      try channel.tag.lockNDEF(over: &channel)
    } judge: { placement, channel in
      guard Self.holds(placement.content, message) else { return "holds \(placement.content) now" }
      if !placement.isTorn, let failure = placement.failure { return "cannot be locked: \(failure)" }
      do {
        // What was locked to the end says so.
        do { try channel.tag.lockNDEF(over: &channel) } catch TagWriteError.readOnly {}
        let status = try channel.tag.queryNDEF(over: &channel)
        guard status.access == .readOnly else { return "is \(status.access.rawValue) after all" }
        let content = try channel.tag.readNDEF(over: &channel)
        return Self.holds(content, message) ? nil : "holds \(content) after all"
      } catch {
        return "cannot be locked again: \(error)"
      }
    }
  }

  private struct Unexpected: Error { let content: TagContent }

  private func walk(
    _ act: @escaping @Sendable (inout TargetChannel) throws -> Void,
    judge: @escaping @Sendable (Placement, inout TargetChannel) -> String?
  ) async throws -> Report {
    try await withOpenReader { reader in
      var report = Report()
      for heard in [false, true] {
        for number in 1...Self.most {
          let (placement, finding) = try tear(at: number, heard: heard, reader, act, judge)
          if let finding {
            let moment = placement.isTorn ? "torn away at exchange \(number)\(heard ? ", heard," : "")" : "left alone"
            report.findings.append("a tag \(moment) \(finding)")
          }
          guard placement.isTorn else { break }
          report.exchanges = number
          if number == Self.most { report.findings.append("it goes on after \(number) exchanges") }
        }
        if report.exchanges == 0 { report.findings.append("nothing was torn") }
      }
      return report
    }
  }

  private func tear(
    at number: Int, heard: Bool, _ reader: borrowing OpenReader, _ act: (inout TargetChannel) throws -> Void,
    _ judge: (Placement, inout TargetChannel) -> String?
  ) throws -> (Placement, finding: String?) {
    let id = reader.place(try makeTag())
    let before = reader.memory(of: id)
    var channel = try reader.select(modulation)
    reader.add(.removal(exchange: number, heard: heard))
    var failure: (any Error)?
    do { try act(&channel) } catch { failure = error }
    reader.clearFaults()
    let isTorn = reader.memory(of: id) == nil
    guard let tag = reader.remove(id) else { throw OpenReader.NoTag() }
    let again = reader.place(tag)
    defer { _ = reader.remove(again) }
    let isUntouched = reader.memory(of: again) == before
    channel = try reader.select(modulation)
    let content = try channel.tag.readNDEF(over: &channel)
    let placement = Placement(isTorn: isTorn, failure: failure, content: content, isUntouched: isUntouched)
    return (placement, judge(placement, &channel))
  }

  private static func holds(_ content: TagContent, _ message: [UInt8]) -> Bool {
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
