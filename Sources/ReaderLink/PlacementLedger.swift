/// The tags that a reader's processes, one after the other, have named: which one is being examined, which rest, and which the next
/// process has to leave alone.
struct PlacementLedger {
  /// Tags that rest at a time, and tags to be avoided that are remembered.
  static let most = ReaderLimits.tags
  /// For how long after the end of its process a tag that makes up its UID counts as resting, whatever UID it has then: nobody
  /// saw whether it was taken away, and what lies there later may be another one.
  static let restAllowance = Duration.seconds(10)

  typealias Instant = SuspendingClock.Instant

  /// A tag that a process has to leave alone until it is away: announced by an earlier one, or the end of it.
  private struct Avoided {
    let uid: [UInt8]
    let technology: String
    /// When it was there last, as far as anybody knows.
    var seen: Instant
    /// Whether it was being read when a process ended: it may be the reason, and is never read for want of a UID.
    let isSuspect: Bool
  }

  /// Numbers count from 1 in each process; this makes them unique over all of them.
  private var generation: UInt64 = 0
  private var examining: Placement?
  private var resting: [Placement] = []
  /// Tags of the reader session that is under way, and the one that something is being done with.
  private var inSession: [Placement] = []
  private var operated: UInt64?
  private var avoided: [Avoided] = []
  private var interruptions = InterruptionLedger()
  /// Whether the present process has had the device open.
  private var hasHadDevice = false

  /// A new process begins.
  mutating func begin() {
    generation += 1
    hasHadDevice = false
  }

  /// The process has opened the device: it says which of the tags that it has to leave alone are away.
  mutating func deviceIsOpen() { hasHadDevice = true }

  /// The process has said something that it says only while the reader works.
  mutating func readerWorks() { interruptions.readerWorks() }

  /// What a process that begins now has to leave alone.
  func avoided(at now: Instant) -> [AvoidedTag] {
    avoided.map { tag in
      let mayHaveChanged = tag.isSuspect || now - tag.seen <= Self.restAllowance
      return AvoidedTag(uid: tag.uid, technology: tag.technology, mayHaveChanged: mayHaveChanged)
    }
  }

  /// The reader has failed or is away.
  ///
  /// - Returns: the tag with which that has happened too often: it is announced as one that cannot be read, and left alone until it was away.
  mutating func readerFailed(at now: Instant) -> Placement? {
    guard let tag = interruptions.readerFailed(at: now) else { return nil }
    avoid(tag, isSuspect: true, at: now)
    return tag
  }

  /// The process has ended.
  ///
  /// - Returns: the numbers of the placements that end with it, and the tag that it was examining.
  mutating func end(at now: Instant, wasLooking: Bool) -> (removed: [UInt64], suspect: Placement?) {
    // Those that it was told to leave alone, and did not say are away, rested until now, if it looked.
    if hasHadDevice && wasLooking { for index in avoided.indices { avoided[index].seen = now } }
    for placement in resting { avoid(placement, isSuspect: false, at: now) }
    let suspect = examining ?? inSession.first { $0.number == operated }
    endSession(at: now)
    if let suspect { avoid(suspect, isSuspect: true, at: now) }
    defer {
      resting = []
      examining = nil
    }
    return (resting.map(\.number), suspect)
  }

  /// The reader session has ended: what it has found and nobody has taken away is left alone, by this process as by the next one.
  mutating func endSession(at now: Instant) {
    for placement in inSession { avoid(placement, isSuspect: false, at: now) }
    inSession = []
    operated = nil
  }

  /// Something is being done with the tag of that placement; nil once it is done.
  mutating func operate(on placement: UInt64?) { operated = placement }

  /// The number by which the present process knows a placement; nil where it is none of its own.
  func own(_ number: UInt64) -> UInt64? {
    number >> 32 == generation ? number & UInt64(UInt32.max) : nil
  }

  /// Takes in what a process says of tags; what else it says is left out.
  ///
  /// - Returns: what is to be reported.
  /// - Throws: `ReaderLinkError`, in words that follow "it", where it cannot be true.
  mutating func handle(_ message: ReaderMessage, at now: Instant) throws(ReaderLinkError) -> ReaderProcessEvent? {
    switch message {
    case .examining(let placement):
      examining = try unique(placement)
      interruptions.begins()
      return nil
    case .tag(let report):
      let placement = try unique(report.placement)
      guard examining?.number == placement.number else { throw ReaderLinkError("reported a tag that it had not named") }
      examining = nil
      interruptions.ends(placement)
      resting.append(placement)
      guard resting.count <= Self.most else { throw ReaderLinkError("reported tags without end") }
      return .tag(TagReport(placement: placement, content: report.content))
    case .removed(let number):
      let number = try unique(number)
      if let examining, examining.number == number {
        interruptions.breaksOff(examining, at: now)
        self.examining = nil
      }
      guard let index = resting.firstIndex(where: { $0.number == number }) else { return nil }
      resting.remove(at: index)
      return .removed(placement: number)
    case .forgotten(let uid):
      avoided.removeAll { $0.uid == uid }
      return nil
    case .sessionTag(let session, let tag):
      let placement = try unique(tag.placement)
      guard !inSession.contains(where: { $0.number == placement.number }) else {
        throw ReaderLinkError("reported a tag twice")
      }
      if examining?.number == placement.number { examining = nil }
      inSession.append(placement)
      guard inSession.count <= Self.most else { throw ReaderLinkError("reported tags without end") }
      return .sessionTag(session, tag.at(placement))
    case .sessionTagRemoved(let session, let number):
      let number = try unique(number)
      guard let index = inSession.firstIndex(where: { $0.number == number }) else {
        throw ReaderLinkError("missed a tag that it had not reported")
      }
      inSession.remove(at: index)
      return .sessionTagRemoved(session, placement: number)
    case .heartbeat, .state, .scanning, .counters, .log: return nil
    case .sessionBegan, .sessionEnded, .performed, .progress, .lent, .stopped, .successorWanted: return nil
    }
  }

  private mutating func avoid(_ placement: Placement, isSuspect: Bool, at now: Instant) {
    guard !placement.uid.isEmpty else { return }
    let isSuspect = isSuspect || avoided.contains { $0.uid == placement.uid && $0.isSuspect }
    avoided.removeAll { $0.uid == placement.uid }
    avoided.append(Avoided(uid: placement.uid, technology: placement.technology, seen: now, isSuspect: isSuspect))
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
