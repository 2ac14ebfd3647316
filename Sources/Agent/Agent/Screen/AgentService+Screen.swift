import Handlers
import Inbox
import Journal
import Names
import Notifications

/// The notifications across the end of one run and the start of the next.
extension AgentService {
  /// Shows the taps that an earlier run left open, in the notifications that it left. Closes its other notifications.
  func resume() async {
    await show(await inbox.resume(maximum: TapPolicy.maximumOnScreen))
    endResumption.finish()
  }

  /// If another agent of this user is using the inbox's file, waits until that agent releases it, and shows the taps
  /// that it left open.
  func waitForFile() async {
    if let left = await inbox.waitForFile(maximum: TapPolicy.maximumOnScreen) { await show(left) }
  }

  /// Opens or writes the inbox's file if an earlier attempt failed, for example because the disk was full.
  func retryFile() async {
    if let left = await inbox.retryFile(maximum: TapPolicy.maximumOnScreen) { await show(left) }
  }

  func prune() async {
    await retryFile()
    // Another agent may have taken the file meanwhile.
    Task { await waitForFile() }
    for id in await inbox.prune() { await perform(policy.handle(.expired(id))) }
  }

  func show(_ left: Leftovers) async {
    // These notifications show no tap, so each gets a made-up key.
    let others = left.otherPlaces.map { (NotificationKey("left \($0.bus) \($0.owner) \($0.id)"), $0) }
    let taps = left.places.map { (NotificationKey($0), $1) }
    await notifications.takeOver(Dictionary(taps + others) { first, _ in first })
    for (key, _) in others { await notifications.close(key) }
    let waiting = Set(left.waiting.map(\.id))
    for id in left.places.keys where !waiting.contains(id) { await notifications.close(NotificationKey(id)) }
    if !left.waiting.isEmpty { log(.notice, "showing \(left.waiting.count) taps of an earlier run again") }
    for id in left.expired { await perform(policy.handle(.expired(id))) }
    for summary in left.waiting { await showLeft(summary.id) }
  }

  /// Shows one tap again. If that fails, closes its notification. The other taps are shown anyway.
  private func showLeft(_ id: String) async {
    do throws(InboxError) {
      let stored = try await inbox.tap(id)
      guard !isHeadless else { return await endLeft(stored) }
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
      try await inbox.show(id, at: place)
      log(.debug, "tap \(id) is shown")
    } catch { log(.debug, "\(error)") }
  }

  /// Records a notification that shows no tap, so that the next run can close it.
  func putOtherOnScreen(at place: NotificationPlace) async { await inbox.showOther(at: place) }

  func leave(_ places: [NotificationPlace]) async { await inbox.leave(places) }

  /// Closes the notifications, because their buttons stop working. The next run shows them again.
  ///
  /// Removes the files that were written for apps. Then tries again to write the inbox's file. Otherwise the next run
  /// would also show taps that have ended only in memory.
  func end() async {
    await leave(notifications.closeAll())
    await launcher.removeFiles()
    _ = await inbox.retryFile(maximum: TapPolicy.maximumOnScreen)
  }
}
