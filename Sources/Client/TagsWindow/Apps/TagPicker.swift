import Bus
import CGTK
import Notifications
import TagrouteClient
import TagsPages

/// A row with which the user shows a tag: on the reader, or one of the inbox. It carries out what `TagPick` decides.
final class TagPicker {
  /// A row of a boxed list.
  let widget: Kept
  private let services: Services
  private let taken: (PickedTag) -> Void
  private let hold: Kept
  private let stateLabel: Kept
  private let menu = Kept(adopting: g_menu_new())
  private var pick = TagPick<ReaderTag>()
  private var recent: [PickedTag] = []
  /// The reader session. It ends when the task is cancelled.
  private var session: Task<Void, Never>?
  /// Of the session. Events of an earlier one are ignored.
  private var number = 0

  init(_ services: Services, taken: @escaping (PickedTag) -> Void) {
    (self.services, self.taken) = (services, taken)
    let builder = Builder("picker.ui")
    widget = builder["row"]
    hold = builder["hold"]
    stateLabel = builder["state"]
    hold.on("clicked") { [weak self] in self.map { $0.handle($0.pick.isRunning ? .cancelled : .asked) } }
    let button = builder["recent"]
    gtk_menu_button_set_menu_model(button.opaque, menu.cast())
    // Early, because a menu that grows when it is open is hard to use.
    let popover = gtk_menu_button_get_popover(button.opaque).map { Kept($0) }
    for shown in [widget, popover] { shown?.on("map") { [weak self] in self?.loadRecent() } }
    addActions()
    show()
  }

  isolated deinit { session?.cancel() }

  /// Gives the reader back.
  func cancel() { handle(.cancelled) }

  private func addActions() {
    let group = Kept(adopting: OpaquePointer(g_simple_action_group_new()))
    let type = g_variant_type_new("s")
    defer { g_variant_type_free(type) }
    let take = Kept(adopting: g_simple_action_new("take", type))
    take.on("activate") { [weak self] values in
      guard let self, let position = values.variantText(1).flatMap({ Int($0) }), recent.indices.contains(position)
      else { return }
      taken(recent[position])
    }
    g_action_map_add_action(group.opaque, take.opaque)
    gtk_widget_insert_action_group(widget.widget, "picker", group.opaque)
  }

  // MARK: A tag on the reader

  private func handle(_ event: TagPick<ReaderTag>.Event) {
    for action in pick.handle(event) {
      switch action {
      case .start: start()
      case .read(let tag): read(tag)
      case .take(let tag): taken(tag)
      case .close:
        session?.cancel()
        session = nil
      case .show: show()
      }
    }
  }

  private func start() {
    number += 1
    let number = number
    session = Task { [weak self, services] in
      do throws(BusError) {
        let options = ReaderSessionOptions(message: translated("Hold the tag near the reader."))
        let session = try await ReaderSession.start(options, loop: services.loop)
        for await event in session.events {
          guard let self, self.number == number else { return }
          follow(event)
        }
      } catch {
        guard let self, self.number == number else { return }
        handle(.notStarted(WritingRunner.problem(starting: error).words))
      }
    }
  }

  private func follow(_ event: ReaderSessionEvent) {
    switch event {
    case .activated: handle(.activated)
    case .tagDetected(let tag): handle(.detected(tag))
    case .tagRemoved(let tag): handle(.removed(tag))
    case .roundEnded: handle(.roundEnded)
    case .ended(let end): handle(.ended(end.reason))
    case .messageRead, .progress, .pollingRestarted: break
    }
  }

  private func read(_ tag: ReaderTag) {
    Task { [weak self] in
      var picked: PickedTag? = PickedTag(uid: tag.uid, technology: tag.technology, message: nil)
      do throws(BusError) {
        picked = PickedTag(uid: tag.uid, technology: tag.technology, message: try await tag.readNDEF())
      } catch {
        // Any other tag without a message has a UID all the same.
        if [.tagLost, .sessionEnded, .readerLost].contains(TagFailure(error)) { picked = nil }
      }
      self?.handle(.read(tag, picked))
    }
  }

  private func show() {
    let text: String? =
      switch pick.state {
      case .idle(let problem): problem
      case .starting: translated("Waiting for the reader…")
      case .holding, .reading: translated("Hold the tag near the reader.")
      case .several: translated("More than one tag lies there. Take all but one away.")
      }
    gtk_button_set_label(hold.cast(), pick.isRunning ? translated("Cancel") : translated("Hold a Tag"))
    gtk_label_set_text(stateLabel.opaque, text.map { DisplayText($0, limit: 500).string } ?? "")
    gtk_widget_set_visible(stateLabel.widget, text == nil ? 0 : 1)
  }

  // MARK: A tag of the inbox

  private func loadRecent() {
    Task { [weak self, services] in
      let tags = (try? await Self.recent(services.agent())) ?? []
      self?.show(tags)
    }
  }

  @concurrent nonisolated private static func recent(_ agent: AgentClient) async throws(BusError) -> [PickedTag] {
    PickedTag.recent(try await agent.taps(limit: 50, withMessages: true))
  }

  private func show(_ tags: [PickedTag]) {
    guard tags != recent || tags.isEmpty else { return }
    recent = tags
    g_menu_remove_all(menu.opaque)
    for (position, tag) in tags.enumerated() {
      let item = Kept(adopting: g_menu_item_new(Widgets.menuLabel(tag.title), nil))
      g_menu_item_set_action_and_target_value(item.opaque, "picker.take", g_variant_new_string("\(position)"))
      g_menu_append_item(menu.opaque, item.opaque)
    }
    // No such action, so nothing happens.
    if tags.isEmpty { g_menu_append(menu.opaque, translated("No Tags Yet"), "picker.none") }
  }
}
