import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import Names
import Notifications
import Routing
import Settings

/// What the user sees and hears: the notifications of taps, the sheets of reader sessions, and other notices.
actor Screen {
  let notifications: NotificationClient
  /// Keeps the places of notifications, so that the next run finds them.
  private let inbox: Inbox
  private let launcher: Launcher
  /// ``Notification/timeout`` of a tap.
  private var timeout: Int32
  private var sound: AgentConfiguration.Sound
  private var sheets = ReaderSheets()
  private var registrationNotice = RegistrationNotice()
  /// For cancelling reader sessions; nil until the system bus was reached.
  private var daemon: DaemonLink?
  nonisolated let isHeadless: Bool
  private let clock: any Clock<Duration>
  private let log: Log
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(
    on session: Connection, _ configuration: AgentConfiguration, inbox: Inbox, launcher: Launcher, isHeadless: Bool,
    clock: any Clock<Duration>, log: Log
  ) {
    notifications = NotificationClient(on: session, isMuted: isHeadless)
    (timeout, sound) = (configuration.notificationTimeout, configuration.sound)
    self.inbox = inbox
    self.launcher = launcher
    self.isHeadless = isHeadless
    self.clock = clock
    self.log = log
    loop = session.loop
  }

  /// `taps` gets the events of taps' notifications.
  func start(taps: @escaping @Sendable (NotificationEvent) async -> Void) {
    guard !isHeadless else { return }
    Task {
      await Retry(clock: clock).run { [notifications] () async throws(BusError) in
        try await notifications.run()
      } failed: { [log] error in
        log(.warning, "cannot listen to notification servers: \(error); trying again")
      }
    }
    Task {
      for await event in notifications.events {
        if await !handle(event) { await taps(event) }
        await notifications.handled()
      }
    }
  }

  func adopt(_ configuration: AgentConfiguration) {
    (timeout, sound) = (configuration.notificationTimeout, configuration.sound)
  }

  /// Closes the notifications, because their buttons stop working. The next run shows them again.
  func end() async { await inbox.leave(notifications.closeAll()) }

  // MARK: Taps

  /// In the place of another tap's notification. `isNews` is false if the user has seen the tap before.
  func show(_ offer: TapOffer, replacing previous: String?, isNews: Bool) async {
    let notification = offer.notification(timeout: timeout)
    await show(notification, isNews ? offer.sound : .silent, as: NotificationKey(offer.id), replacing: previous)
  }

  /// The buttons behind “More…”. The pointer is where that button was, and a double click must not press one of these.
  func showMore(_ offer: TapOffer) async {
    var notification = offer.notification(timeout: timeout, more: true)
    notification.takesPlaceOfClicked = true
    await show(notification, .silent, as: NotificationKey(offer.id))
  }

  /// `isNews` is false if the user has seen the failure before.
  func show(_ offer: TapOffer, failed reason: TapReason, isNews: Bool) async {
    let notification = offer.notification(failed: reason, timeout: timeout)
    await show(notification, isNews ? .failure : .silent, as: NotificationKey(offer.id))
  }

  /// After the tap was opened without a click.
  func showOpened(_ offer: TapOffer, replacing previous: String?) async {
    await show(offer.openedNotice, offer.sound, as: NotificationKey(offer.id), replacing: previous)
  }

  private func show(
    _ notification: Notification, _ wanted: NotificationSound, as key: NotificationKey,
    replacing previous: String? = nil
  ) async {
    await notifications.show(
      notification.sounding(sound.chosen(wanted)), as: key, replacing: previous.map(NotificationKey.init))
  }

  func close(_ id: String) async { await notifications.close(NotificationKey(id)) }

  // MARK: Notices

  func show(_ obstacle: TapOffer.Obstacle) async {
    await show(ObstacleNotice.notification(obstacle), .failure, as: ObstacleNotice.key)
  }

  /// The rule stays, because a person wrote it.
  func showWritten(_ rule: TapRule) async { await notifications.show(AlwaysNotice.written(rule), as: AlwaysNotice.key) }

  /// The file of the rule could not be changed.
  func showUnchanged(_ file: String) async {
    await notifications.show(AlwaysNotice.failed(file), as: AlwaysNotice.key)
  }

  /// Plays a sound even with `Sound=off`, because the caller asked for it. A headless agent plays the sound if it has a
  /// display. Readers with a LED or a buzzer use them.
  func identify() async {
    Task { await daemon?.identifyReaders() }
    guard isHeadless else {
      return await notifications.show(IdentifyNotice.notification().sounding(.arrival), as: IdentifyNotice.key)
    }
    if let name = NotificationSound.arrival.name { Task { await launcher.play(name) } }
  }

  /// Shows whether another program is registered in place of this agent. The error is nil if the daemon has accepted this
  /// one, or there is no daemon.
  func showRegistration(_ isAccepted: Bool, _ error: BusError?) async {
    let notice = registrationNotice.handle(error)
    if !isAccepted { await handle(.daemonGone) }
    switch notice {
    case .show(let notification): await notifications.show(notification, as: RegistrationNotice.key)
    case .remove: await notifications.close(RegistrationNotice.key)
    case nil: break
    }
  }

  // MARK: Reader sessions

  /// Sessions are cancelled through this link from now on.
  func setDaemon(_ link: DaemonLink) { daemon = link }

  func handle(_ event: ReaderSheets.Event) async {
    for action in sheets.handle(event) {
      switch action {
      case .show(let notification, let key): await notifications.show(notification, as: key)
      case .remove(let key): await notifications.close(key)
      case .cancel(let session): await daemon?.cancelReaderSession(session)
      }
    }
  }

  private static let notices = [RegistrationNotice.key, ObstacleNotice.key, AlwaysNotice.key, IdentifyNotice.key]

  /// A click on a notice only closes it.
  private static func showsNoTap(_ key: NotificationKey) -> Bool { ReaderSheets.isSheet(key) || notices.contains(key) }

  /// Returns false if the event is about a tap.
  private func handle(_ event: NotificationEvent) async -> Bool {
    switch event {
    case .shown(let key, let place) where Self.showsNoTap(key):
      await inbox.showOther(at: place)
      if ReaderSheets.isSheet(key) { log(.debug, "the sheet of a reader session is shown") }
    case .refused(let key, reason: _) where Self.showsNoTap(key): break
    case .closed(let key, _) where Self.showsNoTap(key): await handle(.dismissed(key))
    case .activated(let key, let action, _) where Self.showsNoTap(key): await handle(.activated(key, action: action))
    case .shown, .refused, .closed, .activated: return false
    case .gone(let place): await inbox.leave([place])
    case .soundDue(_, let sound): if let name = sound.name { Task { await launcher.play(name) } }
    case .serverChanged(let server?):
      let name = DisplayText("\(server.name) \(server.version)", limit: 80)
      log(.info, "notifications go to \(server.name.isEmpty ? "a server without a name" : name.string)")
    case .serverChanged(nil): log(.notice, "there is no notification server; taps wait for one")
    }
    return true
  }
}
