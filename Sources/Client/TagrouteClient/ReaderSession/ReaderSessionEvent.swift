import Bus
import Names

/// An event of a reader session.
public enum ReaderSessionEvent: Sendable, Hashable {
  /// The session has the reader now, for 60 seconds at most.
  case activated
  /// A tag is on the reader. It may have been there before the session.
  case tagDetected(ReaderTag)
  /// The tag was removed, and can no longer be used. If it is put back, it is a new tag.
  case tagRemoved(ReaderTag)
  /// All tags that lie there together were reported: since the first of them, the reader has looked for every kind of
  /// tag of the session. Comes once after one or more `tagDetected`. A program that handles the tags of a round
  /// together waits for it before it calls them. A call delays it, and after `transceive` it may not come until the tag
  /// is removed. A daemon with interface version 1 does not send it.
  case roundEnded
  /// Polling has restarted after `ReaderSession.restartPolling`, which returns before that. All earlier tags were
  /// reported by `tagRemoved`. Each `tagDetected` that follows was found by the restarted search. Calls that are merged
  /// into one restart get one event. A round that has not ended before it gets no `roundEnded`. A daemon with interface
  /// version 1 does not send it.
  case pollingRestarted
  /// In a session with `endsAfterFirstRead`: the NDEF message of the first tag that has one, encoded. `ended` follows.
  case messageRead([UInt8], from: ReaderTag)
  /// A long operation on a tag has transferred this many bytes so far.
  case progress(bytes: UInt64, of: ReaderTag)
  /// The session is over. This is the last event, and it always comes.
  case ended(ReaderSessionEnd)
}

/// How a reader session has ended.
public struct ReaderSessionEnd: Sendable, Hashable {
  /// Why a session is over, with the words of `org.tagroute.Tagroute1.ReaderSession` as raw values.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The client called `invalidate`.
    case invalidated
    /// The user cancelled it. A reason that this version does not know is read as this.
    case cancelled
    /// Its 60 seconds are over.
    case timedOut = "timed-out"
    /// The session was to end after the first message, which has been read.
    case firstRead = "first-read"
    /// The reader is gone, has failed, or was lent to another program.
    case readerLost = "reader-lost"
    /// The user's session is no longer the active one, or is locked.
    case sessionInactive = "session-inactive"
    /// The machine goes to sleep.
    case sleeping
    /// The daemon is stopping.
    case daemonStopping = "daemon-stopping"
    /// The daemon, or the bus, has gone without a signal. Only this library uses this reason.
    case daemonGone = "daemon-gone"
  }

  /// The reason.
  public var reason: Reason
  /// The reason in English for a person, or the text given to `invalidate`; may be empty.
  public var message: String

  /// - Parameters:
  ///   - reason: the reason.
  ///   - message: the reason for a person.
  public init(_ reason: Reason, message: String = "") {
    self.reason = reason
    self.message = message
  }

  /// Reads the values on the bus.
  init(name: String, message: String) {
    self.init(Reason(rawValue: name) ?? .cancelled, message: message)
  }
}

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
