/// The tags on one reader: which one is being read, and which are known. It outlives the reader's processes.
struct PlacementLedger {
  /// Known tags that one process has found, and known tags of former processes.
  static let most = ReaderLimits.tags
  /// For how long after the end of its process a tag that makes up its UID is known by its kind: no one saw whether
  /// it was taken away, and what lies there later may be another tag.
  static let restAllowance = Duration.seconds(10)

  typealias Instant = SuspendingClock.Instant

  private struct Entry {
    let tag: KnownTag
    /// When it was there last, as far as anyone knows; nil until a process starts.
    var seen: Instant?
  }

  /// Numbers count from 1 in each process; this makes them unique over all of them.
  private var generation: UInt64 = 0
  private let key: TagFingerprint.Key
  private var entries: [Entry]
  /// Numbers of former processes that the present one was told of.
  private var told: Set<UInt64> = []
  private var includesFirst: Bool
  private var examining: Placement?
  /// Tags of the reader session that is under way, and the one that something is being done with.
  private var inSession: [Placement] = []
  private var operated: UInt64?
  private var interruptions = InterruptionLedger()
  /// Whether the present process has had the device open.
  private var hasHadDevice = false

  /// - Parameter known: what an earlier supervision knew. Its numbers mean nothing here.
  init(_ known: KnownTags = KnownTags()) {
    key = known.key
    includesFirst = known.includesFirst
    entries = known.tags.suffix(Self.most).enumerated().map { index, tag in
      Entry(
        tag: KnownTag(
          number: .max - UInt64(index), fingerprint: tag.fingerprint, technology: tag.technology,
          mayHaveChanged: tag.mayHaveChanged, isSuspect: tag.isSuspect))
    }
  }

  /// All that is known, whatever process there is.
  var list: KnownTags { KnownTags(key: key, tags: entries.map(\.tag), includesFirst: includesFirst) }

  /// What the present process is told with a goal.
  mutating func known(at now: Instant) -> KnownTags {
    var known = list
    known.tags = entries.map { entry in
      let tag = entry.tag
      let isRecent = entry.seen.map { now - $0 <= Self.restAllowance } ?? true
      if own(tag.number) == nil { told.insert(tag.number) }
      return KnownTag(
        number: own(tag.number) ?? tag.number, fingerprint: tag.fingerprint, technology: tag.technology,
        mayHaveChanged: tag.mayHaveChanged && (tag.isSuspect || isRecent || own(tag.number) != nil),
        isSuspect: tag.isSuspect)
    }
    return known
  }

  /// A new process begins.
  mutating func begin(at now: Instant) {
    generation += 1
    hasHadDevice = false
    told = []
    entries = entries.suffix(Self.most)
    for index in entries.indices where entries[index].seen == nil { entries[index].seen = now }
  }

  /// No one knows what lies there: another program or a reader session has the reader, or a process ended before it
  /// confirmed a stop.
  mutating func noOneKnows() { includesFirst = true }

  /// A process that was told what is known looks for tags.
  mutating func isLooking() { includesFirst = false }

  /// The device was away, and what lay there with it. `isLent`: another program has it, and what lies there next is
  /// that program's.
  mutating func deviceWasAway(isLent: Bool) { includesFirst = isLent }

  /// The process has opened the device: it says which of the known tags are away.
  mutating func deviceIsOpen() { hasHadDevice = true }

  /// The process has said something that it says only while the reader works.
  mutating func readerWorks() { interruptions.readerWorks() }

  /// The reader has failed or is away.
  ///
  /// - Returns: the tag with which that has happened too often: it is announced as one that cannot be read, and left alone until it was away.
  mutating func readerFailed(at now: Instant) -> Placement? {
    guard let tag = interruptions.readerFailed(at: now) else { return nil }
    add(tag, isSuspect: true, at: now)
    return tag
  }

  /// The process has ended.
  ///
  /// - Returns: the tag that it was reading, or doing something with.
  mutating func end(at now: Instant, wasLooking: Bool) -> Placement? {
    for index in entries.indices where own(entries[index].tag.number) != nil || (hasHadDevice && wasLooking) {
      entries[index].seen = now
    }
    let suspect = examining ?? inSession.first { $0.number == operated }
    endSession()
    examining = nil
    if let suspect { add(suspect, isSuspect: true, at: now) }
    return suspect
  }

