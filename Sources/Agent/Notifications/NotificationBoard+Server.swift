import EventLoop

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
    let (unwanted, gone) = earlier.meet(description)
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
