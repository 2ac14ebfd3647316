package import TagrouteClient

/// What the page with the readers shows: the main switch, the readers, and which of them the window lends. Pure: events
/// in, actions out.
///
/// One question to the daemon is under way at a time, so many changes cost few questions.
package struct ReaderBoard: Sendable {
  package enum Event: Sendable {
    /// The daemon or a reader may have changed.
    case changed
    case answered(DaemonStatus, [InhibitorDescription])
    /// The daemon cannot be asked, with the reason.
    case unreachable(String)
    /// The user has moved the switch.
    case switched(Bool)
    /// The daemon has the switch, or has refused it, with the reason.
    case switchEnded(String?)
    /// The user lends the reader with this object path.
    case lent(String)
    /// The daemon has lent it, or has refused, with the reason.
    case lendingEnded(String, String?)
    case takenBack(String)
    /// The daemon that lent the reader has ended.
    case loanLost(String)
  }

  package enum Action: Sendable, Hashable {
    /// Asks the daemon for its status.
    case ask
    case switchScanning(Bool)
    case lend(String)
    case takeBack(String)
    /// The contents have changed.
    case show
    /// Tells the user what has just gone wrong.
    case report(String)
  }

  /// The last answer of the daemon.
  private enum Daemon: Sendable {
    /// It has not answered yet. Can transition to: `running`, `away`.
    case unknown
    /// Can transition to: `away`.
    case running(DaemonStatus, [InhibitorDescription])
    /// With the reason. Can transition to: `running`.
    case away(String)
  }

  private var daemon = Daemon.unknown
  private var isAsking = false
  private var isStale = false
  /// What the user wants, until an answer of the daemon has it. Without that, the switch would go back and forth.
  private var wanted: Bool?
  private var isSwitching = false
  /// By the readers' object paths: false while the daemon is still closing the device.
  private var loans: [String: Bool] = [:]

  package init() {}

  /// Whether scanning in the background is switched on.
  package var isOn: Bool { wanted ?? status?.enabled ?? false }
  package var canSwitch: Bool { status != nil && wanted == nil }

  /// Whether the readers scan, and if not, why.
  package var text: String {
    switch daemon {
    case .unknown: ""
    case .running(let status, let inhibitors): ReaderWords.scanning(status, inhibitors)
    case .away(let problem): problem
    }
  }

  package var readers: [ReaderSummary] {
    (status?.readers ?? []).map { reader in
      ReaderSummary(reader, loan: loans[reader.path].map { $0 ? .held : .starting })
    }
  }

  private var status: DaemonStatus? { if case .running(let status, _) = daemon { status } else { nil } }

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .changed:
      isStale = isAsking
      return isAsking ? [] : ask()
    case .answered(let status, let inhibitors):
      daemon = .running(status, inhibitors)
      return answered()
    case .unreachable(let problem):
      daemon = .away(problem)
      return answered()
    case .switched(let isOn):
      guard canSwitch, isOn != self.isOn else { return [.show] }
      (wanted, isSwitching) = (isOn, true)
      return [.show, .switchScanning(isOn)]
    case .switchEnded(let problem):
      isSwitching = false
      return ended(problem)
    case .lent(let path):
      guard loans[path] == nil else { return [] }
      loans[path] = false
      return [.show, .lend(path)]
    case .lendingEnded(let path, let problem):
      loans[path] = problem == nil ? true : nil
      return ended(problem)
    case .takenBack(let path):
      guard loans[path] == true else { return [] }
      loans[path] = nil
      return [.takeBack(path), .show]
    case .loanLost(let path):
      guard loans.removeValue(forKey: path) == true else { return [] }
      let text = translated(
        "The daemon was restarted, and has taken the reader back. Lend it again if you still need to.")
      return [.takeBack(path), .report(text), .show]
    }
  }

  private mutating func ask() -> [Action] {
    isAsking = true
    return [.ask]
  }

  private mutating func answered() -> [Action] {
    isAsking = false
    guard !isStale else {
      isStale = false
      return [.show] + ask()
    }
    if !isSwitching { wanted = nil }
    return [.show]
  }

  private mutating func ended(_ problem: String?) -> [Action] {
    (problem.map { [.report($0)] } ?? []) + [.show] + handle(.changed)
  }
}
