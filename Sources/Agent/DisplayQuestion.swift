import ScanGate

/// Whether it makes a difference to anybody that the display goes off or on, by what the daemon says of its readers.
///
/// Pure: `DaemonLink` feeds it. Connectors are looked at by the clock, so they are only where nothing else keeps readers off.
struct DisplayQuestion: Sendable, Hashable {
  /// Whether the daemon has accepted this agent.
  var isRegistered = false
  /// Why no reader scans, empty where one does; nil as long as the daemon has not said.
  var reasons: Set<String>?
  /// How many readers there are.
  var readers = 0

  /// Whether the display has to be looked at.
  var isOpen: Bool {
    guard isRegistered else { return false }
    guard let reasons else { return true }
    // The reasons of several readers come as one: what is another seat's must not hide that this one's display is on again.
    let others = readers > 1 ? reasons.intersection(Self.everyReaders) : reasons.subtracting(Self.displays)
    return others.isEmpty
  }

  private static let displays = Set(SuspendReasons.displayOff.names)
  /// What keeps every reader off, whatever its seat.
  private static let everyReaders = Set(([.disabled, .sleeping, .inhibited] as SuspendReasons).names)
}
