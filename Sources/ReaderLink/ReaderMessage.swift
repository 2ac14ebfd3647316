public import Journal
import NDEF

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
      let bytes = try reader.bytes(1...ReaderLimits.message, "an NDEF message")
      // The process has checked this; the daemon hands on nothing that it has only been told.
      guard (try? NDEFMessage(decoding: bytes)) != nil else { throw ReaderLinkError("an NDEF message that is none") }
      self = .tag(TagReport(placement: placement, content: .message(bytes)))
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
    case nil: throw ReaderLinkError("a message of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
