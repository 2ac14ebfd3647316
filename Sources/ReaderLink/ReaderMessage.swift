public import Journal

/// What a reader process tells the daemon.
public enum ReaderMessage: Sendable, Hashable {
  /// The device came, went or failed.
  case state(ReaderState)
  /// Whether the reader looks for tags now; the answer to `ReaderCommand.scan`.
  case scanning(Bool)
  /// A tag is about to be read. Sent before the first exchange, so that a tag that brings the process down can be named.
  case examining(Placement)
  /// What a tag holds.
  case tag(TagReport)
  /// The tag of this placement is away.
  case removed(placement: UInt64)
  /// A tag that was to be avoided is away.
  case forgotten(uid: [UInt8])
  /// The thread that owns libnfc lives and will be heard of again within so many milliseconds; 0 means that it sleeps
  /// until it is told something.
  case heartbeat(within: UInt32)
  /// What has been done so far.
  case counters(ReaderCounters)
  /// A line for the log. Never the content of a tag above `debug`.
  case log(LogLevel, String)
  /// The reader session of that number has begun: tags are looked for and reported to it.
  case sessionBegan(UInt64)
  /// It has ended, and the field is off; its requests have been answered.
  case sessionEnded(UInt64)
  /// It has found a tag: once a placement.
  case sessionTag(UInt64, SessionTag)
  /// The tag of that placement is away.
  case sessionTagRemoved(UInt64, placement: UInt64)
  /// What the operation of that request has come to.
  case performed(request: UInt64, ReaderOperationResult)
  /// Bytes that the operation of that request has moved so far; some four times a second where it takes long.
  case progress(request: UInt64, bytes: UInt32)
  /// Whether the device is closed for another program; then the field is off.
  case lent(Bool)
  /// The answer to each `scan(false)`, after whatever the order made of the device: what is said of tags from here on was not read before
  /// the order came. Without it, a tag of the one who sat here before could pass for one of the next.
  case stopped
  /// The device is there that this process, as it has confined itself, may not open: it ends, and the next one may. Its last word.
  case successorWanted
}

/// A reader's device, as its process sees it.
public enum ReaderState: Sendable, Hashable {
  /// There is no device; it is looked for.
  case absent(reason: String)
  /// The device is open.
  case ready(name: String, device: String)
  /// There is a device and it cannot be used; the reason says what to do. It is tried again.
  case failed(reason: String)
}

/// What a reader process has done since it started.
public struct ReaderCounters: Sendable, Hashable {
  /// Commands sent to the chip, those libnfc sends while it opens the device excepted.
  public var chipCommands: UInt64
  /// Commands and answers exchanged with tags.
  public var exchanges: UInt64
  /// Tags announced.
  public var tags: UInt64

  /// - Parameters:
  ///   - chipCommands: commands sent to the chip.
  ///   - exchanges: commands and answers exchanged with tags.
  ///   - tags: tags announced.
  public init(chipCommands: UInt64 = 0, exchanges: UInt64 = 0, tags: UInt64 = 0) {
    self.chipCommands = chipCommands
    self.exchanges = exchanges
    self.tags = tags
  }
}

extension ReaderMessage {
  private enum Kind: UInt8 {
    case absent = 1
    case ready, failed, scanning, examining, message, problem, removed, forgotten, heartbeat, counters, log
    case sessionBegan, sessionEnded, sessionTag, sessionTagRemoved, performed, progress, lent, stopped, successorWanted
  }

