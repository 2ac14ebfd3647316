/// What is on the screen, what should be, and which server shows it: every decision of the notification client.
///
/// Pure: events in, actions out, no clock and no bus. The time-outs it asks for come back as events.
///
/// Servers differ; what is decided here holds for all that are known:
/// - Only signals of the server that owns the name now count, and only for ids that it gave us (GNOME Shell sends each signal
///   twice, once from a connection that owns nothing; broadcasting servers send other programs' ids).
/// - `NotificationClosed` may come before `ActionInvoked`: a closed notification is remembered for two seconds.
/// - The activation token comes before the click, after it, or never: a click waits a moment for it.
/// - A notification is closed by us after a click: LXQt leaves it up.
/// - An id dies with its server: what was up is shown on the next one, never with the old id in `replaces_id`.
/// - GNOME Shell owns its name before it answers: a server that has not said what it is is asked again.
/// - What an earlier run has left up is taken over where its server still has it (``EarlierNotifications``).
/// - A server that hangs may still have shown what it does not answer for: `Notify` is never given up while its server is on the bus,
///   and no more of them are under way than ``maximumCalls``.
/// - xfce drops `actions` in do-not-disturb: a server without it is asked again before each notification, and what was shown
///   without buttons, or has gone without anybody being able to click, is shown again with them.
struct NotificationBoard {
  /// Longer than any known server takes from click to token; short for a person.
  static let tokenWait: Duration = .milliseconds(100)
  /// How long after `NotificationClosed` an `ActionInvoked` still counts.
  static let lateActionWait: Duration = .seconds(2)
  /// How long a server that went may take to come back by itself before the bus is asked for any.
  static let activationWait: Duration = .seconds(5)
  /// How often a server that has not said what it is is asked again: after one second, then after two, and for two minutes in all.
  static let maximumSilences = 7
  /// Signals kept while an answer to `Notify` is due: one of them may be for the id that it brings.
  static let maximumEarlySignals = 64

  /// `Notify` calls under way at once, but for those that replace what is up; others wait for an answer to one.
  static let maximumCalls = 32

