import EventLoop

/// All decisions of the notification client: which notifications are up, which should be, and on which server.
///
/// Pure: events in, actions out, no clock and no bus. Its time-outs come back as events.
///
/// Servers differ. These rules work with all known servers:
/// - The board uses only signals of the current owner of the bus name, and only for ids that it assigned to us. GNOME
///   Shell sends each signal twice, once from a connection that owns no name. Broadcasting servers send ids of other
///   programs.
/// - `NotificationClosed` may come before `ActionInvoked`, so a closed notification is remembered for two seconds.
/// - The activation token may come before the click, after it, or never, so a click waits a moment for it.
/// - A click may come late, and LXQt keeps the old buttons of a replaced notification. A notification therefore
///   replaces another only if their actions are the same. Otherwise the board closes the old one and shows a new one. A
///   click within one second after that shows the new one again, because the user aimed at the old one.
/// - Any program may replace a notification and copy its buttons, so button keys end in a random suffix.
/// - The board closes a notification after a click, because LXQt leaves it up.
/// - An id is invalid once its server is gone. The next server shows the notification again, never with the old id in
///   `replaces_id`. A server that keeps running without the name has to close it.
/// - GNOME Shell owns its name before it replies, so a server that has not described itself is asked again.
/// - Notifications of an earlier run are taken over if their server still has them (``EarlierNotifications``).
/// - A server that hangs may show a notification and not reply. A call of `Notify` therefore stays open while its
///   server is on the bus. At most ``maximumCalls`` calls are open, apart from replacements.
/// - A notification is shown again in many cases, but its sound is played once: by the first server that shows it.
/// - xfce drops `actions` in do-not-disturb. A server without it is asked again before each notification. It is also
///   asked from time to time if a notification had no buttons, or has gone before the user could click. That
///   notification is shown again with buttons.
struct NotificationBoard {
  /// How long a click waits for a token: longer than any known server takes, but short for a person.
  static let tokenWait: Duration = .milliseconds(100)
  /// How long a click on a new notification is taken as meant for the old one in its place. A person stops a click
  /// sooner.
  static let unseenWait: Duration = .seconds(1)
  /// How long after `NotificationClosed` an `ActionInvoked` is still accepted.
  static let lateActionWait: Duration = .seconds(2)
  /// How long a server may take to come back before the board asks the bus to start one.
  static let activationWait: Duration = .seconds(5)
  /// How often a server that has not described itself is asked again: after one second, then after two, and for two
  /// minutes in all.
  static let maximumSilences = 7
  /// The limit of signals kept while a reply to `Notify` is due. One of them may be for the id in the reply.
  static let maximumEarlySignals = 64

  /// The limit of open `Notify` calls, apart from replacements. Others wait until a reply has come.
  static let maximumCalls = 32

  /// Makes a random suffix for the keys of a new notification's buttons.
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
  /// The serial number of the time-out after which the server is asked again; nil if it need not be asked.
  var descriptionTimer: Int?
  var silences = 0
  /// The pauses before a server without actions is asked again while a notification waits for buttons.
  var buttonPause = Backoff(from: .seconds(5), to: .seconds(60))
  var early: [(Signal, UInt32)] = []
  var earlier = EarlierNotifications()
  /// Open calls to servers that have lost the bus name but may still reply, and the id that each call replaces.
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
      slots[lastSlot]?.sound = notification.sound
      return begin(lastSlot, replacing: nil)
    }
    earlier.rename(previous.key, to: key)
    slots[number]?.key = key
    slots[number]?.notification = notification
    // A change of the words does not silence a sound that is still to come.
    if notification.sound != .silent || key != previous.key { slots[number]?.sound = notification.sound }
    slots[number]?.refusalPause.reset()
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

  /// Shows a slot now, or as soon as there is a server that can show it.
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