  /// The frame that carries this message, texts cut to their limits.
  public var frame: [UInt8] {
    switch self {
    case .state(.absent(let reason)): Self.frame(.absent) { $0.write(text: reason, ReaderLimits.text) }
    case .state(.failed(let reason)): Self.frame(.failed) { $0.write(text: reason, ReaderLimits.text) }
    case .state(.ready(let name, let device)):
      Self.frame(.ready) {
        $0.write(text: name, ReaderLimits.text)
        $0.write(text: device, ReaderLimits.text)
      }
    case .scanning(let on): Self.frame(.scanning) { $0.write(on) }
    case .examining(let placement): Self.frame(.examining) { $0.write(placement) }
    case .tag(let report):
      switch report.content {
      case .message(let bytes):
        Self.frame(.message) {
          $0.write(report.placement)
          $0.write(bytes: bytes)
        }
      case .problem(let reason):
        Self.frame(.problem) {
          $0.write(report.placement)
          $0.write(text: reason, ReaderLimits.text)
        }
      }
    case .removed(let placement): Self.frame(.removed) { $0.write(placement) }
    case .forgotten(let uid): Self.frame(.forgotten) { $0.write(bytes: uid) }
    case .heartbeat(let milliseconds): Self.frame(.heartbeat) { $0.write(milliseconds) }
    case .counters(let counters):
      Self.frame(.counters) {
        $0.write(counters.chipCommands)
        $0.write(counters.exchanges)
        $0.write(counters.tags)
      }
    case .log(let level, let text):
      Self.frame(.log) {
        $0.write(UInt32(clamping: level.rawValue))
        $0.write(text: text, ReaderLimits.text)
      }
    case .sessionBegan(let number): Self.frame(.sessionBegan) { $0.write(number) }
    case .sessionEnded(let number): Self.frame(.sessionEnded) { $0.write(number) }
    case .sessionTag(let number, let tag):
      Self.frame(.sessionTag) {
        $0.write(number)
        $0.write(tag)
      }
    case .sessionTagRemoved(let number, let placement):
      Self.frame(.sessionTagRemoved) {
        $0.write(number)
        $0.write(placement)
      }
    case .performed(let request, let result):
      Self.frame(.performed) {
        $0.write(request)
        $0.write(result)
      }
    case .progress(let request, let bytes):
      Self.frame(.progress) {
        $0.write(request)
        $0.write(bytes)
      }
    case .lent(let on): Self.frame(.lent) { $0.write(on) }
    case .stopped: Self.frame(.stopped) { _ in }
    case .successorWanted: Self.frame(.successorWanted) { _ in }
    }
  }

  private static func frame(_ kind: Kind, _ write: (inout FrameWriter) -> Void) -> [UInt8] {
    var writer = FrameWriter(kind: kind.rawValue)
    write(&writer)
    return writer.frame
  }

  /// Reads a message from what a frame carries. The sender is not trusted: everything is checked.
  ///
  /// - Parameter payload: a frame without its length.
  /// - Throws: `ReaderLinkError` where it is no message of this version, or one beyond `ReaderLimits`.
  public init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    var reader = try FrameReader(payload)
    switch Kind(rawValue: reader.kind) {
    case .absent: self = .state(.absent(reason: try reader.text(ReaderLimits.text)))
    case .failed: self = .state(.failed(reason: try reader.text(ReaderLimits.text)))
    case .ready:
      let name = try reader.text(ReaderLimits.text)
      self = .state(.ready(name: name, device: try reader.text(ReaderLimits.text)))
    case .scanning: self = .scanning(try reader.boolean())
    case .examining: self = .examining(try reader.placement())
    case .message:
      let placement = try reader.placement()
      self = .tag(TagReport(placement: placement, content: .message(try reader.ndefMessage())))
    case .problem:
      let placement = try reader.placement()
      self = .tag(TagReport(placement: placement, content: .problem(reason: try reader.text(ReaderLimits.text))))
    case .removed: self = .removed(placement: try reader.integer(UInt64.self))
    case .forgotten: self = .forgotten(uid: try reader.bytes(1...ReaderLimits.uid, "a UID"))
    case .heartbeat: self = .heartbeat(within: try reader.integer(UInt32.self))
    case .counters:
      let chipCommands = try reader.integer(UInt64.self)
      let exchanges = try reader.integer(UInt64.self)
      self = .counters(
        ReaderCounters(chipCommands: chipCommands, exchanges: exchanges, tags: try reader.integer(UInt64.self)))
    case .log:
      let number = try reader.integer(UInt32.self)
      guard let level = LogLevel(rawValue: Int(number)) else {
        throw ReaderLinkError("a log line of the unknown level \(number)")
      }
      self = .log(level, try reader.text(ReaderLimits.text))
    case .sessionBegan: self = .sessionBegan(try reader.integer(UInt64.self))
    case .sessionEnded: self = .sessionEnded(try reader.integer(UInt64.self))
    case .sessionTag:
      let number = try reader.integer(UInt64.self)
      self = .sessionTag(number, try reader.sessionTag())
    case .sessionTagRemoved:
      let number = try reader.integer(UInt64.self)
      self = .sessionTagRemoved(number, placement: try reader.integer(UInt64.self))
    case .performed:
      let request = try reader.integer(UInt64.self)
      self = .performed(request: request, try reader.operationResult())
    case .progress:
      let request = try reader.integer(UInt64.self)
      self = .progress(request: request, bytes: try reader.integer(UInt32.self))
    case .lent: self = .lent(try reader.boolean())
    case .stopped: self = .stopped
    case .successorWanted: self = .successorWanted
    case nil: throw ReaderLinkError("a message of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
