import Bus
import CGTK
import EventLoop
import Handlers
import Notifications
import Settings
import TagrouteClient
import TagsPages

/// The page with the apps that open tags, the rules that come before them, and a field to try both.
final class AppsPage {
  let widget: Kept
  private let services: Services
  private let toasts: Toasts
  private let files = RuleFiles()
  private let newRule: Kept
  private let appGroup: Kept
  private let ruleGroup: Kept
  private let mistakeGroup: Kept
  private var trial: TrialPart?
  private var appRows: RowList<AppEntry, String, AppRow>?
  private var ruleRows: RowList<RuleEntry, String, RuleRow>?
  private var mistakeRows: RowList<TapDetails.Row, TapDetails.Row, Kept>?
  private var apps = AppList()
  private var appStatus: Kept?
  private var content: RuleFiles.Content?
  private var warnings: [KeyFileError] = []
  private var rulesRefresh = Refresh()
  /// Made when the page is first shown.
  private var store: RuleStore?
  private var watch: ServiceWatch?
  private var dialog: RuleDialog?
  /// A form that is not open yet.
  private var request: FormRequest?

  private struct FormRequest {
    let tag: PickedTag?
  }

  init(_ services: Services, _ toasts: Toasts) {
    let builder = Builder("apps.ui")
    (self.services, self.toasts) = (services, toasts)
    widget = builder["page"]
    newRule = builder["new_rule"]
    (appGroup, ruleGroup, mistakeGroup) = (builder["apps"], builder["rules"], builder["mistakes"])
    trial = TrialPart(builder, services) { [weak self] id in self?.name(of: id) }
    appRows = RowList(
      appGroup, id: \.id, widget: \.widget,
      make: { [weak self] app in AppRow(app) { change in self?.carryOut(change, on: app.id) } },
      update: { $0.update($1) })
    mistakeRows = RowList(mistakeGroup, id: \.self, widget: \.self, make: Self.mistake, update: { _, _ in })
    ruleRows = RowList(
      ruleGroup, id: \.id, widget: \.widget,
      make: { [weak self] rule in RuleRow(rule) { name in self?.askToRemove(name) } },
      update: { $0.update($1) })
    newRule.on("clicked") { [weak self] in self?.makeRule() }
    watch = ServiceWatch(services, while: widget) { [weak self] change in
      if case .agent(let event) = change { self?.follow(event) }
    }
    widget.on("map") { [weak self] in self?.shown() }
    widget.on("unmap") { [weak self] in
      self?.handle(.hidden)
      self?.trial?.cancel()
    }
  }

  /// Opens the form for a rule, for a tag if there is one, as soon as the rules and apps are known.
  func makeRule(for tag: PickedTag? = nil) {
    request = FormRequest(tag: tag)
    openForm()
  }

  private func openForm() {
    guard let request, dialog == nil, content != nil, apps.phase != .loading else { return }
    self.request = nil
    let handlers = apps.apps.filter { !$0.claims.isEmpty }.map { InstalledApp(id: $0.id, name: $0.title) }
    let dialog = RuleDialog(
      services, files: files, content: { [weak self] in self?.content ?? RuleFiles.Content() }, handlers: handlers
    ) { [weak self] name in
      self?.toasts.show(translated("Rule “{rule}” added", ["rule": name]))
      self?.readRules()
    }
    self.dialog = dialog
    dialog.present(over: root, for: request.tag) { [weak self] in
      // The window is still closing.
      Task { self?.dialog = nil }
    }
  }

  private var root: UnsafeMutablePointer<GtkWidget>? {
    gtk_widget_get_root(widget.widget).map { Kept($0).widget }
  }

  private func shown() {
    if store == nil { start() }
    handle(.shown)
    readRules()
  }

  /// Follows the files as long as the page lives.
  private func start() {
    // Later than the agent, so that it has read a change when it is asked about a tag.
    let store = RuleStore(files: files, settling: .milliseconds(300), on: services.loop)
    self.store = store
    Task { [weak self] in
      let changes = await store.changes()
      await store.start()
      for await _ in changes {
        guard let self else { return }
        readRules()
        trial?.refresh()
      }
    }
  }

  private func follow(_ event: AgentClient.Event) {
    switch event {
    case .appeared: handle(.appeared)
    case .disappeared: handle(.disappeared())
    // A click may also be a choice.
    case .closed: handle(.changed)
    case .received, .removed, .cleared, .outgoingAvailable: break
    }
  }

  private func name(of id: String) -> String? { apps.apps.first { $0.id == id }?.title }

  // MARK: Apps

  private func handle(_ event: AppList.Event) {
    for action in apps.handle(event) {
      switch action {
      case .fetch(let number): fetch(number)
      case .show: showApps()
      }
    }
  }

