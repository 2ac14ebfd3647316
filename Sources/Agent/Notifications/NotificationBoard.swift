import EventLoop
import Names

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
///   click within one second after that shows the new one again, because the user aimed at the old one. The same holds
///   for a notification that answers a click (``Notification/takesPlaceOfClicked``).
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
  /// Signals that are kept while a reply to `Notify` is due. One of them may be for the id in the reply.
  static let maximumEarlySignals = 64

  /// Open `Notify` calls, apart from replacements. Others wait until a reply has come.
  static let maximumCalls = 32

  /// For the keys of a new notification's buttons.
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
      if notification.takesPlaceOfClicked { slots[lastSlot]?.unseen = 0 }
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

  /// At once, or as soon as there is a server that can show it.
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

extension NotificationBoard {
  enum Event {
    /// Nil if the bus name has no owner now.
    case ownerChanged(String?)
    case described(NotificationServer)
    case activationFailed
    /// In the place of `replacing` if that is still up.
    case show(NotificationKey, Notification, replacing: NotificationKey?)
    /// An earlier run may have left these on the screen. The caller shows or closes each under its name.
    case left([NotificationKey: NotificationPlace])
    case close(NotificationKey)
    case closeAll
    /// The reply to ``Action/notify(slot:call:owner:_:)``.
    case notified(slot: Int, call: Int, id: UInt32)
    /// The server refused that call.
    case refused(slot: Int, call: Int, reason: String)
    case signal(Signal, id: UInt32, sender: String)
    case timeout(Timer)
  }

  enum Signal {
    case closed(reason: UInt32)
    case action(String)
    case token(String)
  }

  enum Action: Equatable {
    /// Ask the owner for its name and its capabilities.
    case describe(owner: String)
    case activateServer
    /// Call `Notify`. Return the two numbers with the reply.
    case notify(slot: Int, call: Int, owner: String, NotifyArguments)
    case closeNotification(NotificationPlace)
    case forget(NotificationPlace)
    case wait(Timer, Duration)
    case report(NotificationEvent)
  }

  /// A time-out. None is ever cancelled. Its serial number distinguishes it from older ones, which an earlier state of
  /// the slot or an earlier absence of the server has left behind.
  enum Timer: Hashable {
    case token(slot: Int, serial: Int)
    case unseen(slot: Int, serial: Int)
    case lateAction(slot: Int, serial: Int)
    case retry(slot: Int, serial: Int)
    case activation(serial: Int)
    case description(serial: Int)
  }
}

/// One notification on the screen. A replacement keeps the slot and changes the key.
struct NotificationSlot {
  var key: NotificationKey
  var notification: Notification
  var phase: Phase
  /// The suffix of its buttons' keys, so that no other program can guess them.
  var keySuffix = ""
  /// Whether it was last shown without buttons, on a server that had none.
  var isMute = false
  /// Set if it has just taken the place of a notification with other actions, at which the user may still aim, or which
  /// the user may click twice. The value is the serial number of the time-out that ends this, or 0 until the notification
  /// is up.
  var unseen: Int?
  /// Before it is shown again after the server has refused it. Plasma refuses a repetition within one second.
  var refusalPause = Backoff(from: .milliseconds(1500), to: .seconds(96))
  /// The serial number of the time-out that it waits for. Earlier time-outs are ignored.
  var timer = 0
  /// The sound that no server has played yet.
  var sound = NotificationSound.silent

  enum Phase {
    /// Waits for a server that can show it. Can transition to: `.calling`.
    case waiting
    /// Gone from a server without buttons before the user could click. It is shown again on a server that has them. Can
    /// transition to: `.calling`, `.waiting`.
    case dormant
    /// `Notify` has no reply yet. Can transition to: `.up`, `.refused`, `.waiting` if the server goes.
    case calling(Call, then: Afterwards)
    /// Refused by the server; a timer for the retry runs. Can transition to: `.waiting`.
    case refused
    /// On the screen. Can transition to: `.calling`, `.clicked`, `.closed`, `.waiting` if the server goes.
    case up(id: UInt32, token: String?)
    /// Gone from the screen; an earlier click may still be reported. Can transition to: `.clicked`, `.dormant`,
    /// `.waiting`.
    case closed(id: UInt32, NotificationCloseReason, token: String?)
    /// Clicked; the token may still come. The slot is removed after that.
    case clicked(id: UInt32, action: String, isUp: Bool)

    /// The id in the server's signals; nil if there is none, or if the notification is being replaced.
    var id: UInt32? {
      switch self {
      case .up(let id, _), .closed(let id, _, _), .clicked(let id, _, _): id
      case .waiting, .dormant, .calling, .refused: nil
      }
    }

    /// The id of the notification that a server shows. Nil during a replacement, until the server replies.
    var idOnScreen: UInt32? {
      switch self {
      case .up(let id, _), .clicked(let id, _, isUp: true): id
      default: nil
      }
    }
  }

  /// A notification that a server shows. The notification is nil if an earlier run has shown it.
  struct Shown {
    var id: UInt32
    var notification: Notification?

    /// Whether a click on it has the same effect as on the other; false if an earlier run has shown it.
    func hasSameActions(as other: Notification) -> Bool { notification?.hasSameActions(as: other) ?? false }
  }

  /// The slot's notification, as shown under this id.
  func shown(_ id: UInt32) -> Shown { Shown(id: id, notification: notification) }

  /// An open call of `Notify`.
  struct Call {
    var number: Int
    /// The notification in the call. The slot may have another one when the reply comes.
    var key: NotificationKey
    var notification: Notification
    /// The replaced notification; nil if there is none.
    var replaced: Shown?
    /// The sound in the call. If the server does not show the notification, the next call has it again.
    var sound: NotificationSound
  }

  /// Keeps the sound of a call that has shown no notification, unless the notification has another one by now.
  mutating func keepSound(of call: Call) { if sound == .silent { sound = call.sound } }

  /// The action to take when the reply to an open `Notify` comes.
  enum Afterwards { case nothing, showAgain, remove }

  var isCalling: Bool { if case .calling = phase { true } else { false } }

  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// Whether it was clicked. The click will be reported, so it can no longer be replaced or closed.
  var isClicked: Bool { if case .clicked = phase { true } else { false } }
}
