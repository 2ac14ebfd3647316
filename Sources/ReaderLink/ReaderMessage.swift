public import Journal

/// What a reader process tells the daemon.
///
/// What it reports of tags belongs to the epoch of the goal for which it was found. A stay has one number, which no
/// other epoch uses, so that `examining`, `known` and `removed` need no epoch.
public enum ReaderMessage: Sendable, Hashable {
  /// The device came, went or failed.
  case state(ReaderState)
  /// The goal of this epoch is in force: nothing is done for a former one any more, and the field is as this one
  /// wants it, unless there is no device. Sent again once the device was opened again.
  case reached(epoch: UInt64)
  /// A tag is about to be read. Sent before the first exchange, so that a tag that brings the process down can be named.
  case examining(Placement)
  /// What a tag holds.
  case tag(epoch: UInt64, TagReport)
  /// A tag lies there that is not announced: it was not read when scanning stopped, or the first looks found it.
  case known(Placement)
  /// The tag of this placement is away.
  case removed(placement: UInt64)
  /// The thread that owns libnfc lives and will be heard of again within so many milliseconds; 0 means that it sleeps
  /// until it is told something.
  case heartbeat(within: UInt32)
  /// A line for the log. Never the content of a tag above `debug`.
  case log(LogLevel, String)
  /// The reader session of this epoch has found a tag: once a placement.
  case sessionTag(epoch: UInt64, SessionTag)
  /// The tag of that placement is away.
  case sessionTagRemoved(epoch: UInt64, placement: UInt64)
  /// What the operation of that request has come to.
  case performed(request: UInt64, ReaderOperationResult)
  /// Bytes that the operation of that request has moved so far; some four times a second if it takes long.
  case progress(request: UInt64, bytes: UInt32)
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

extension ReaderMessage {
  private enum Kind: UInt8 {
    case absent = 1
    case ready, failed, reached, examining, message, problem, known, removed, heartbeat, log
    case sessionTag, sessionTagRemoved, performed, progress, successorWanted
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
    case .reached(let epoch): Self.frame(.reached) { $0.write(epoch) }
    case .examining(let placement): Self.frame(.examining) { $0.write(placement) }
    case .tag(let epoch, let report):
      switch report.content {
      case .message(let bytes):
        Self.frame(.message) {
          $0.write(epoch)
          $0.write(report.placement)
          $0.write(bytes: bytes)
        }
      case .problem(let reason):
        Self.frame(.problem) {
          $0.write(epoch)
          $0.write(report.placement)
          $0.write(text: reason, ReaderLimits.text)
        }
      }
    case .known(let placement): Self.frame(.known) { $0.write(placement) }
    case .removed(let placement): Self.frame(.removed) { $0.write(placement) }
    case .heartbeat(let milliseconds): Self.frame(.heartbeat) { $0.write(milliseconds) }
    case .log(let level, let text):
      Self.frame(.log) {
        $0.write(UInt32(clamping: level.rawValue))
        $0.write(text: text, ReaderLimits.text)
      }
    case .sessionTag(let epoch, let tag):
      Self.frame(.sessionTag) {
        $0.write(epoch)
        $0.write(tag)
      }
    case .sessionTagRemoved(let epoch, let placement):
      Self.frame(.sessionTagRemoved) {
        $0.write(epoch)
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
    case .reached: self = .reached(epoch: try reader.integer(UInt64.self))
    case .examining: self = .examining(try reader.placement())
    case .message:
      let epoch = try reader.integer(UInt64.self)
      let placement = try reader.placement()
      let content = TagReport.Content.message(try reader.ndefMessage())
      self = .tag(epoch: epoch, TagReport(placement: placement, content: content))
    case .problem:
      let epoch = try reader.integer(UInt64.self)
      let placement = try reader.placement()
      let content = TagReport.Content.problem(reason: try reader.text(ReaderLimits.text))
      self = .tag(epoch: epoch, TagReport(placement: placement, content: content))
    case .known: self = .known(try reader.placement())
    case .removed: self = .removed(placement: try reader.integer(UInt64.self))
    case .heartbeat: self = .heartbeat(within: try reader.integer(UInt32.self))
    case .log:
      let number = try reader.integer(UInt32.self)
      guard let level = LogLevel(rawValue: Int(number)) else {
        throw ReaderLinkError("a log line of the unknown level \(number)")
      }
      self = .log(level, try reader.text(ReaderLimits.text))
    case .sessionTag:
      let epoch = try reader.integer(UInt64.self)
      self = .sessionTag(epoch: epoch, try reader.sessionTag())
    case .sessionTagRemoved:
      let epoch = try reader.integer(UInt64.self)
      self = .sessionTagRemoved(epoch: epoch, placement: try reader.integer(UInt64.self))
    case .performed:
      let request = try reader.integer(UInt64.self)
      self = .performed(request: request, try reader.operationResult())
    case .progress:
      let request = try reader.integer(UInt64.self)
      self = .progress(request: request, bytes: try reader.integer(UInt32.self))
    case .successorWanted: self = .successorWanted
    case nil: throw ReaderLinkError("a message of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
