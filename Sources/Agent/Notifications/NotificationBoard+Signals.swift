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
