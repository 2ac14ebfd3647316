import Bus
import CGTK
import TagrouteClient
import TagsPages

/// The page with the readers and the doctor. It carries out what `ReaderBoard` and `Checkup` decide.
final class ReaderPage {
  let widget: Kept
  private let services: Services
  private let toasts: Toasts
  private let switchRow: Kept
  private let onSwitch: Kept
  private let box: Kept
  private let refresh: Kept
  private let examiner: Examiner
  private let findings: FindingList
  private var watch: ServiceWatch?
  private var board = ReaderBoard()
  private var groups: [String: ReaderGroup] = [:]
  /// The order of the readers on the page.
  private var shownPaths: [String] = []
  /// What keeps the lent readers lent, by their object paths.
  private var loans: [String: Inhibitor] = [:]
  /// Whether the page itself moves the switch.
  private var isShowing = false

  init(_ services: Services, _ toasts: Toasts) {
    let builder = Builder("reader.ui")
    (self.services, self.toasts) = (services, toasts)
    widget = builder["page"]
    switchRow = builder["switch_row"]
    onSwitch = builder["switch"]
    box = builder["readers"]
    refresh = builder["refresh"]
    Widgets.nameLists(in: builder["scanning"].widget, translated("Scanning"))
    examiner = Examiner(services, while: widget)
    findings = FindingList(builder["doctor"], toasts)
    watch = ServiceWatch(services, while: widget) { [weak self] change in self?.follow(change) }
    examiner.examined = { [weak self] checkup in self?.show(checkup) }
    onSwitch.on("state-set") { [weak self] (values: SignalValues) in
      guard let self, !isShowing else { return }
      // The state follows when the daemon has it.
      values.answer(true)
      handle(.switched(gtk_switch_get_active(onSwitch.opaque) != 0))
    }
    refresh.on("clicked") { [weak self] in
      self?.examiner.handle(.requested)
      self?.handle(.changed)
    }
    builder["identify"].on("clicked") { [weak self] in self?.identify() }
  }

  private func follow(_ change: ServiceWatch.Change) {
    switch change {
    case .daemon, .agent(.appeared), .agent(.disappeared):
      handle(.changed)
      examiner.handle(.changed)
    // The counters are others, and no other event says so.
    case .agent(.received): handle(.changed)
    case .agent: break
    }
  }

  // MARK: The readers

  private func handle(_ event: ReaderBoard.Event) {
    for action in board.handle(event) {
      switch action {
      case .ask: ask()
      case .switchScanning(let isOn): switchScanning(isOn)
      case .lend(let path): lend(path)
      case .takeBack(let path): loans[path] = nil
      case .show: show()
      case .report(let problem): toasts.show(problem)
      }
    }
  }

  private func ask() {
    for (path, loan) in loans where !loan.isHeld { handle(.loanLost(path)) }
    Task { [weak self, services] in
      do throws(BusError) {
        let (status, inhibitors) = try await Self.status(try await services.daemon())
        self?.handle(.answered(status, inhibitors))
      } catch {
        self?.handle(.unreachable(ReaderWords.absence(of: error)))
      }
    }
  }

  @concurrent nonisolated private static func status(
    _ daemon: DaemonClient
  ) async throws(BusError) -> (DaemonStatus, [InhibitorDescription]) {
    let status = try await daemon.status()
    // Only their names would be missing.
    guard status.suspendReasons.contains("inhibited") else { return (status, []) }
    return (status, (try? await daemon.inhibitors()) ?? [])
  }

  private func switchScanning(_ isOn: Bool) {
    Task { [weak self, services] in
      do throws(BusError) {
        try await services.daemon().setEnabled(isOn)
        self?.handle(.switchEnded(nil))
      } catch {
        self?.handle(.switchEnded(ReaderWords.problem(error)))
      }
    }
  }

  private func lend(_ path: String) {
    Task { [weak self, services] in
      do throws(BusError) {
        let loan = try await services.daemon().releaseReader(
          who: translated("Tags"), why: "another program uses the reader", reader: try ObjectPath(path))
        guard let self else { return }
        loans[path] = loan
        handle(.lendingEnded(path, nil))
      } catch {
        self?.handle(.lendingEnded(path, ReaderWords.problem(error)))
      }
    }
  }

  private func identify() {
    Task { [services, toasts] in
      do throws(BusError) {
        try await services.agent().identify()
      } catch {
        toasts.show(ReaderWords.problem(error))
      }
    }
  }

  private func show() {
    isShowing = true
    adw_action_row_set_subtitle(switchRow.cast(), board.text)
    gtk_switch_set_active(onSwitch.opaque, board.isOn ? 1 : 0)
    gtk_switch_set_state(onSwitch.opaque, board.isOn ? 1 : 0)
    gtk_widget_set_sensitive(onSwitch.widget, board.canSwitch ? 1 : 0)
    isShowing = false
    let readers = board.readers
    let paths = readers.map(\.path)
    if paths != shownPaths { arrange(paths) }
    for reader in readers { groups[reader.path]?.show(reader) }
  }

  /// Makes the groups of these readers.
  private func arrange(_ paths: [String]) {
    shownPaths = paths
    for child in Widgets.children(box.widget) { gtk_box_remove(box.cast(), child) }
    groups = groups.filter { paths.contains($0.key) }
    for path in paths {
      let group =
        groups[path]
        ?? ReaderGroup { [weak self] isLent in self?.handle(isLent ? .lent(path) : .takenBack(path)) }
      groups[path] = group
      gtk_box_append(box.cast(), group.widget.widget)
    }
  }

  // MARK: The doctor

  private func show(_ checkup: Checkup) {
    gtk_widget_set_sensitive(refresh.widget, checkup.isRequested ? 0 : 1)
    findings.show(checkup.toRead, passed: checkup.passed)
  }
}
