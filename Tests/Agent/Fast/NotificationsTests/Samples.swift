import EventLoop
import Names

@testable import Notifications

func sampleNotification(_ summary: String = "Open in Menu", body: String = "menu.example.com/table/4") -> Notification {
  Notification(
    applicationName: "Tagroute", icon: "org.example.Menu", summary: DisplayText(summary), body: DisplayText(body),
    bodyWithoutActions: DisplayText("To open it: tagroute inbox open"),
    defaultAction: NotificationButton(key: "open", label: "Open"),
    buttons: [NotificationButton(key: "open", label: "Open")], category: "transfer.received")
}

extension NotificationServer {
  static func sample(
    _ owner: String = ":1.7", name: String = "mako", capabilities: Set<String> = ["actions", "body", "body-markup"]
  ) -> NotificationServer {
    NotificationServer(bus: "bus", owner: owner, name: name, version: "1", capabilities: capabilities)
  }
}

extension NotificationPlace {
  static func sample(_ owner: String = ":1.7", id: UInt32) -> NotificationPlace {
    NotificationPlace(bus: "bus", owner: owner, id: id)
  }
}

extension NotificationEvent {
  var shownKey: NotificationKey? { if case .shown(let key, at: _) = self { key } else { nil } }
}

func board(with server: NotificationServer = .sample()) -> NotificationBoard {
  var board = NotificationBoard { "" }
  _ = board.handle(.ownerChanged(server.owner))
  _ = board.handle(.described(server))
  return board
}

func board(showing key: String, id: UInt32) -> NotificationBoard {
  var board = board()
  _ = board.put(key, id: id)
  return board
}

extension NotificationBoard {
  mutating func put(_ key: String, id: UInt32, replacing: String? = nil) -> [Action] {
    let actions = handle(
      .show(NotificationKey(key), sampleNotification(), replacing: replacing.map(NotificationKey.init)))
    return actions + answer(actions, id: id)
  }

  mutating func answer(_ actions: [Action], id: UInt32) -> [Action] {
    actions.flatMap { action in
      guard case .notify(let slot, let call, _, _) = action else { return [Action]() }
      return handle(.notified(slot: slot, call: call, id: id))
    }
  }

  mutating func refuse(_ actions: [Action], _ reason: String = "LimitExceeded") -> [Action] {
    actions.flatMap { action in
      guard case .notify(let slot, let call, _, _) = action else { return [Action]() }
      return handle(.refused(slot: slot, call: call, reason: reason))
    }
  }
}

extension [NotificationBoard.Action] {
  var reports: [NotificationEvent] { compactMap { if case .report(let event) = $0 { event } else { nil } } }

  var calls: [NotifyArguments] {
    compactMap { if case .notify(_, _, _, let arguments) = $0 { arguments } else { nil } }
  }

  var closed: [UInt32] { compactMap { if case .closeNotification(let place) = $0 { place.id } else { nil } } }

  var timers: [NotificationBoard.Timer] { compactMap { if case .wait(let timer, _) = $0 { timer } else { nil } } }
}

/// The suffixes ".1", ".2" and so on.
final class Suffixes: Sendable {
  private let last = Locked(0)

  func next() -> String {
    last.withLock {
      $0 += 1
      return ".\($0)"
    }
  }
}
