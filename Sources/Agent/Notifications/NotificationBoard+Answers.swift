import EventLoop
import Names

/// Calls of `Notify` and their replies.
extension NotificationBoard {
  mutating func notify(_ number: Int, replacing shown: NotificationSlot.Shown?) -> [Action] {
    guard let slot = slots[number], let server else { return [] }
    let shown = shown ?? earlier.take(slot.key, on: server).map { NotificationSlot.Shown(id: $0) }
    // A click on the current notification may be on its way. Replace it only if that click has the same effect.
    let replaced = shown.flatMap { $0.hasSameActions(as: slot.notification) ? $0 : nil }
    let closing = replaced == nil ? shown.flatMap { place($0.id) }.map { [Action.closeNotification($0)] } ?? [] : []
    if !closing.isEmpty, shown?.notification != nil { slots[number]?.unseen = 0 }
    guard replaced != nil || slots.values.count(where: \.isCalling) < Self.maximumCalls else {
      slots[number]?.phase = .waiting
      return closing
    }
    lastCall += 1
    let call = NotificationSlot.Call(
      number: lastCall, key: slot.key, notification: slot.notification, replaced: replaced, sound: slot.sound)
    // LXQt keeps the buttons of a replaced notification, so their keys must not change.
    if replaced == nil { slots[number]?.keySuffix = newKeySuffix() }
    slots[number]?.phase = .calling(call, then: .nothing)
    slots[number]?.isMute = !server.hasActions
    slots[number]?.sound = .silent
    let arguments = NotifyArguments(
      slot.notification, replaces: replaced?.id ?? 0, keySuffix: slots[number]?.keySuffix ?? "", sound: slot.sound,
      server: server)
    return closing + [.notify(slot: number, call: lastCall, owner: server.owner, arguments)]
  }

  mutating func notified(_ number: Int, _ answered: Int, _ id: UInt32) -> [Action] {
    if let (server, _) = leftBehind.removeValue(forKey: answered) {
      return id == 0 ? [] : [.closeNotification(NotificationPlace(bus: server.bus, owner: server.owner, id: id))]
    }
    guard let place = place(id), let slot = slots[number], case .calling(let call, let then) = slot.phase,
      call.number == answered
    else { return [] }
    guard id != 0 else { return refused(number, answered, "the server gave the id 0") }
    slots[number]?.refusalPause.reset()
    let sound: [Action] =
      call.sound == .silent || server?.hasSounds != false ? [] : [.report(.soundDue(call.key, call.sound))]
    switch then {
    case .remove:
      slots[number] = nil
      forgetEarly()
      return [.closeNotification(place)]
    case .showAgain:
      return sound + notify(number, replacing: NotificationSlot.Shown(id: id, notification: call.notification))
    case .nothing:
      slots[number]?.phase = .up(id: id, token: nil)
      var actions: [Action] = [.report(.shown(slot.key, at: place))] + sound
      if slot.unseen != nil {
        lastTimer += 1
        slots[number]?.unseen = lastTimer
        actions.append(.wait(.unseen(slot: number, serial: lastTimer), Self.unseenWait))
      }
      let signals = early.filter { $0.1 == id }
      early.removeAll { $0.1 == id }
      for (signal, id) in signals {
        if let replaced = call.replaced, replaced.id == id {
          // The signal is about the replaced notification, not about the one that has taken its place.
          if case .closed = signal { continue }
        }
        actions += handle(signal, id: id)
      }
      forgetEarly()
      return actions
    }
  }

  mutating func refused(_ number: Int, _ answered: Int, _ reason: String) -> [Action] {
    if let (server, replaced) = leftBehind.removeValue(forKey: answered) {
      return replaced.map {
        [.closeNotification(NotificationPlace(bus: server.bus, owner: server.owner, id: $0))]
      } ?? []
    }
    guard let slot = slots[number], case .calling(let call, let then) = slot.phase, call.number == answered else {
      return []
    }
    // The server may have refused the replacement for any reason. The old notification must not stay up, least of all
    // beside the new one.
    let closing = call.replaced.flatMap { place($0.id) }.map { Action.closeNotification($0) }
    guard then != .remove else {
      slots[number] = nil
      forgetEarly()
      return closing.map { [$0] } ?? []
    }
    slots[number]?.keepSound(of: call)
    if let closing { return [closing] + notify(number, replacing: nil) }
    slots[number]?.phase = .refused
    let delay = slots[number]?.refusalPause.next() ?? .zero
    forgetEarly()
    return [.report(.refused(slot.key, reason: reason)), .wait(.retry(slot: number, serial: newTimer(number)), delay)]
  }

  /// Shows the next notification that has waited because too many calls were running.
  mutating func continueShowing() -> [Action] {
    guard server != nil, !isDescribing,
      let number = slots.filter({ $0.value.isWaiting }).keys.min()
    else { return [] }
    return notify(number, replacing: nil)
  }

  /// Of a notification on the current server.
  func place(_ id: UInt32) -> NotificationPlace? {
    server.map { NotificationPlace(bus: $0.bus, owner: $0.owner, id: id) }
  }

  /// Has no effect while a reply is due.
  mutating func forgetEarly() {
    if !slots.values.contains(where: \.isCalling) { early = [] }
  }
}
