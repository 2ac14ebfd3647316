import Bus
import Names

/// Turns the daemon's signals into a session's events, until the session is over.
struct ReaderSessionFeed: Sendable {
  let path: ObjectPath
  let connection: Connection
  let daemon: String
  let events: AsyncStream<ReaderSessionEvent>.Continuation
  /// Measures the wait for the daemon's last signals.
  var clock: any Clock<Duration> = ContinuousClock()

  private enum Input: Sendable {
    case signal(ReceivedSignal)
    case daemonGone
  }

  /// `signals` are those of all sessions of this connection, from before this one was started. `owners` are those of
  /// the daemon's name.
  func run(_ signals: SignalStream, _ owners: AsyncStream<String?>) async {
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    let tasks = [
      Task {
        for await signal in signals where isOurs(signal) { continuation.yield(.signal(signal)) }
        continuation.yield(.daemonGone)
      },
      Task {
        for await owner in owners where owner != daemon { break }
        // The daemon's last signals are in the other stream, and its reader may be a step behind.
        try? await clock.sleep(for: ReaderSessionFeed.grace)
        continuation.yield(.daemonGone)
      },
    ]
    events.yield(.ended(await end(of: inputs)))
    events.finish()
    for task in tasks { task.cancel() }
  }

  /// How long to wait for the daemon's last signals after it has gone.
  static let grace = Duration.milliseconds(200)

  private func isOurs(_ signal: ReceivedSignal) -> Bool {
    signal.path == path && signal.sender == daemon
  }

  /// Passes events on until the session ends. Returns the end.
  private func end(of inputs: AsyncStream<Input>) async -> ReaderSessionEnd {
    var tags: [ObjectPath: ReaderTag] = [:]
    for await input in inputs {
      guard case .signal(let signal) = input else { break }
      if signal.missed > 0, let end = await endThatWasMissed() { return end }
      if let event = await event(signal, &tags) {
        if case .ended(let end) = event { return end }
        events.yield(event)
      }
    }
    return ReaderSessionEnd(.daemonGone, message: "the daemon has gone")
  }

  /// The event for a signal; nil if this version does not know it. `tags` are the tags on the reader.
  private func event(_ signal: ReceivedSignal, _ tags: inout [ObjectPath: ReaderTag]) async -> ReaderSessionEvent? {
    let second = signal.arguments.dropFirst().first
    switch (signal.member, signal.arguments.first, second) {
    case ("Activated", _, _): return .activated
    case ("Ended", .string(let reason), .string(let message)):
      return .ended(ReaderSessionEnd(name: reason, message: message))
    case ("TagDetected", .objectPath(let path), _):
      guard tags.count < ReaderSessionFeed.tagLimit else { return nil }
      let tag = await describe(path)
      tags[path] = tag
      return .tagDetected(tag)
    case ("TagRemoved", .objectPath(let path), _): return tags.removeValue(forKey: path).map { .tagRemoved($0) }
    case ("RoundEnded", _, _): return .roundEnded
    case ("PollingRestarted", _, _): return .pollingRestarted
    case ("MessageRead", .objectPath(let path), .bytes(let message)):
      return .messageRead(message, from: tags[path] ?? ReaderTag(path, [:], connection, daemon))
    case ("Progress", .objectPath(let path), .uint64(let bytes)):
      return tags[path].map { .progress(bytes: bytes, of: $0) }
    default: return nil
    }
  }

  /// More tags than a reader ever has at a time.
  private static let tagLimit = 64

  /// A tag with its properties, or without them if it has already gone.
  private func describe(_ path: ObjectPath) async -> ReaderTag {
    let reply = try? await connection.call(
      daemon, path, "org.freedesktop.DBus.Properties", "GetAll", [.string(Names.Daemon.tagInterface)],
      timeout: .seconds(5), autoStart: false)
    return ReaderTag(path, reply?.first?.asDictionary ?? [:], connection, daemon)
  }

  /// How the session has ended, if the signal about it was lost; nil if it has not ended.
  private func endThatWasMissed() async -> ReaderSessionEnd? {
    guard let values = try? await ReaderSession.properties(of: path, connection, daemon) else { return nil }
    guard let reason = values["EndReason"]?.asString, !reason.isEmpty else { return nil }
    return ReaderSessionEnd(name: reason, message: "")
  }
}
