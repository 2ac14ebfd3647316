import Bus
import EventLoop
import Glibc
import Inbox
import Journal
import Names

/// The inbox members of `org.tagroute.Agent1`.
extension AgentService {
  func listInbox(_ options: [String: Value]) async throws(BusError) -> [[String: Value]] {
    await resumed()
    if let option = options["id"] {
      guard let id = option.asString else { throw BusError.invalidArgument("id must be a string") }
      return try await listTap(id)
    }
    let limit = try AgentAnswers.limit(options)
    let prefix = try AgentAnswers.idPrefix(options)
    let query = try AgentAnswers.query(options, limit: limit)
    let wantsMessages = try AgentAnswers.wantsMessages(options)
    do throws(InboxError) {
      if wantsMessages {
        return try await inbox.list(query, bytes: Self.pageBytes).map {
          AgentAnswers.tap($0, reason: policy.offer($0.stored.tap.id)?.reason)
        }
      }
      if let prefix { return await inbox.list(idPrefix: prefix, limit: limit).map { AgentAnswers.tap($0) } }
      return try await inbox.list(query).map { AgentAnswers.tap($0) }
    } catch {
      throw AgentAnswers.error(error)
    }
  }

  /// The limit for the messages in one reply: far below the limits of the bus and of a client.
  static let pageBytes = 4 << 20

  private func listTap(_ id: String) async throws(BusError) -> [[String: Value]] {
    do throws(InboxError) {
      return [AgentAnswers.tap(try await inbox.tap(id), reason: policy.offer(id)?.reason)]
    } catch {
      guard error.code == .unknownTap else { throw AgentAnswers.error(error) }
      return []
    }
  }

  /// Removes taps, a portion at a time, so that a new tap does not have to wait. Returns how many were removed.
  func clear(_ options: [String: Value]) async throws(BusError) -> UInt32 {
    let request = try ClearRequest(options)
    await resumed()
    await retryFile()
    var count = 0
    let refusal: InboxError?
    do throws(InboxError) {
      var removed: [String]
      repeat {
        let onScreen = Set(policy.onScreenInOrder)
        removed = try await inbox.clear(request.clearing(onScreen: onScreen))
        count += removed.count
        // The inbox refuses a click on a removed tap, so close its notification here.
        for id in removed where onScreen.contains(id) { await perform(policy.handle(.cleared(id))) }
      } while removed.count >= InboxClearing.portion
      if count > 0 { await inbox.compact() }
      refusal = nil
    } catch {
      refusal = error
    }
    if count > 0 {
      log(.notice, "\(count) taps were removed from the inbox by a call")
      await emit("TapsCleared", [.uint32(UInt32(clamping: count))])
    }
    if let refusal { throw AgentAnswers.error(refusal) }
    return UInt32(clamping: count)
  }
}

/// The checked options of `Clear`.
struct ClearRequest: Hashable {
  private let ids: [String]?
  private let before: Timestamp?
  private let fromScreen: Bool

  /// A call with more ids would exceed the bus's limits.
  static let maximumIDs = 500

  /// The error names the option.
  init(_ options: [String: Value]) throws(BusError) {
    ids = try options["ids"].map { value throws(BusError) in
      guard let ids = value.asStrings, ids.count <= Self.maximumIDs else {
        throw BusError.invalidArgument("ids must be a list of at most \(Self.maximumIDs) ids")
      }
      return ids
    }
    before = try options["before"].map { value throws(BusError) in
      guard let time = value.asUInt64 else { throw BusError.invalidArgument("before must be a time in microseconds") }
      return Timestamp(microseconds: Int64(clamping: time))
    }
    fromScreen =
      try options["from-screen"].map { value throws(BusError) in
        guard let flag = value.asBool else { throw BusError.invalidArgument("from-screen must be a boolean") }
        return flag
      } ?? false
    // Refuse a misspelled option: without it, the call would remove more than the caller means.
    if let unknown = options.keys.first(where: { !["ids", "before", "from-screen"].contains($0) }) {
      throw BusError.invalidArgument("there is no option \(unknown)")
    }
  }

  /// What to remove now. `onScreen` are the taps that have a notification.
  func clearing(onScreen: Set<String>) -> InboxClearing {
    InboxClearing(ids: ids, before: before, onScreen: onScreen, includesOnScreen: fromScreen)
  }
}

/// The outbox members of `org.tagroute.Agent1`.
extension AgentService {
  /// Looks for `mqtt.conf`, on a separate thread: the file system may not answer.
  func lookForMqtt() async {
    let files = mqttFiles
    let isThere = (try? await DedicatedThread.run { files.contains { access($0, F_OK) == 0 } }) ?? isOutboxOn
    guard isThere != isOutboxOn else { return }
    isOutboxOn = isThere
    log(.info, isThere ? "there is an mqtt.conf: taps wait to be sent from now on" : "there is no mqtt.conf any more")
  }

  func takeOutgoing(_ options: [String: Value]) async throws(BusError) -> [[String: Value]] {
    let limit = try AgentAnswers.limit(options, default: 20)
    let sequence = try AgentAnswers.sequence(options, "after-sequence")
    // The user may have written the file just now. A file that was removed has an effect at the next reload.
    if !isOutboxOn { await lookForMqtt() }
    await resumed()
    return await inbox.outgoing(limit: limit, after: sequence, bytes: Self.pageBytes).map {
      AgentAnswers.tap($0, reason: policy.offer($0.stored.tap.id)?.reason)
    }
  }

  func acknowledgeOutgoing(_ ids: [String]) async throws(BusError) {
    guard ids.count <= ClearRequest.maximumIDs else {
      throw .invalidArgument("ids must be a list of at most \(ClearRequest.maximumIDs) ids")
    }
    await resumed()
    await inbox.acknowledge(ids)
    log(.debug, "\(ids.count) of the taps that waited to be sent are confirmed")
  }

  /// The value of the property `Outgoing`.
  func outgoing() async -> [String: Value] {
    AgentAnswers.outgoing(await inbox.outgoingCounts(), isOn: isOutboxOn)
  }
}