  private func fetch(_ number: Int) {
    Task { [weak self, services] in
      do throws(BusError) {
        let entries = try await Self.entries(try await services.agent())
        self?.handle(.answered(number, entries))
      } catch {
        self?.handle(.failed(number, error.isAway ? "" : error.message))
      }
    }
  }

  @concurrent nonisolated private static func entries(_ agent: AgentClient) async throws(BusError) -> [AppEntry] {
    AppEntry.all(try await agent.handlers())
  }

  private func showApps() {
    if let status = appStatus { adw_preferences_group_remove(appGroup.cast(), status.widget) }
    appStatus =
      switch apps.phase {
      case .loading, .list: nil
      case .empty:
        Widgets.row(
          title: translated("No app takes tags yet"),
          text: translated(
            "A tag opens its link in the default app. Apps that take tags appear here when they are installed."))
      case .unreachable(let problem):
        Widgets.row(
          title: translated("The agent does not run"),
          text: problem.isEmpty
            ? translated("The apps come back with it.") : DisplayText(problem, limit: 500).string)
      }
    appRows?.show(apps.apps)
    if let status = appStatus { adw_preferences_group_add(appGroup.cast(), status.widget) }
    showRules()
    trial?.refresh()
    openForm()
  }

  private func carryOut(_ change: AppRow.Change, on id: String) {
    Task { [weak self, services, toasts] in
      do throws(BusError) {
        let agent = try await services.agent()
        switch change {
        case .choose(.preferred, let claim): try await agent.prefer(id, for: claim)
        case .choose(.blocked, let claim): try await agent.block(id, for: claim)
        case .choose(.usual, let claim): try await agent.forget(id, for: claim)
        case .choose(.allowed, _): break
        case .block(true): try await agent.block(id)
        case .block(false), .forgetAll: try await agent.forget(id)
        }
      } catch {
        toasts.show(error.message)
        self?.appRows?.reset()
      }
      self?.handle(.changed)
    }
  }

  // MARK: Rules

  private func readRules() { if let number = rulesRefresh.changed() { readRules(number) } }

  private func readRules(_ number: Int) {
    Task { [weak self, files] in
      let read = try? await DedicatedThread.run {
        let content = files.read()
        return (content, content.warnings())
      }
      guard let self, rulesRefresh.ended(number) else { return }
      if let (content, warnings) = read, content != self.content || warnings != self.warnings {
        (self.content, self.warnings) = (content, warnings)
        showRules()
        openForm()
      }
      if let next = rulesRefresh.next() { readRules(next) }
    }
  }

  private func showRules() {
    guard let content else { return }
    ruleRows?.show(RuleEntry.all(content, warnings: warnings) { [weak self] id in self?.name(of: id) })
    mistakeRows?.show(RuleEntry.mistakes(content))
    gtk_widget_set_visible(mistakeGroup.widget, content.problems.isEmpty ? 0 : 1)
  }

  private static func mistake(_ row: TapDetails.Row) -> Kept {
    let widget = Widgets.row(title: row.title, text: row.text)
    adw_action_row_add_prefix(widget.cast(), Widgets.warning(translated("Mistake")).widget)
    return widget
  }

  private func askToRemove(_ name: String) {
    let question = Kept(
      adw_message_dialog_new(
        root.map { Kept($0).cast() }, translated("Remove the Rule?"),
        translated("“{rule}” is removed from its file. This cannot be undone.", ["rule": DisplayText(name).string])))
    adw_message_dialog_add_response(question.cast(), "cancel", translated("Cancel"))
    adw_message_dialog_add_response(question.cast(), "remove", translated("Remove"))
    adw_message_dialog_set_response_appearance(question.cast(), "remove", ADW_RESPONSE_DESTRUCTIVE)
    adw_message_dialog_set_default_response(question.cast(), "cancel")
    adw_message_dialog_set_close_response(question.cast(), "cancel")
    question.on("response") { [weak self] (values: SignalValues) in
      if values.text(1) == "remove" { self?.remove(name) }
    }
    gtk_window_present(question.cast())
  }

  private func remove(_ name: String) {
    Task { [weak self, files, toasts] in
      let result = try? await DedicatedThread.run { Result { () throws(KeyFileError) in try files.remove(name) } }
      switch result {
      case .success(.some)?: toasts.show(translated("Rule “{rule}” removed", ["rule": name]))
      case .success(nil)?: toasts.show(translated("There is no rule “{rule}” any more", ["rule": name]))
      case .failure(let error)?: toasts.show(error.description)
      case nil: toasts.show(translated("The rule could not be removed. Try again."))
      }
      guard let self else { return }
      // The row with the button is gone.
      gtk_widget_grab_focus(newRule.widget)
      readRules()
    }
  }
}
