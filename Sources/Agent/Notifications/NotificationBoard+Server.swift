import EventLoop
import Names

/// Changes of the server, and their effect on notifications.
extension NotificationBoard {
  mutating func ownerChanged(_ name: String?) -> [Action] {
    guard name != owner else { return [] }
    var actions = leaveServer()
    owner = name
    server = nil
    early = []
    isActivating = false
    isDescribing = name != nil
    descriptionTimer = nil
    silences = 0
    buttonPause.reset()
    if let name {
      actions.append(.describe(owner: name))
    } else {
      actions.append(.report(.serverChanged(nil)))
      if !slots.isEmpty {
        lastTimer += 1
        activationTimer = lastTimer
        actions.append(.wait(.activation(serial: lastTimer), Self.activationWait))
      }
    }
    return actions
  }

  /// Prepares all slots for another server. Notifications that were up are shown again there. Known outcomes are
  /// reported now, because no more signals can come.
  ///
  /// The old server may keep running without the bus name. Its notifications are closed, so that they do not stay
  /// beside those of the next server.
  mutating func leaveServer() -> [Action] {
    var actions: [Action] = []
    for number in slots.keys.sorted() {
      guard let slot = slots[number] else { continue }
      if let place = slot.phase.idOnScreen.flatMap(place) { actions.append(.closeNotification(place)) }
      switch slot.phase {
      case .clicked(_, let action, _):
        slots[number] = nil
        actions.append(.report(.activated(slot.key, action: action, token: nil)))
      case .closed(_, let reason, _) where reason == .dismissed || reason == .expired:
        slots[number] = nil
        actions.append(.report(.closed(slot.key, reason)))
      case .calling(let call, let then):
        if let server { leftBehind[call.number] = (server, call.replaced?.id) }
        slots[number]?.keepSound(of: call)
        if then == .remove { slots[number] = nil } else { slots[number]?.phase = .waiting }
      case .dormant: break
      // A server that closes everything before it exits reports a reason that is not the user's decision.
      default: slots[number]?.phase = .waiting
      }
    }
    return actions
  }

  mutating func described(_ description: NotificationServer) -> [Action] {
    guard description.owner == owner else { return [] }
    let isNew = server == nil || server?.name != description.name
    isDescribing = false
    server = description
    if description.hasActions { buttonPause.reset() }
    let (unwanted, gone) = earlier.adopt(description)
    return (isNew ? [.report(.serverChanged(description))] : []) + gone.map { .forget($0) }
      + unwanted.map { .closeNotification($0) } + flush(hasActions: description.hasActions)
  }

  /// Asks the server again later, if necessary. Waiting notifications are shown even if the server does not describe
  /// itself, because it may never do so. A server also does not report that it has buttons again.
  mutating func askAgain() -> [Action] {
    guard let server, descriptionTimer == nil, !isDescribing else { return [] }
    let delay: Duration
    if !server.isKnown && silences < Self.maximumSilences {
      delay = .seconds(1 << silences)
      silences += 1
    } else if isWaitingForButtons {
      delay = buttonPause.next()
    } else {
      return []
    }
    lastTimer += 1
    descriptionTimer = lastTimer
    return [.wait(.description(serial: lastTimer), delay)]
  }

  /// Whether a notification was shown without buttons, on a server that still has none.
  var isWaitingForButtons: Bool { server?.hasActions == false && slots.values.contains(where: \.isMute) }

  /// Shows waiting notifications. If the server has buttons, also shows notifications again that had none.
  mutating func flush(hasActions: Bool) -> [Action] {
    var actions: [Action] = []
    for number in slots.keys.sorted() {
      guard let slot = slots[number] else { continue }
      switch (slot.phase, slot.isMute) {
      case (.waiting, _): actions += notify(number, replacing: nil)
      case (.dormant, _) where hasActions: actions += notify(number, replacing: nil)
      case (.up(let id, _), true) where hasActions:
        actions += notify(number, replacing: slot.shown(id))
      default: break
      }
    }
    return actions
  }
}

/// Signals of the server, and time-outs.
extension NotificationBoard {
  mutating func handle(_ signal: Signal, id: UInt32) -> [Action] {
    guard let number = number(of: id), let slot = slots[number] else {
      let isCallDue = slots.values.contains(where: \.isCalling)
      if isCallDue && early.count < Self.maximumEarlySignals { early.append((signal, id)) }
      return []
    }
    switch (signal, slot.phase) {
    case (.token(let token), .up): slots[number]?.phase = .up(id: id, token: token)
    case (.token(let token), .closed(_, let reason, _)): slots[number]?.phase = .closed(id: id, reason, token: token)
    case (.token(let token), .clicked(_, let action, let isUp)):
      return finish(number, action: action, token: token, isUp: isUp)
    case (.action(let action), .up(_, let token)):
      return clicked(number, id: id, action: action, token: token, isUp: true)
    case (.action(let action), .closed(_, _, let token)):
      return clicked(number, id: id, action: action, token: token, isUp: false)
    case (.closed(let reason), .up(_, let token)):
      slots[number]?.phase = .closed(id: id, NotificationCloseReason(rawValue: reason) ?? .undefined, token: token)
      return (place(id).map { [.forget($0)] } ?? [])
        + [.wait(.lateAction(slot: number, serial: newTimer(number)), Self.lateActionWait)]
    case (.closed, .clicked(_, let action, _)):
      slots[number]?.phase = .clicked(id: id, action: action, isUp: false)
      return place(id).map { [.forget($0)] } ?? []
    default: break
    }
    return []
  }

