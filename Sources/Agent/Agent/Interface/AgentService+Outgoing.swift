import Bus
import EventLoop
import Glibc
import Inbox
import Journal
import Names

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
