import Inbox
import Journal
import Notifications

/// What is on the screen, over the end of one run and the start of the next.
extension AgentService {
  /// Shows what an earlier run has left open, in the place of what that has left on the screen, and takes away what is decided.
  func resume() async {
    defer { resumption.end() }
    do {
      try await show(try await inbox.resume(maximum: TapPolicy.maximumOnScreen))
    } catch { log(.error, "what an earlier run left open cannot be shown: \(error)") }
  }

  /// Where another agent of this user writes the inbox, takes it when that is gone, and shows what that has left.
  func takeFile() async {
    do {
      guard let left = try await inbox.takeFile(maximum: TapPolicy.maximumOnScreen) else { return }
      try await show(left)
    } catch { log(.error, "what another agent left open cannot be shown: \(error)") }
  }

  private func show(_ left: Resumption) async throws(InboxError) {
    await notifications.takeOver(
      Dictionary(uniqueKeysWithValues: left.places.map { (NotificationKey($0), NotificationPlace($1)) }))
    let waiting = Set(left.waiting.map(\.id))
    for id in left.places.keys where !waiting.contains(id) { await notifications.close(NotificationKey(id)) }
    if !left.waiting.isEmpty { log(.notice, "showing \(left.waiting.count) taps of an earlier run again") }
    for id in left.expired { await perform(policy.handle(.expired(id))) }
    for summary in left.waiting {
      let stored = try await inbox.tap(summary.id)
      await perform(policy.handle(.resumed(await offer(stored), stored.state, reason: stored.reason)))
    }
  }

  func putOnScreen(_ id: String, at place: NotificationPlace) async {
    do throws(InboxError) {
      try await inbox.show(id, at: ScreenPlace(place))
      log(.debug, "tap \(id) is shown")
    } catch { log(.debug, "\(error)") }
  }

  /// - Parameter places: where nothing is any more.
  func leave(_ places: [NotificationPlace]) async {
    do throws(InboxError) { try await inbox.leave(places.map(ScreenPlace.init)) } catch { log(.warning, "\(error)") }
  }

  /// Takes the notifications away, whose buttons nobody would answer; the next run shows them again.
  func end() async { await leave(notifications.closeAll()) }
}

extension NotificationPlace {
  fileprivate init(_ place: ScreenPlace) { self.init(bus: place.bus, owner: place.owner, id: place.id) }
}

extension ScreenPlace {
  fileprivate init(_ place: NotificationPlace) { self.init(bus: place.bus, owner: place.owner, id: place.id) }
}
