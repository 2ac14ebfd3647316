import EventLoop
import FoundationEssentials
import Rig

/// A message as mosquitto_sub has printed it.
package struct MqttMessage: Sendable, Hashable {
  /// When mosquitto_sub received it, in microseconds since 1970.
  package let time: Int64
  /// Whether the broker had kept it from before the subscription.
  package let isRetained: Bool
  package let topic: String
  package let payload: [UInt8]

  package var text: String { String(decoding: payload, as: UTF8.self) }

  /// The payload as a tap; nil if it is not one.
  package var tap: PublishedTap? { try? JSONDecoder().decode(PublishedTap.self, from: Data(payload)) }

  /// Parses `message TIME RETAINED QOS TOPIC HEXADECIMAL`. The payload, and only it, may be empty.
  init?(_ line: String) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 6, words[0] == "message" else { return nil }
    let clock = words[1].split(separator: ".")
    guard clock.count == 2, let seconds = Int64(clock[0]), let fraction = Int64(clock[1].prefix(6)) else { return nil }
    time = seconds * 1_000_000 + fraction
    isRetained = words[2] == "1"
    topic = String(words[4])
    let digits = Array(words[5].utf8)
    payload = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
    guard payload.count * 2 == digits.count else { return nil }
  }
}

/// The JSON of a tap, as consumers read it: unknown keys are ignored.
package struct PublishedTap: Decodable, Sendable, Hashable {
  /// The tap's UUID.
  package let tap_id: String
  /// The position in the inbox; 0 if the file does not have it.
  package let sequence: Int64
  /// RFC 3339, UTC.
  package let time: String
  package let station: String
  /// The reader's name within the station.
  package let reader: String
  package let technology: String
  /// What identifies the tag; may be empty.
  package let tag_id: String
  /// The SHA-256 of the message.
  package let contents_hash: String?
  package let uri: String?
  /// The message in Base64.
  package let message: String?
}

/// Counts down to 0, on any thread.
final class Countdown: Sendable {
  private let left: Locked<Int>

  init(_ count: Int) { left = Locked(count) }

  func next() -> Int {
    left.withLock { left in
      left -= 1
      return left
    }
  }
}

/// mosquitto_sub as a referee: what another client of the broker receives.
///
/// Its session persists, so the broker keeps QoS 1 messages for it while it is away. It connects again by itself after
/// the broker was restarted.
package final class MosquittoSubscriber: Sendable {
  private let process: ChildProcess

  /// Subscribes to `#`, and returns once the broker has confirmed it. `client` is the client id.
  package init(
    _ client: String = "referee", on socket: String, user: (name: String, password: String)? = nil,
    starter: String = #function
  ) async throws {
    let program = try BuiltProducts.systemProgram("mosquitto_sub", package: "mosquitto-clients")
    // It flushes its output only after a message, but its remarks about the subscription are needed before.
    process = try ChildProcess(
      "/usr/bin/stdbuf",
      [
        "--output=L", program, "--unix", socket, "-i", client, "-c", "-q", "1", "-d", "-t", "#", "-F",
        "message %U %r %q %t %x",
      ] + (user.map { ["-u", $0.name, "-P", $0.password] } ?? []), starter: starter)
    try await subscribed(after: 0)
  }

  /// The present position in the log.
  package func mark() async -> Int { await process.log().count }

  /// Waits until the broker has confirmed the subscription, after a position in the log.
  package func subscribed(after mark: Int) async throws {
    try await process.line(containing: "Subscribed (mid: ", after: mark)
  }

  /// All messages so far. A line that is neither a message nor a remark of mosquitto_sub is an error.
  package func messages() async throws -> [MqttMessage] {
    try await process.log().compactMap { line in
      if let message = MqttMessage(line) { return message }
      guard ["Client ", "Connection ", "Error", "Subscribed ", "Warning"].contains(where: line.hasPrefix) else {
        throw RigError("mosquitto_sub has printed: \(line.prefix(200))")
      }
      return nil
    }
  }

  /// Waits for a message, after a position in the log.
  @discardableResult
  package func message(
    after mark: Int = 0, where isExpected: @escaping @Sendable (MqttMessage) -> Bool
  ) async throws -> MqttMessage {
    let line = try await process.line(after: mark) { MqttMessage($0).map(isExpected) ?? false }
    guard let message = MqttMessage(line) else { throw RigError("not a message: \(line)") }
    return message
  }

  /// Waits until each of these taps was received on a topic that ends in `suffix`. A time limit applies to each step of
  /// 500 taps, not to the whole.
  package func taps(_ ids: some Sequence<String>, on suffix: String = "/log") async throws {
    let state = Locked((missing: Set(ids), seen: 0))
    while !state.withLock({ $0.missing.isEmpty }) {
      _ = try await process.line(after: state.withLock { $0.seen }) { line in
        let message = MqttMessage(line)
        let id = message.flatMap { $0.topic.hasSuffix(suffix) ? $0.tap?.tap_id : nil }
        return state.withLock { state in
          state.seen += 1
          guard let id, state.missing.remove(id) != nil else { return false }
          return state.missing.count % 500 == 0
        }
      }
    }
  }
}
