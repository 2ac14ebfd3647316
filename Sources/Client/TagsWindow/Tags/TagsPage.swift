import Bus
import CGTK
import CGTKShims
import Names
import Notifications
import TagrouteClient
import TagsPages

/// The page with the inbox and the details of one tap. It carries out what `InboxList` decides.
final class TagsPage {
  let widget = Kept(gtk_stack_new())
  private let leaflet: Kept
  private let firstRun: FirstRunView
  private let services: Services
  private let toasts: Toasts
  private let pane: TapPane
  private let list: TapListView
  private let menu: FilterMenu
  private let contents: Kept
  private let message: Kept
  private let messageButton: Kept
  private let search: Kept
  private let total: Kept
  private let news: Kept
  private let newsButton: Kept
  private var inbox = InboxList()
  private var newTaps = 0
  /// What the page reports to its window: the selected tap, or nothing.
  var changed: () -> Void = {}

  init(_ services: Services, _ toasts: Toasts) {
    let builder = Builder("tags.ui")
    (self.services, self.toasts) = (services, toasts)
    leaflet = builder["page"]
    firstRun = FirstRunView(services, toasts)
    contents = builder["contents"]
    message = builder["message"]
    messageButton = builder["message_button"]
    search = builder["search"]
    total = builder["total"]
    news = builder["news"]
    newsButton = builder["news_button"]
    pane = TapPane(builder)
    list = TapListView(builder)
    menu = FilterMenu(builder)
    menu.changed = { [weak self] in self?.filterChanged() }
    list.selected = { [weak self] row in self?.select(row) }
    list.endReached = { [weak self] in self?.handle(.endReached) }
    gtk_stack_add_named(widget.opaque, leaflet.widget, "list")
    gtk_stack_add_named(widget.opaque, firstRun.widget.widget, "first-run")
    // With one pane, a click has to lead to the details.
    g_object_bind_property(leaflet.raw, "folded", builder["list"].raw, "single-click-activate", G_BINDING_SYNC_CREATE)
    builder["list"].on("activate") { [weak self] in self?.showDetails() }
    search.on("search-changed") { [weak self] in self?.filterChanged() }
    newsButton.on("clicked") { [weak self] in self?.list.scrollToTop() }
    leaflet.on("notify::folded") { [weak self] in self?.changed() }
    leaflet.on("notify::visible-child-name") { [weak self] in self?.changed() }
  }

  /// Reads the inbox, and follows it as long as the page lives.
  func start() {
    Task { [weak self, services] in
      do throws(BusError) {
        let agent = try await services.agent()
        for await event in try await agent.events() {
          guard let self else { return }
          follow(event)
        }
      } catch {
        self?.handle(.disappeared(error.message))
      }
    }
    refreshChoices()
    filterChanged()
  }

  /// Whether the window's Back leads from the details to the list.
  var canGoBack: Bool { adw_leaflet_get_folded(leaflet.opaque) != 0 && visiblePane == "details" }

  func goBack() { adw_leaflet_set_visible_child_name(leaflet.opaque, "list") }

  var details: TapDetails? { pane.details }

  func focusSearch() {
    goBack()
    gtk_widget_grab_focus(search.widget)
  }

  // MARK: What the user does with the selected tap

  func open(with handler: String? = nil) {
    guard let id = pane.details?.id else { return }
    call { agent throws(BusError) in try await agent.open(id, handler: handler) }
  }

  func dismiss() {
    guard let id = pane.details?.id else { return }
    call { agent throws(BusError) in try await agent.dismiss(id) }
  }

  func delete() {
    guard let id = pane.details?.id else { return }
    goBack()
    handle(.deleted([id]))
  }

  func undo() { handle(.undone) }

  /// Carries out a deletion that could still be undone.
  func finishDeletion() { handle(.deletionDue) }

  /// Shows the tap with this id, as a notification asks for.
  func show(tap id: String) {
    if list.select(id) { return showDetails() }
    load(id)
    showDetails()
  }

  // MARK: The inbox

  private func handle(_ event: InboxList.Event) {
    for action in inbox.handle(event) {
      switch action {
      case .fetch(let fetch): self.fetch(fetch)
      case .splice(let position, let removed, let added):
        let isNews = position == 0 && removed == 0 && !list.isAtTop
        list.splice(at: position, removed: removed, added: added)
        if isNews { showNews(newTaps + added.count) }
      case .show(let phase): show(phase)
      case .total(let count): show(total: count)
      case .delete(let ids):
        call { agent throws(BusError) in _ = try await agent.clear(ids: ids, fromScreen: true) }
      case .offerUndo(let count):
        let text = count == 1 ? translated("Tag deleted") : translated("{number} tags deleted", ["number": "\(count)"])
        toasts.show(text, button: (translated("Undo"), "win.undo")) { [weak self] in self?.finishDeletion() }
      }
    }
  }

  private func follow(_ event: AgentClient.Event) {
    switch event {
    case .received:
      show(firstRun: firstRun.handle(.tapped))
      handle(.changed)
    case .removed: handle(.changed)
    case .closed(let id, _):
      handle(.changed)
      if pane.details?.id == id { load(id) }
    case .cleared: handle(.cleared)
    case .appeared:
      refreshChoices()
      handle(.appeared)
    case .disappeared: handle(.disappeared())
    case .outgoingAvailable: break
    }
  }

