import Presence

/// Whether the agent has to watch the display, by the daemon's reasons for not scanning.
///
/// Pure: ``DaemonLink`` updates it. Watching means polling the display's connectors, so the agent does it only while no
/// other reason stops the readers.
struct DisplayWatch: Sendable, Hashable {
  /// Whether the daemon has accepted this agent, and was asked for its readers.
  var isRegistered = false
  /// Why no reader scans: empty if one does, nil if the daemon has not reported it.
  var reasons: Set<String>?
  /// How many readers the daemon has.
  var readers = 0

  /// Whether the display has to be watched.
  var isNeeded: Bool {
    guard isRegistered else { return false }
    guard let reasons else { return true }
    // The daemon merges the reasons of all readers. A reason of another seat's reader must not hide that this display
    // is on again.
    let others = readers > 1 ? reasons.intersection(Self.everyReaders) : reasons.subtracting(Self.displays)
    return others.isEmpty
  }

  private static let displays = Set(SuspendReasons.displayOff.names)
  /// The reasons that stop every reader, on all seats.
  private static let everyReaders = Set(([.disabled, .sleeping, .inhibited] as SuspendReasons).names)
}
