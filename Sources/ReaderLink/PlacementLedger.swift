/// The tags that a reader's processes, one after the other, have named: which one is being examined, which rest, and which the next
/// process has to leave alone.
struct PlacementLedger {
  /// Tags that rest at a time, and tags to be avoided that are remembered.
  static let most = 8

  /// Numbers count from 1 in each process; this makes them unique over all of them.
  private var generation: UInt64 = 0
  private var examining: Placement?
  private var resting: [Placement] = []
  /// UIDs that a process has to leave alone until they are away: announced by an earlier one, or the end of it.
  private(set) var avoided: [[UInt8]] = []

  /// A new process begins.
  mutating func begin() { generation += 1 }

  /// The process has ended.
  ///
  /// - Returns: the numbers of the placements that end with it, and the tag that it was examining.
  mutating func end() -> (removed: [UInt64], suspect: Placement?) {
    for placement in resting + (examining.map { [$0] } ?? []) { avoid(placement.uid) }
    defer {
      resting = []
      examining = nil
    }
    return (resting.map(\.number), examining)
  }

  /// Takes in what a process says of tags; what else it says is left out.
  ///
  /// - Returns: what is to be reported.
  /// - Throws: `ReaderLinkError`, in words that follow "it", where it cannot be true.
  mutating func handle(_ message: ReaderMessage) throws(ReaderLinkError) -> ReaderProcessEvent? {
    switch message {
    case .examining(let placement):
      examining = try unique(placement)
      return nil
    case .tag(let report):
      let placement = try unique(report.placement)
      guard examining?.number == placement.number else { throw ReaderLinkError("reported a tag that it had not named") }
      examining = nil
      resting.append(placement)
      guard resting.count <= Self.most else { throw ReaderLinkError("reported tags without end") }
      return .tag(TagReport(placement: placement, content: report.content))
    case .removed(let number):
      let number = try unique(number)
      if examining?.number == number { examining = nil }
      guard let index = resting.firstIndex(where: { $0.number == number }) else { return nil }
      resting.remove(at: index)
      return .removed(placement: number)
    case .forgotten(let uid):
      avoided.removeAll { $0 == uid }
      return nil
    case .heartbeat, .state, .scanning, .counters, .log: return nil
    }
  }

  private mutating func avoid(_ uid: [UInt8]) {
    guard !uid.isEmpty, !avoided.contains(uid) else { return }
    avoided.append(uid)
    if avoided.count > Self.most { avoided.removeFirst() }
  }

  private func unique(_ number: UInt64) throws(ReaderLinkError) -> UInt64 {
    guard number <= UInt64(UInt32.max) else { throw ReaderLinkError("sent a placement out of range") }
    return generation << 32 | number
  }

  private func unique(_ placement: Placement) throws(ReaderLinkError) -> Placement {
    Placement(number: try unique(placement.number), technology: placement.technology, uid: placement.uid)
  }
}
