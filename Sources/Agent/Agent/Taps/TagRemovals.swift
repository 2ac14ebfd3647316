import Handlers
import NDEF
import Routing

/// Decides what happens when the tag of a tap is taken away: a rule's `OnRemove=`, or a call of the app.
///
/// Pure. It happens only if the tap was opened, or is being opened, when the tag is removed:
///
///     the hand-over begins, it ends, the tag is removed   → at the removal
///     the hand-over begins, the tag is removed, it ends   → at the end of the hand-over
///     the tag is removed, the user clicks                 → never
struct TagRemovals {
  enum Event {
    case opening(TapOffer)
    /// Also for a late answer.
    case ended(String, HandOverOutcome)
    case removed(String)
    /// The tap is not opened after all. It may be open already.
    case notOpened(String)
    /// The tag was removed while the session was locked.
    case forgotten(String)
  }

  enum Action: Equatable {
    case run(TapCommand, Launcher.Click)
    /// To the app that got the message over D-Bus.
    case report(Application, Launcher.Click)
  }

  private struct Entry {
    let tap: String
    let actions: [Action]
    var isOpen = false
    var isRemoved = false
  }

  /// More tags do not lie on readers. An older entry is of a tap that was opened after its tag had left.
  static let most = 64

  private var entries: [Entry] = []

  /// Of the taps with an action that may follow.
  var count: Int { entries.count }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .opening(let offer):
      let present = index(of: offer.id)
      if let present, entries[present].isOpen { return [] }
      let isRemoved = present.map { entries.remove(at: $0).isRemoved } ?? false
      let actions = offer.actionsAtRemoval
      guard !actions.isEmpty else { return [] }
      entries = entries.suffix(Self.most - 1) + [Entry(tap: offer.id, actions: actions, isRemoved: isRemoved)]
      return []
    case .ended(let id, .delivered):
      guard let index = index(of: id) else { return [] }
      entries[index].isOpen = true
      return takeActions(at: index)
    case .ended(let id, .failed), .forgotten(let id):
      entries.removeAll { $0.tap == id }
      return []
    case .notOpened(let id):
      entries.removeAll { $0.tap == id && !$0.isOpen }
      return []
    // The answer may come later.
    case .ended(_, .unknown): return []
    case .removed(let id):
      guard let index = index(of: id) else { return [] }
      entries[index].isRemoved = true
      return takeActions(at: index)
    }
  }

  private func index(of tap: String) -> Int? { entries.firstIndex { $0.tap == tap } }

  /// Empty until the tap is open and its tag is gone.
  private mutating func takeActions(at index: Int) -> [Action] {
    guard entries[index].isOpen, entries[index].isRemoved else { return [] }
    return entries.remove(at: index).actions
  }
}

extension TapOffer {
  fileprivate var actionsAtRemoval: [TagRemovals.Action] {
    guard isOpenable else { return [] }
    let click = Launcher.Click(tapID: id, tag: read.withoutContents)
    var actions: [TagRemovals.Action] = []
    if let rule, let command = TapCommand(onRemovalFor: rule, uri: uri) { actions.append(.run(command, click)) }
    if command == nil, handsOverMessage, let handler, handler.isDBusActivatable {
      actions.append(.report(handler, click))
    }
    return actions
  }
}