  private var owner: String?
  private var server: NotificationServer?
  private var isActivating = false
  private var isDescribing = false
  private var slots: [Int: NotificationSlot] = [:]
  private var lastSlot = 0
  private var lastCall = 0
  private var lastTimer = 0
  private var activationTimer = 0
  private var descriptionTimer = 0
  private var silences = 0
  private var early: [(Signal, UInt32)] = []
  private var earlier = EarlierNotifications()

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .ownerChanged(let name): return ownerChanged(name)
    case .described(let description): return described(description)
    case .activationFailed:
      isActivating = false
      return []
    case .show(let key, let notification, let replacing): return show(notification, as: key, replacing: replacing)
    case .left(let places):
      earlier.add(places)
      return []
    case .close(let key): return close(key)
    case .closeAll:
      let keys = slots.sorted { $0.key < $1.key }.map(\.value.key)
      return keys.flatMap { close($0) }
    case .notified(let slot, let call, let id): return notified(slot, call, id) + continueShowing()
    case .refused(let slot, let call, let reason): return refused(slot, call, reason) + continueShowing()
    case .signal(let signal, let id, let sender):
      return sender == owner ? handle(signal, id: id) : []
    case .timeout(let timer): return timedOut(timer)
    }
  }

  // MARK: The server

  private mutating func ownerChanged(_ name: String?) -> [Action] {
    guard name != owner else { return [] }
    var actions = leaveServer()
    owner = name
    server = nil
    early = []
    isActivating = false
    isDescribing = name != nil
    silences = 0
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

  /// What was up has to be shown again; what was decided is said now, since nothing more can come.
  private mutating func leaveServer() -> [Action] {
    var actions: [Action] = []
    for number in slots.keys.sorted() {
      guard let slot = slots[number] else { continue }
      switch slot.phase {
      case .clicked(_, let action, _):
        slots[number] = nil
        actions.append(.report(.activated(slot.key, action: action, token: nil)))
      case .closed(_, let reason, _) where reason == .dismissed || reason == .expired:
        slots[number] = nil
        actions.append(.report(.closed(slot.key, reason)))
      case .calling(_, .remove): slots[number] = nil
      case .dormant: break
      // A server that closes everything on its way out gives a reason that is nobody's decision.
      default: slots[number]?.phase = .waiting
      }
    }
    return actions
  }

  private mutating func described(_ description: NotificationServer) -> [Action] {
    guard description.owner == owner else { return [] }
    let isNew = server == nil || server?.name != description.name
    isDescribing = false
    server = description
    let (unwanted, gone) = earlier.meet(description)
    return (isNew ? [.report(.serverChanged(description))] : []) + gone.map { .forget($0) }
      + unwanted.map { .closeNotification($0) } + flush(hasActions: description.hasActions) + askAgain()
  }

  /// What waits is not held up by a server that does not say what it is: it may never.
  private mutating func askAgain() -> [Action] {
    guard let server, !server.isKnown, silences < Self.maximumSilences else { return [] }
    lastTimer += 1
    descriptionTimer = lastTimer
    defer { silences += 1 }
    return [.wait(.description(serial: lastTimer), .seconds(1 << silences))]
  }

  /// Shows what waits, and once more with buttons what was shown without them.
  private mutating func flush(hasActions: Bool) -> [Action] {
    var actions: [Action] = []
    for number in slots.keys.sorted() {
      guard let slot = slots[number] else { continue }
      switch (slot.phase, slot.isMute) {
      case (.waiting, _): actions += notify(number, replacing: nil)
      case (.dormant, _) where hasActions: actions += notify(number, replacing: nil)
      case (.up(let id, _), true) where hasActions:
        actions += notify(number, replacing: NotificationSlot.Shown(id: id, key: slot.key))
      default: break
      }
    }
    return actions
  }

  // MARK: The caller

  private mutating func show(
    _ notification: Notification, as key: NotificationKey, replacing: NotificationKey?
  ) -> [Action] {
    guard let number = number(of: key) ?? replacing.flatMap(number(of:)), let previous = slots[number] else {
      lastSlot += 1
      slots[lastSlot] = NotificationSlot(key: key, notification: notification, phase: .waiting)
      return begin(lastSlot, replacing: nil)
    }
    earlier.rename(previous.key, to: key)
    slots[number]?.key = key
    slots[number]?.notification = notification
    slots[number]?.refusals = 0
    switch previous.phase {
    case .calling(let call, _):
      slots[number]?.phase = .calling(call, then: .showAgain)
      return []
    case .up(let id, _): return begin(number, replacing: NotificationSlot.Shown(id: id, key: previous.key))
    default:
      slots[number]?.phase = .waiting
      return begin(number, replacing: nil)
    }
  }

  /// Shows a slot now, or as soon as there is a server that can.
  private mutating func begin(_ number: Int, replacing replaced: NotificationSlot.Shown?) -> [Action] {
    guard let owner else {
      guard !isActivating else { return [] }
      isActivating = true
      return [.activateServer]
    }
    guard let server else { return [] }
    guard server.hasActions || replaced != nil else {
      slots[number]?.phase = .waiting
      guard !isDescribing else { return [] }
      isDescribing = true
      return [.describe(owner: owner)]
    }
    return notify(number, replacing: replaced)
  }

  private mutating func close(_ key: NotificationKey) -> [Action] {
    (earlier.close(key, on: server).map { [.closeNotification($0)] } ?? []) + closeSlot(key)
  }

  private mutating func closeSlot(_ key: NotificationKey) -> [Action] {
    guard let number = number(of: key), let slot = slots[number] else { return [] }
    switch slot.phase {
    case .calling(let call, _):
      slots[number]?.phase = .calling(call, then: .remove)
      return []
    case .up(let id, _):
      slots[number] = nil
      return place(id).map { [.closeNotification($0)] } ?? []
    default:
      slots[number] = nil
      return []
    }
  }

  // MARK: Answers

  private mutating func notify(_ number: Int, replacing replaced: NotificationSlot.Shown?) -> [Action] {
    guard let slot = slots[number], let server else { return [] }
    let replaced = replaced ?? earlier.take(slot.key, on: server).map { NotificationSlot.Shown(id: $0, key: nil) }
    guard replaced != nil || slots.values.count(where: \.isCalling) < Self.maximumCalls else {
      slots[number]?.phase = .waiting
      return []
    }
    lastCall += 1
    let call = NotificationSlot.Call(number: lastCall, key: slot.key, replaced: replaced)
    slots[number]?.phase = .calling(call, then: .nothing)
    slots[number]?.isMute = !server.hasActions
    let arguments = NotifyArguments(slot.notification, replaces: replaced?.id ?? 0, server: server)
    return [.notify(slot: number, call: lastCall, owner: server.owner, arguments)]
  }

  private mutating func notified(_ number: Int, _ answered: Int, _ id: UInt32) -> [Action] {
    guard let place = place(id), let slot = slots[number], case .calling(let call, let then) = slot.phase,
      call.number == answered
    else { return [] }
    guard id != 0 else { return refused(number, answered, "the server gave the id 0") }
    slots[number]?.refusals = 0
    switch then {
    case .remove:
      slots[number] = nil
      forgetEarly()
      return [.closeNotification(place)]
    case .showAgain: return notify(number, replacing: NotificationSlot.Shown(id: id, key: call.key))
    case .nothing:
      slots[number]?.phase = .up(id: id, token: nil)
      var actions: [Action] = [.report(.shown(slot.key, at: place))]
      let signals = early.filter { $0.1 == id }
      early.removeAll { $0.1 == id }
      for (signal, id) in signals {
        if let replaced = call.replaced, replaced.id == id {
          // What closed the one that was replaced did not close the one that has taken its place.
          if case .closed = signal { continue }
          // Nor was a click on that one meant for what nobody had seen yet; what is up now can still be clicked.
          if replaced.key != call.key { continue }
        }
        actions += handle(signal, id: id)
      }
      forgetEarly()
      return actions
    }
  }

  private mutating func refused(_ number: Int, _ answered: Int, _ reason: String) -> [Action] {
    guard let slot = slots[number], case .calling(let call, let then) = slot.phase, call.number == answered else {
      return []
    }
    guard then != .remove else {
      slots[number] = nil
      forgetEarly()
      return []
    }
    // Whatever a server has against the replacement: what was to be replaced must not stay up beside what is shown now.
    if let replaced = call.replaced, let place = place(replaced.id) {
      return [.closeNotification(place)] + notify(number, replacing: nil)
    }
    slots[number]?.phase = .refused
    slots[number]?.refusals += 1
    // From 1.5 s, past the second within which Plasma refuses a repetition, to a minute and a half.
    let delay = Duration.milliseconds(1500 << min(slot.refusals, 6))
    forgetEarly()
    return [.report(.refused(slot.key, reason: reason)), .wait(.retry(slot: number, serial: newTimer(number)), delay)]
  }

  /// Shows the next one that has waited for an answer to another.
  private mutating func continueShowing() -> [Action] {
    guard server != nil, !isDescribing,
      let number = slots.filter({ $0.value.isWaiting }).keys.min()
    else { return [] }
    return notify(number, replacing: nil)
  }

  /// Where the present server has what it has given this number.
  private func place(_ id: UInt32) -> NotificationPlace? {
    server.map { NotificationPlace(bus: $0.bus, owner: $0.owner, id: id) }
  }

  /// Early signals are for nobody once no answer is due.
  private mutating func forgetEarly() {
    if !slots.values.contains(where: \.isCalling) { early = [] }
  }

  // MARK: Signals

  private mutating func handle(_ signal: Signal, id: UInt32) -> [Action] {
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

  private mutating func clicked(
    _ number: Int, id: UInt32, action: String, token: String?, isUp: Bool
  ) -> [Action] {
    guard let slot = slots[number],
      action == "default" || slot.notification.buttons.contains(where: { $0.key == action })
    else { return [] }
    if let token { return finish(number, id: id, action: action, token: token, isUp: isUp) }
    slots[number]?.phase = .clicked(id: id, action: action, isUp: isUp)
    return [.wait(.token(slot: number, serial: newTimer(number)), Self.tokenWait)]
  }

  private mutating func finish(
    _ number: Int, id: UInt32? = nil, action: String, token: String?, isUp: Bool
  ) -> [Action] {
    guard let slot = slots.removeValue(forKey: number) else { return [] }
    let report = Action.report(.activated(slot.key, action: action, token: token))
    guard isUp, let place = (id ?? slot.phase.id).flatMap(place) else { return [report] }
    return [report, .closeNotification(place)]
  }

  // MARK: Time

  /// - Returns: the serial number of the time-out that the slot waits for from here on.
  private mutating func newTimer(_ number: Int) -> Int {
    lastTimer += 1
    slots[number]?.timer = lastTimer
    return lastTimer
  }

  private mutating func timedOut(_ timer: Timer) -> [Action] {
    switch timer {
    case .token(let number, let serial):
      guard let slot = slots[number], slot.timer == serial, case .clicked(_, let action, let isUp) = slot.phase else {
        return []
      }
      return finish(number, action: action, token: nil, isUp: isUp)
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
      guard serial == descriptionTimer, let owner, let server, !server.isKnown, !isDescribing else { return [] }
      isDescribing = true
      return [.describe(owner: owner)]
    }
  }

  private func number(of key: NotificationKey) -> Int? {
    slots.first(where: { $0.value.key == key && !$0.value.isClicked })?.key
  }

  private func number(of id: UInt32) -> Int? {
    slots.first(where: { $0.value.phase.id == id })?.key
  }
}
