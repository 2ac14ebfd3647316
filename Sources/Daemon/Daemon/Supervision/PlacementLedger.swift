import ReaderProtocol

/// The tags on one reader: the tag that is being read, and the known tags. It outlives the reader's processes.
struct PlacementLedger {
  /// The most known tags that one process may find, and the most that are kept from former processes.
  static let most = ReaderLimits.tags
  /// For this long after its process ended, a tag with a random UID is recognized by its technology alone. After that,
  /// the tag on the reader may be another one, because no process saw whether the first was removed.
  static let restAllowance = Duration.seconds(10)

  typealias Instant = SuspendingClock.Instant

  private struct Entry {
    let tag: KnownTag
    /// When the tag was last known to be present; nil until a process starts.
    var seen: Instant?
  }

  /// Each process counts placements from 1. The generation makes their numbers unique across processes.
  private var generation: UInt64 = 0
  private let key: TagFingerprint.Key
  private var entries: [Entry]
  /// Placements of former processes that the daemon has sent to the present process.
  private var told: Set<UInt64> = []
  private var includesFirst: Bool
  private var examining: Placement?
  /// The tags of the current reader session, and the one that an operation runs on.
  private var inSession: [Placement] = []
  private var operated: UInt64?
  private var interruptions = InterruptionLedger()
  /// Whether the present process has opened the device.
  private var hasHadDevice = false

  /// `known` is the list of an earlier supervision. Its placements get new numbers.
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

  /// Independent of the present process.
  var list: KnownTags { KnownTags(key: key, tags: entries.map(\.tag), includesFirst: includesFirst) }

  /// For the present process, which gets the list with a goal.
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

  /// A new process starts.
  mutating func begin(at now: Instant) {
    generation += 1
    hasHadDevice = false
    told = []
    entries = entries.suffix(Self.most)
    for index in entries.indices where entries[index].seen == nil { entries[index].seen = now }
  }

  /// The tags on the reader are unknown: another program or a reader session uses the reader, or a process ended before
  /// it confirmed a stop.
  mutating func includeFirst() { includesFirst = true }

  /// The process has reached its goal, and broken off its previous work. If it polls for tags, it has the list of known
  /// tags.
  mutating func goalReached(isScan: Bool) {
    examining = nil
    if isScan { includesFirst = false }
  }

  /// The device was removed, and the tags with it. If it `isLent`, another program uses it, and the next tags on it are
  /// for that program.
  mutating func deviceWasAway(isLent: Bool) { includesFirst = isLent }

  /// The process has opened the device. It reports which of the known tags were removed.
  mutating func deviceIsOpen() { hasHadDevice = true }

  /// The process sent a message that it sends only while the reader works.
  mutating func readerWorks() { interruptions.readerWorks() }

  /// The reader failed or disappeared. Returns the tag with which this has happened too often. The daemon announces it
  /// as unreadable, and the process ignores it until it has been removed.
  mutating func readerFailed(at now: Instant) -> Placement? {
    guard let tag = interruptions.readerFailed(at: now) else { return nil }
    add(tag, isSuspect: true, at: now)
    return tag
  }

  /// The process has ended. Returns the tag that it was reading or running an operation on.
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

  /// Nil if no operation runs.
  mutating func operate(on placement: UInt64?) { operated = placement }

  /// Nil if another process found the tag.
  func own(_ number: UInt64) -> UInt64? {
    number >> 32 == generation ? number & UInt64(UInt32.max) : nil
  }

  /// Handles a message about tags, and returns the event to report. Other messages are ignored. If the message cannot
  /// be true, the text of the error follows "it".
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

/// Counts, across all processes of a reader, how often the reader failed while one tag was read.
///
/// A process keeps its own count, but it may end for a successor each time the reader is plugged in again. A tag can
/// also cut the reader's power, so that the reader looks unplugged. Without this count, the daemon would retry such a
/// tag forever and never announce it.
struct InterruptionLedger {
  /// The same limit as within one process.
  static let most = ReaderLimits.interruptions

  typealias Instant = SuspendingClock.Instant

  /// Failures that are further apart than this are not counted together. The process opens a failed device again within
  /// a shorter time (`OpeningSchedule`). A person also needs less to plug it in again and put the tag down.
  static let memory = Duration.seconds(120)

  /// The longest time from an interrupted read to the process's report that the reader failed. In between, the process
  /// closes the device.
  static let untilItIsSaid = ReaderTiming.longestPromise

  /// The tag of an interrupted read and the time of the interruption, until its cause is known.
  private var unread: (tag: Placement, since: Instant)?
  private var failures: (uid: [UInt8], count: Int, last: Instant)?

  /// The process starts to read a tag.
  mutating func begins() { unread = nil }

  /// The reader has worked since the interruption. The cause was the tag, which was removed too early, or a command of
  /// the daemon.
  mutating func readerWorks() { unread = nil }

  mutating func breaksOff(_ placement: Placement, at now: Instant) { unread = (placement, now) }

  /// The tag was read, or its process reported why it cannot be read.
  mutating func ends(_ placement: Placement) {
    if failures?.uid == placement.uid { failures = nil }
  }

  /// The reader failed or disappeared. Returns the tag with which this has happened too often.
  mutating func readerFailed(at now: Instant) -> Placement? {
    defer { unread = nil }
    // A tag without a UID cannot be distinguished from others.
    guard let (tag, since) = unread, !tag.uid.isEmpty, now - since <= Self.untilItIsSaid else { return nil }
    var count = 1
    if let failures, failures.uid == tag.uid, now - failures.last <= Self.memory { count += failures.count }
    failures = count < Self.most ? (tag.uid, count, now) : nil
    return count < Self.most ? nil : tag
  }
}