  private func fetch(_ fetch: InboxList.Fetch) {
    Task { [weak self, services] in
      do throws(BusError) {
        let (rows, total) = try await Self.rows(try await services.agent(), fetch)
        self?.handle(.answered(fetch, rows, total: total))
      } catch {
        self?.handle(.failed(fetch, error.message))
      }
    }
  }

  /// Off the main actor: decoding a page of taps takes longer than a frame.
  @concurrent nonisolated private static func rows(
    _ agent: AgentClient, _ fetch: InboxList.Fetch
  ) async throws(BusError) -> ([TapRow], UInt64) {
    let taps = try await agent.taps(fetch.filter, limit: fetch.limit, beforeSequence: fetch.before)
    return (taps.map(TapRow.init), try await agent.count(fetch.filter))
  }

  private func select(_ row: TapRow?) {
    guard let row else { return pane.showNothing() }
    load(row.id)
  }

  private func load(_ id: String) {
    Task { [weak self, services] in
      guard let agent = try? await services.agent(), let details = try? await Self.details(agent, id) else { return }
      guard let self, list.selectedRow == nil || list.selectedRow?.id == id else { return }
      pane.show(details)
      changed()
    }
  }

  @concurrent nonisolated private static func details(
    _ agent: AgentClient, _ id: String
  ) async throws(BusError) -> TapDetails? {
    guard let tap = try await agent.taps(id: id).first else { return nil }
    let now = try? await agent.resolve(tap)
    let handlers = (try? await agent.handlers()) ?? []
    return TapDetails(
      tap, now: now, name: { id in handlers.first { $0.id == id }?.name }, time: DisplayTime.long)
  }

  private func showDetails() {
    adw_leaflet_set_visible_child_name(leaflet.opaque, "details")
  }

  private var visiblePane: String {
    adw_leaflet_get_visible_child_name(leaflet.opaque).map { String(cString: $0) } ?? ""
  }

  private func filterChanged() {
    let text = gtk_editable_get_text(search.opaque).map { String(cString: $0) } ?? ""
    let filter = menu.filter(text: text)
    // GTK also reports that a menu has got other choices.
    guard filter != inbox.filter || inbox.phase == .loading else { return }
    handle(.filtered(filter))
  }

  /// Reads which apps and readers there are.
  private func refreshChoices() {
    Task { [weak self, services] in
      let handlers = (try? await services.agent().handlers()) ?? []
      let readers = (try? await services.daemon().status().readers) ?? []
      guard let self else { return }
      list.names = Dictionary(handlers.map { (AppID.text($0.id), DisplayText($0.name, limit: 60).string) }) {
        first, _ in first
      }
      menu.offer(
        apps: handlers.filter { $0.problem == nil }.map { ($0.id, DisplayText($0.name, limit: 60).string) },
        readers: readers.map { ($0.path, DisplayText($0.name.isEmpty ? $0.device : $0.name, limit: 60).string) })
    }
  }

  // MARK: What there is to see

  private func show(firstRun isShown: Bool) {
    Widgets.show(isShown ? "first-run" : "list", in: widget)
  }

  private func show(_ phase: InboxList.Phase) {
    show(firstRun: firstRun.handle(.listed(phase, isFiltered: inbox.filter != InboxFilter())))
    switch phase {
    case .loading: Widgets.show("loading", in: contents)
    case .list: Widgets.show("list", in: contents)
    case .empty where inbox.filter == InboxFilter():
      show(
        title: translated("No Tags Yet"), text: translated("Hold a tag to the reader."),
        icon: "org.tagroute.Tags-symbolic")
    case .empty:
      show(
        title: translated("No Results"), text: translated("Try another search or another filter."),
        icon: "system-search-symbolic")
    case .unreachable(let problem):
      show(
        title: translated("The Agent Does Not Run"),
        text: problem.isEmpty ? translated("The list comes back with it.") : problem, icon: "dialog-warning-symbolic")
    }
    showNews(0)
  }

  private func show(title: String, text: String, icon: String) {
    adw_status_page_set_title(message.opaque, title)
    adw_status_page_set_description(message.opaque, Widgets.escaped(text))
    adw_status_page_set_icon_name(message.opaque, icon)
    gtk_widget_set_visible(messageButton.widget, 0)
    Widgets.show("message", in: contents)
    gtk_label_set_text(total.opaque, "")
  }

  private func show(total count: UInt64) {
    let text = count == 1 ? translated("1 tag") : translated("{number} tags", ["number": "\(count)"])
    gtk_label_set_text(total.opaque, count == 0 ? "" : text)
  }

  private func showNews(_ count: Int) {
    newTaps = count
    gtk_button_set_label(
      newsButton.cast(), count == 1 ? translated("1 new tag") : translated("{number} new tags", ["number": "\(count)"]))
    gtk_revealer_set_reveal_child(news.opaque, count == 0 ? 0 : 1)
  }

  /// Calls the agent. The user sees an error as a toast. The program does not end before the call.
  private func call(_ body: @escaping (AgentClient) async throws(BusError) -> Void) {
    let application = g_application_get_default()
    g_application_hold(application)
    Task { [services, toasts] in
      defer { g_application_release(application) }
      do throws(BusError) {
        try await body(try await services.agent())
      } catch {
        toasts.show(error.message)
      }
    }
  }
}