  mutating func endSession() {
    inSession = []
    operated = nil
  }

  /// Something is being done with the tag of that placement; nil once it is done.
  mutating func operate(on placement: UInt64?) { operated = placement }

  /// The number by which the present process knows a placement; nil if it is none of its own.
  func own(_ number: UInt64) -> UInt64? {
    number >> 32 == generation ? number & UInt64(UInt32.max) : nil
  }

  /// Takes in what a process says of tags; what else it says is left out.
  ///
  /// - Returns: what is to be reported.
  /// - Throws: `ReaderLinkError`, in words that follow "it", if it cannot be true.
  mutating func handle(_ message: ReaderMessage, at now: Instant) throws(ReaderLinkError) -> ReaderProcessEvent? {
    switch message {
    case .examining(let placement):
      examining = try unique(placement)
      interruptions.begins()
      return nil
    case .tag(let epoch, let report):
      let placement = try unique(report.placement)
      guard examining?.number == placement.number else { throw ReaderLinkError("reported a tag that it had not named") }
      examining = nil
      interruptions.ends(placement)
      try rest(placement, at: now)
      return .tag(TagReport(placement: placement, content: report.content), epoch: epoch)
    case .known(let placement):
      try rest(try unique(placement), at: now)
      return nil
    case .removed(let number):
      let number = told.contains(number) ? number : try unique(number)
      if let examining, examining.number == number {
        interruptions.breaksOff(examining, at: now)
        self.examining = nil
      }
      guard let index = entries.firstIndex(where: { $0.tag.number == number }) else { return nil }
      entries.remove(at: index)
      return .removed(placement: number)
    default: return nil
    }
  }

  /// The reader session has found a tag.
  mutating func found(_ tag: SessionTag) throws(ReaderLinkError) -> SessionTag {
    let placement = try unique(tag.placement)
    guard !inSession.contains(where: { $0.number == placement.number }) else {
      throw ReaderLinkError("reported a tag twice")
    }
    if examining?.number == placement.number { examining = nil }
    inSession.append(placement)
    guard inSession.count <= Self.most else { throw ReaderLinkError("reported tags without end") }
    return tag.at(placement)
  }

  /// A tag of the reader session is away.
  mutating func lost(_ number: UInt64) throws(ReaderLinkError) -> UInt64 {
    let number = try unique(number)
    guard let index = inSession.firstIndex(where: { $0.number == number }) else {
      throw ReaderLinkError("missed a tag that it had not reported")
    }
    inSession.remove(at: index)
    return number
  }

  private mutating func rest(_ placement: Placement, at now: Instant) throws(ReaderLinkError) {
    add(placement, isSuspect: false, at: now)
    guard entries.count(where: { own($0.tag.number) != nil }) <= Self.most else {
      throw ReaderLinkError("reported tags without end")
    }
  }

  private mutating func add(_ placement: Placement, isSuspect: Bool, at now: Instant) {
    let fingerprint = TagFingerprint(placement.technology, placement.uid, key)
    entries.removeAll { $0.tag.fingerprint == fingerprint || $0.tag.number == placement.number }
    let mayHaveChanged = KnownTag.mayChange(placement.technology, placement.uid)
    let tag = KnownTag(
      number: placement.number, fingerprint: fingerprint, technology: placement.technology,
      mayHaveChanged: mayHaveChanged, isSuspect: isSuspect)
    entries.append(Entry(tag: tag, seen: now))
  }

  private func unique(_ number: UInt64) throws(ReaderLinkError) -> UInt64 {
    guard number <= UInt64(UInt32.max) else { throw ReaderLinkError("sent a placement out of range") }
    return generation << 32 | number
  }

  private func unique(_ placement: Placement) throws(ReaderLinkError) -> Placement {
    Placement(number: try unique(placement.number), technology: placement.technology, uid: placement.uid)
  }
}
