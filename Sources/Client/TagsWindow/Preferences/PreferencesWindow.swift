import Bus
import CGTK
import Doctor
import TagrouteClient
import TagsPages

/// The window with the agent's settings. It carries out what `PreferenceForm` decides.
final class PreferencesWindow {
  let widget: Kept
  private let services: Services
  private let problems: Kept
  private let findings: FindingList
  private let examiner: Examiner
  private var watch: ServiceWatch?
  private var form = PreferenceForm()
  private var rows: [PreferenceRow] = []

  init(_ services: Services, parent: Kept) {
    let builder = Builder("preferences.ui")
    self.services = services
    widget = builder["window"]
    problems = builder["problems"]
    findings = FindingList(problems, nil)
    examiner = Examiner(services, while: widget)
    gtk_window_set_transient_for(widget.cast(), parent.cast())
    for group in Preference.groups { add(group, to: builder["page"]) }
    examiner.examined = { [weak self] _ in self?.showProblems() }
    watch = ServiceWatch(services, while: widget) { [weak self] change in
      switch change {
      case .daemon, .agent(.appeared), .agent(.disappeared): self?.refresh()
      case .agent: break
      }
    }
    // The user may have changed the file elsewhere.
    widget.on("notify::is-active") { [weak self] in
      if let self, gtk_window_is_active(widget.cast()) != 0 { refresh() }
    }
    show()
  }

  func present() { gtk_window_present(widget.cast()) }

  private func add(_ group: Preference.Group, to page: Kept) {
    let list = Widgets.group(title: group.title)
    for preference in group.preferences {
      rows.append(
        PreferenceRow(preference, in: list) { [weak self] value in self?.handle(.edited(preference.name, value)) })
    }
    adw_preferences_page_add(page.cast(), list.cast())
  }

  private func refresh() {
    handle(.changed)
    examiner.handle(.changed)
  }

  private func handle(_ event: PreferenceForm.Event) {
    for action in form.handle(event) {
      switch action {
      case .ask: ask()
      case .change(let name, let value): change(name, value)
      case .warn(let warning, let name): warn(warning, name)
      case .show: show()
      }
    }
  }

  private func ask() {
    Task { [weak self, services] in
      do throws(BusError) {
        let settings = try await services.agent().settings()
        self?.handle(.answered(settings))
      } catch {
        self?.handle(.unreachable(Self.problem(error)))
      }
    }
  }

  private func change(_ name: String, _ value: String?) {
    Task { [weak self, services] in
      do throws(BusError) {
        try await services.agent().changeSettings([name: value])
        self?.handle(.changeEnded(name, nil))
      } catch {
        self?.handle(.changeEnded(name, Self.problem(error)))
      }
    }
  }

  private static func problem(_ error: BusError) -> String {
    error.name == BusError.Name.unknownMethod
      ? translated("The agent is older than this window, and cannot change its settings.") : ReaderWords.problem(error)
  }

  private func warn(_ warning: Preference.Warning, _ name: String) {
    let dialog = Kept(adw_message_dialog_new(widget.cast(), warning.title, warning.text))
    adw_message_dialog_add_response(dialog.cast(), "cancel", translated("_Cancel"))
    adw_message_dialog_add_response(dialog.cast(), "go-on", warning.button)
    adw_message_dialog_set_response_appearance(dialog.cast(), "go-on", ADW_RESPONSE_DESTRUCTIVE)
    adw_message_dialog_set_default_response(dialog.cast(), "cancel")
    adw_message_dialog_set_close_response(dialog.cast(), "cancel")
    dialog.on("response") { [weak self] (values: SignalValues) in
      guard let self else { return }
      if values.text(1) == "go-on" { return handle(.confirmed(name, warning.value)) }
      rows.first { $0.preference.name == name }?.restore()
    }
    gtk_window_present(dialog.cast())
  }

  // MARK: What there is to see

  private func show() {
    for row in rows { row.show(form.field(row.preference.name), canChange: form.canChange) }
    showProblems()
  }

  /// What keeps the settings from being changed: a mistake in the file, or an agent that does not run.
  private func showProblems() {
    var found = examiner.checkup.problems([.sessionBus, .agentConfiguration, .agentUnit])
    // Whether the daemon has accepted the agent has nothing to do with its settings.
    if !form.problem.isEmpty {
      found += examiner.checkup.problems([.agent])
      if found.isEmpty { found = [FindingRow(title: translated("Agent"), verdict: .wrong, text: form.problem)] }
    }
    findings.show(found)
    gtk_widget_set_visible(problems.widget, found.isEmpty ? 0 : 1)
  }
}
