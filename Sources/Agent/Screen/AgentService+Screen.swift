import Inbox
import Journal
import Notifications

/// What is on the screen, over the end of one run and the start of the next.
extension AgentService {
  /// Shows what an earlier run has left open, in the place of what that has left on the screen, and takes away what is decided.
  func resume() async {
    defer { endResumption.finish() }
    do {
      await show(try await inbox.resume(maximum: TapPolicy.maximumOnScreen))
    } catch { log(.error, "what an earlier run left open cannot be shown: \(error)") }
  }

  /// Where another agent of this user writes the inbox, takes it when that is gone, and shows what that has left.
  func takeFile() async {
    do {
      guard let left = try await inbox.takeFile(maximum: TapPolicy.maximumOnScreen) else { return }
      await show(left)
    } catch { log(.error, "what another agent left open cannot be shown: \(error)") }
  }

  /// Has the inbox go back to its file, where a full disk, say, had made that impossible, and shows what an earlier run has left in it.
  func returnToFile() async {
    if let left = await inbox.returnToFile(maximum: TapPolicy.maximumOnScreen) { await show(left) }
  }

  /// Applies the retention, and tries the inbox's file again where it could not be used.
  func prune() async {
    await returnToFile()
    // Another agent may have it only now.
    Task { await takeFile() }
    do {
      for id in try await inbox.prune() { await perform(policy.handle(.expired(id))) }
    } catch { log(.warning, "\(error)") }
  }

  func show(_ left: Resumption) async {
    // What shows no tap is nobody's any more, and has no name.
    let others = left.otherPlaces.map {
      (NotificationKey("left \($0.bus) \($0.owner) \($0.id)"), NotificationPlace($0))
    }
    let taps = left.places.map { (NotificationKey($0), NotificationPlace($1)) }
    await notifications.takeOver(Dictionary(taps + others) { first, _ in first })
    for (key, _) in others { await notifications.close(key) }
    let waiting = Set(left.waiting.map(\.id))
    for id in left.places.keys where !waiting.contains(id) { await notifications.close(NotificationKey(id)) }
    if !left.waiting.isEmpty { log(.notice, "showing \(left.waiting.count) taps of an earlier run again") }
    for id in left.expired { await perform(policy.handle(.expired(id))) }
    for summary in left.waiting { await showLeft(summary.id) }
  }

  /// Of one that cannot be shown nothing is to stay on the screen, and the others are shown all the same.
  private func showLeft(_ id: String) async {
    do throws(InboxError) {
      let stored = try await inbox.tap(id)
      let offer = await offer(stored)
      if [.received, .shown, .failed].contains(stored.state) {
        await perform(policy.handle(.resumed(offer, stored.state, reason: stored.reason)))
      } else {
        await notifications.close(NotificationKey(id))
      }
    } catch {
      log(.warning, "tap \(id) of an earlier run cannot be shown: \(error)")
      await notifications.close(NotificationKey(id))
    }
  }

  func putOnScreen(_ id: String, at place: NotificationPlace) async {
    do throws(InboxError) {
      try await inbox.show(id, at: ScreenPlace(place))
      log(.debug, "tap \(id) is shown")
    } catch { log(.debug, "\(error)") }
  }

  /// Takes in where something is that is no tap: the next run has to know what to take away.
  func putOtherOnScreen(at place: NotificationPlace) async {
    do throws(InboxError) { try await inbox.showOther(at: ScreenPlace(place)) } catch { log(.warning, "\(error)") }
  }

  /// - Parameter places: where nothing is any more.
  func leave(_ places: [NotificationPlace]) async {
    do throws(InboxError) { try await inbox.leave(places.map(ScreenPlace.init)) } catch { log(.warning, "\(error)") }
  }

  /// Takes the notifications away, whose buttons nobody would answer; the next run shows them again, and is not to show what only
  /// memory knows to be over.
  func end() async {
    await leave(notifications.closeAll())
    _ = await inbox.returnToFile(maximum: TapPolicy.maximumOnScreen)
  }
}

extension NotificationPlace {
  fileprivate init(_ place: ScreenPlace) { self.init(bus: place.bus, owner: place.owner, id: place.id) }
}

extension ScreenPlace {
  fileprivate init(_ place: NotificationPlace) { self.init(bus: place.bus, owner: place.owner, id: place.id) }
}
