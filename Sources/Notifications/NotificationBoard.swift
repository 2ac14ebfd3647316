/// What is on the screen, what should be, and which server shows it: every decision of the notification client.
///
/// Pure: events in, actions out, no clock and no bus. The time-outs it asks for come back as events.
///
/// Servers differ; what is decided here holds for all that are known:
/// - Only signals of the server that owns the name now count, and only for ids that it gave us (GNOME Shell sends each signal
///   twice, once from a connection that owns nothing; broadcasting servers send other programs' ids).
/// - `NotificationClosed` may come before `ActionInvoked`: a closed notification is remembered for two seconds.
/// - The activation token comes before the click, after it, or never: a click waits a moment for it.
/// - A click may come late, and LXQt keeps the old buttons of what is replaced: only what means the same takes a place, anything else
///   is closed and shown anew. A click within one second after that shows it again, because the user aimed at the old one.
/// - Any program may replace what is up and copy its buttons: their keys end in what it cannot guess.
/// - A notification is closed by us after a click: LXQt leaves it up.
/// - An id dies with its server: what was up is shown on the next one, never with the old id in `replaces_id`, and closed on one that
///   lives on without the name.
/// - GNOME Shell owns its name before it answers: a server that has not said what it is is asked again.
/// - What an earlier run has left up is taken over where its server still has it (``EarlierNotifications``).
/// - A server that hangs may still have shown what it does not answer for: `Notify` is never given up while its server is on the bus,
///   and no more of them are under way than ``maximumCalls``.
/// - xfce drops `actions` in do-not-disturb: a server without it is asked again before each notification, and from time to time while
///   one was shown without buttons, or has gone without anybody being able to click; it is shown again with them.
struct NotificationBoard {
  /// Longer than any known server takes from click to token; short for a person.
  static let tokenWait: Duration = .milliseconds(100)
  /// How long a click on what has taken the place of something else counts for that: longer than a person takes to stop a click.
  static let unseenWait: Duration = .seconds(1)
  /// How long after `NotificationClosed` an `ActionInvoked` still counts.
  static let lateActionWait: Duration = .seconds(2)
  /// How long a server that went may take to come back by itself before the bus is asked for any.
  static let activationWait: Duration = .seconds(5)
  /// How often a server that has not said what it is is asked again: after one second, then after two, and for two minutes in all.
  static let maximumSilences = 7
  /// How often a server without actions is asked again while something waits for buttons: after five seconds, then later each time, up
  /// to this.
  static let maximumQuiet: Duration = .seconds(60)
  /// Signals kept while an answer to `Notify` is due: one of them may be for the id that it brings.
  static let maximumEarlySignals = 64

  /// `Notify` calls under way at once, but for those that replace what is up; others wait for an answer to one.
  static let maximumCalls = 32

  /// Makes what the keys of a new notification's buttons end in.
  let newKeySuffix: @Sendable () -> String
  var owner: String?
  var server: NotificationServer?
  var isActivating = false
  var isDescribing = false
  var slots: [Int: NotificationSlot] = [:]
  var lastSlot = 0
  var lastCall = 0
  var lastTimer = 0
  var activationTimer = 0
  /// The serial number of the time-out after which the server is asked again; nil where it need not be.
  var descriptionTimer: Int?
  var silences = 0
  /// How often in a row it was asked for buttons that it does not have.
  var quietLooks = 0
  var early: [(Signal, UInt32)] = []
  var earlier = EarlierNotifications()
  /// Calls that a server that lives on without the name may still answer, and what each was to replace.
  var leftBehind: [Int: (server: NotificationServer, replaced: UInt32?)] = [:]

  init(newKeySuffix: @escaping @Sendable () -> String) { self.newKeySuffix = newKeySuffix }

  mutating func handle(_ event: Event) -> [Action] {
    let actions = decide(event)
    return actions + askAgain()
  }

  private mutating func decide(_ event: Event) -> [Action] {
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

  mutating func show(
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
    case .up(let id, _): return begin(number, replacing: previous.shown(id))
    default:
      slots[number]?.phase = .waiting
      return begin(number, replacing: nil)
    }
  }

  /// Shows a slot now, or as soon as there is a server that can.
  mutating func begin(_ number: Int, replacing replaced: NotificationSlot.Shown?) -> [Action] {
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

  mutating func close(_ key: NotificationKey) -> [Action] {
    (earlier.close(key, on: server).map { [.closeNotification($0)] } ?? []) + closeSlot(key)
  }

  mutating func closeSlot(_ key: NotificationKey) -> [Action] {
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

  func number(of key: NotificationKey) -> Int? {
    slots.first(where: { $0.value.key == key && !$0.value.isClicked })?.key
  }

  func number(of id: UInt32) -> Int? {
    slots.first(where: { $0.value.phase.id == id })?.key
  }
}
