import Bus

/// When the properties of each session are read.
///
/// Pure: `LoginMonitor` feeds it, and performs the actions. Signals carry the lock and the foreground, which take
/// effect at once. No signal carries `State`, so a reading follows each change. A user can change a session of theirs
/// thousands of times per second. The plan therefore allows one reading of a session at a time, with a pause after it,
/// and none of a session without a seat.
struct SessionReadings: Sendable {
  enum Event: Sendable, Hashable {
    /// logind created the session.
    case added(ObjectPath)
    /// A signal reported a change of the session, or signals were lost.
    case changed(ObjectPath)
    /// A reading for the session has ended; `hasSeat` is nil if it failed.
    case finished(ObjectPath, hasSeat: Bool?)
    /// The pause after a reading is over.
    case pauseEnded(ObjectPath)
    /// logind removed the session.
    case removed(ObjectPath)
    /// These are all sessions.
    case listed([ObjectPath])
    /// Another logind took the name, or the name has no owner.
    case ownerChanged
  }

  enum Action: Sendable, Hashable {
    /// Read the properties of the session, then report `finished`.
    case read(ObjectPath)
    /// Wait, then report `pauseEnded`.
    case pause(ObjectPath)
  }

  /// A session without an entry is idle: its next change is read at once.
  private enum Phase {
    /// Can transition to `.pausing`, or to idle if the reading fails.
    case reading(isDirty: Bool)
    /// Can transition to `.reading` if the session changed meanwhile, else to idle.
    case pausing(isDirty: Bool)
    /// The session has no seat, and never gets one (logind's `Seat` is constant). It is not read again. A session of
    /// another class than `user` is followed if it has a seat, because a greeter in front suspends scanning.
    case seatless
  }

  private var phases: [ObjectPath: Phase] = [:]

  /// Whether changes of the session can be ignored.
  func ignores(_ path: ObjectPath) -> Bool {
    if case .seatless = phases[path] { true } else { false }
  }

  mutating func handle(_ event: Event) -> Action? {
    switch event {
    case .added(let path):
      phases[path] = .reading(isDirty: false)
      return .read(path)
    case .changed(let path):
      switch phases[path] {
      case nil:
        phases[path] = .reading(isDirty: false)
        return .read(path)
      case .reading: phases[path] = .reading(isDirty: true)
      case .pausing: phases[path] = .pausing(isDirty: true)
      case .seatless: break
      }
    case .finished(let path, hasSeat: false): phases[path] = .seatless
    case .finished(let path, let hasSeat):
      guard case .reading(let isDirty) = phases[path] else { break }
      phases[path] = hasSeat == nil ? nil : .pausing(isDirty: isDirty)
      return hasSeat == nil ? nil : .pause(path)
    case .pauseEnded(let path):
      guard case .pausing(let isDirty) = phases[path] else { break }
      phases[path] = isDirty ? .reading(isDirty: false) : nil
      return isDirty ? .read(path) : nil
    case .removed(let path): phases[path] = nil
    case .listed(let paths):
      let present = Set(paths)
      phases = phases.filter { present.contains($0.key) }
    case .ownerChanged: phases = [:]
    }
    return nil
  }
}