  mutating func clicked(
    _ number: Int, id: UInt32, action: String, token: String?, isUp: Bool
  ) -> [Action] {
    guard let slot = slots[number],
      let action = slot.notification.key(of: action, suffix: slot.keySuffix)
    else { return [] }
    guard slot.unseen == nil else {
      slots[number]?.phase = .waiting
      let closing = isUp ? place(id).map { [Action.closeNotification($0)] } ?? [] : []
      return closing + begin(number, replacing: nil)
    }
    if let token { return finish(number, id: id, action: action, token: token, isUp: isUp) }
    slots[number]?.phase = .clicked(id: id, action: action, isUp: isUp)
    return [.wait(.token(slot: number, serial: newTimer(number)), Self.tokenWait)]
  }

  mutating func finish(
    _ number: Int, id: UInt32? = nil, action: String, token: String?, isUp: Bool
  ) -> [Action] {
    guard let slot = slots.removeValue(forKey: number) else { return [] }
    let report = Action.report(.activated(slot.key, action: action, token: token))
    guard isUp, let place = (id ?? slot.phase.id).flatMap(place) else { return [report] }
    return [report, .closeNotification(place)]
  }

  /// The serial number of the slot's new time-out.
  mutating func newTimer(_ number: Int) -> Int {
    lastTimer += 1
    slots[number]?.timer = lastTimer
    return lastTimer
  }

  mutating func timedOut(_ timer: Timer) -> [Action] {
    switch timer {
    case .token(let number, let serial):
      guard let slot = slots[number], slot.timer == serial, case .clicked(_, let action, let isUp) = slot.phase else {
        return []
      }
      return finish(number, action: action, token: nil, isUp: isUp)
    case .unseen(let number, let serial):
      if slots[number]?.unseen == serial { slots[number]?.unseen = nil }
      return []
    case .lateAction(let number, let serial):
      guard let slot = slots[number], slot.timer == serial, case .closed(_, let reason, _) = slot.phase else {
        return []
      }
      if slot.isMute && reason != .dismissed {
        slots[number]?.phase = .dormant
        return []
      }
      slots[number] = nil
      return [.report(.closed(slot.key, reason))]
    case .retry(let number, let serial):
      guard let slot = slots[number], slot.timer == serial, case .refused = slot.phase else { return [] }
      slots[number]?.phase = .waiting
      return begin(number, replacing: nil)
    case .activation(let serial):
      guard serial == activationTimer, owner == nil, !slots.isEmpty, !isActivating else { return [] }
      isActivating = true
      return [.activateServer]
    case .description(let serial):
      guard serial == descriptionTimer else { return [] }
      descriptionTimer = nil
      guard let owner, let server, !server.isKnown || isWaitingForButtons, !isDescribing else { return [] }
      isDescribing = true
      return [.describe(owner: owner)]
    }
  }
}

/// The notifications that an earlier run of the program may have left on the screen. Each is kept until it is taken
/// over, closed, or known to be gone.
///
/// A killed program leaves its notifications up, and their buttons do not work. The next run has another connection,
/// but servers let it replace and close them:
/// - dunst (`queues_notification_replace_id`) and Plasma (`ServerPrivate::Notify`) accept a `replaces_id` from any
///   client. They send signals to the last sender, or to all clients. If the notification is no longer up, they show a
///   new one. dunst gives it the requested id.
/// - GNOME Shell refuses an id of another *connection* that is still on the bus (`_checkNotificationId`). It forgets
///   the owner of an id when the owner leaves the bus. For an unknown id it shows a new notification under a new id.
/// - `CloseNotification` follows the same rules on every server. It has no effect if there is no such notification.
///
/// An id is valid only on the server that assigned it: the same unique name on the same bus.
struct EarlierNotifications {
  private var places: [NotificationKey: NotificationPlace] = [:]
  /// Notifications to close once it is known whether the server is still the same.
  private var unwanted: Set<NotificationKey> = []

  mutating func add(_ places: [NotificationKey: NotificationPlace]) {
    self.places.merge(places) { $1 }
  }

  mutating func rename(_ key: NotificationKey, to other: NotificationKey) {
    guard key != other, places[other] == nil, let place = places.removeValue(forKey: key) else { return }
    places[other] = place
    unwanted.remove(key)
  }

  /// Nil if there is none on this server.
  mutating func take(_ key: NotificationKey, on server: NotificationServer) -> UInt32? {
    unwanted.remove(key)
    guard let place = places.removeValue(forKey: key), server.has(place) else { return nil }
    return place.id
  }

  /// Returns the notification to close now. Without a server, it is closed once the server is known.
  mutating func close(_ key: NotificationKey, on server: NotificationServer?) -> NotificationPlace? {
    guard let place = places[key] else { return nil }
    guard let server else {
      unwanted.insert(key)
      return nil
    }
    places[key] = nil
    return server.has(place) ? place : nil
  }

  /// Returns the notifications to close, and those that have gone with an earlier server.
  mutating func adopt(_ server: NotificationServer) -> (close: [NotificationPlace], gone: [NotificationPlace]) {
    let gone = places.filter { !server.has($0.value) }
    for key in gone.keys { places[key] = nil }
    let close = unwanted.compactMap { places.removeValue(forKey: $0) }
    unwanted = []
    return (close.sorted { $0.id < $1.id }, gone.values.sorted { $0.id < $1.id })
  }
}

extension NotificationServer {
  /// Whether a notification at this place is up on this server, unless it has been closed since.
  fileprivate func has(_ place: NotificationPlace) -> Bool {
    !bus.isEmpty && place.bus == bus && place.owner == owner
  }
}
