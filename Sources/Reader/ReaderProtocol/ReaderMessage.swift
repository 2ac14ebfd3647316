package import Journal
package import Names

/// A message of a reader process to the daemon.
///
/// A report about a tag belongs to the epoch of the goal in force when the tag was found. A placement has one number,
/// which no other epoch uses, so `examining`, `known` and `removed` need no epoch.
package enum ReaderMessage: Sendable, Hashable {
  /// The device appeared, disappeared or failed.
  case state(ReaderDeviceState)
  /// The goal of this epoch is in force: work for former goals has stopped, and the field is as this goal requires,
  /// unless there is no device. Sent again after the device was opened again.
  case reached(epoch: UInt64)
  /// The process is about to read a tag. Sent before the first exchange, so that the daemon can name a tag that crashes
  /// the process.
  case examining(Placement)
  case tag(epoch: UInt64, TagReport)
  /// A tag lies there that is not announced: it was not read before scanning stopped, or the first polls found it.
  case known(Placement)
  case removed(placement: UInt64)
  /// The thread with the link is alive and will send a message within this many milliseconds. 0 means that it sleeps
  /// until the daemon sends a command.
  case heartbeat(within: UInt32)
  /// A line for the log. Only lines at `debug` may contain a tag's content.
  case log(LogLevel, String)
  /// The reader session of this epoch found a tag. Sent once per placement.
  case sessionTag(epoch: UInt64, SessionTag)
  /// The tag of this placement was removed.
  case sessionTagRemoved(epoch: UInt64, placement: UInt64)
  /// All tags that lie there together are reported: since the first of them was reported, the process has looked for
  /// every technology of the session. Sent once after one or more `sessionTag`.
  case sessionRoundEnded(epoch: UInt64)
  /// Polling has restarted, as the daemon ordered. All earlier tags of the session are reported as removed, and each
  /// `sessionTag` that follows was found since. Orders that the process combines into one restart get one report.
  case sessionPollingRestarted(epoch: UInt64)
  /// The result of the operation of this request.
  case performed(request: UInt64, ReaderOperationResult)
  /// The bytes that the operation of this request has transferred so far. Sent about four times a second if it takes
  /// long.
  case progress(request: UInt64, bytes: UInt32)
  /// The device is present, but this process has confined itself and may not open it. The process exits, so that its
  /// successor can open the device. Only heartbeats may follow.
  case successorWanted
  /// The open device works, but another program holds it or its card, and the process waits for that program. The
  /// reason says which one, if known, and what to do. An empty reason ends the wait. A change of the device's state
  /// ends it, too.
  case waiting(reason: String)
}

/// A reader's device, as its process sees it.
package enum ReaderDeviceState: Sendable, Hashable {
  /// There is no device. The process looks for it.
  case absent(reason: String)
  /// The device is open.
  case ready(name: String, device: String)
  /// The device is present but cannot be used. The reason says what to do. The process tries again.
  case failed(reason: String)
}

extension ReaderMessage {
  private enum Kind: UInt8 {
    case absent = 1
    case ready, failed, reached, examining, message, problem, known, removed, heartbeat, log
    case sessionTag, sessionTagRemoved, performed, progress, successorWanted, sessionRoundEnded
    case sessionPollingRestarted, waiting, bare, damaged
  }

  /// Texts are cut to their limits.
  package var frame: [UInt8] {
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
      case .bare(let reason):
        Self.frame(.bare) {
          $0.write(epoch)
          $0.write(report.placement)
          $0.write(text: reason, ReaderLimits.text)
        }
      case .damaged(let reason, let contents):
        Self.frame(.damaged) {
          $0.write(epoch)
          $0.write(report.placement)
          $0.write(text: reason, ReaderLimits.text)
          $0.write(bytes: contents)
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
    case .sessionRoundEnded(let epoch): Self.frame(.sessionRoundEnded) { $0.write(epoch) }
    case .sessionPollingRestarted(let epoch): Self.frame(.sessionPollingRestarted) { $0.write(epoch) }
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
    case .waiting(let reason): Self.frame(.waiting) { $0.write(text: reason, ReaderLimits.text) }
    }
  }

  private static func frame(_ kind: Kind, _ write: (inout FrameWriter) -> Void) -> [UInt8] {
    var writer = FrameWriter(kind: kind.rawValue)
    write(&writer)
    return writer.frame
  }

  /// Without the frame's length. The sender is not trusted, so every field is checked. Fails if it is not a message of
  /// this version, or exceeds `ReaderLimits`.
  package init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
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
    case .bare:
      let epoch = try reader.integer(UInt64.self)
      let placement = try reader.placement()
      let content = TagReport.Content.bare(reason: try reader.text(ReaderLimits.text))
      self = .tag(epoch: epoch, TagReport(placement: placement, content: content))
    case .damaged:
      let epoch = try reader.integer(UInt64.self)
      let placement = try reader.placement()
      let reason = try reader.text(ReaderLimits.text)
      let contents = try reader.bytes(0...ReaderLimits.damagedContents, "damaged contents")
      self = .tag(
        epoch: epoch, TagReport(placement: placement, content: .damaged(reason: reason, contents: contents)))
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
    case .sessionRoundEnded: self = .sessionRoundEnded(epoch: try reader.integer(UInt64.self))
    case .sessionPollingRestarted: self = .sessionPollingRestarted(epoch: try reader.integer(UInt64.self))
    case .waiting: self = .waiting(reason: try reader.text(ReaderLimits.text))
    case nil: throw ReaderLinkError("a message of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}

/// One placement of a tag on a reader, from its arrival to its removal.
package struct Placement: Sendable, Hashable {
  /// Distinguishes this placement from every other one on the same reader, also across restarts of the reader process.
  package let number: UInt64
  package let technology: TagType
  /// The tag's UID as read, 4, 7 or 10 bytes for Type A. It is not an identity: four bytes that begin with 08 are
  /// random and new each time.
  package let uid: [UInt8]

  package init(number: UInt64, technology: TagType, uid: [UInt8]) {
    self.number = number
    self.technology = technology
    self.uid = uid
  }
}

/// The result of reading a tag, once per placement.
package struct TagReport: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    /// An NDEF message, complete and decodable.
    case message([UInt8])
    /// The tag was read well enough to know that it has no NDEF message: it is blank, not formatted, a card for payment
    /// or transit, or its UID is all that the reader can read. The reason is for a person.
    case bare(reason: String)
    /// The tag was read more than once, and its contents contradict each other. `contents` are the undecodable bytes,
    /// as far as they are known. The reason is for a person.
    case damaged(reason: String, contents: [UInt8])
    /// The tag could not be read. The reason is for a person.
    case problem(reason: String)
  }

  package let placement: Placement
  package let content: Content

  package init(placement: Placement, content: Content) {
    self.placement = placement
    self.content = content
  }
}

/// A tag that a reader session found, with the data from its activation.
///
/// Data that a kind of tag does not have are empty or nil.
package struct SessionTag: Sendable, Hashable {
  package let placement: Placement
  /// Answer to request of Type A, two bytes: `00 44` for an Ultralight (ISO/IEC 14443-3, 6.5.2).
  package var atqa: [UInt8]
  /// Select acknowledge of Type A (ISO/IEC 14443-3, 6.5.3).
  package var sak: UInt8?
  /// Historical bytes of the answer to select of an ISO-DEP card of Type A (ISO/IEC 14443-4, 5.2.7).
  package var historicalBytes: [UInt8]
  /// Application data of Type B, four bytes (ISO/IEC 14443-3, 7.9.3).
  package var applicationData: [UInt8]
  /// Protocol info of Type B, three or four bytes (ISO/IEC 14443-3, 7.9.4).
  package var protocolInfo: [UInt8]
  /// Manufacture ID of FeliCa, eight bytes (JIS X 6319-4).
  package var idm: [UInt8]
  /// Manufacture parameters of FeliCa, eight bytes.
  package var pmm: [UInt8]
  /// The system of a FeliCa card that answered the poll.
  package var systemCode: UInt16?
  /// The index, from 0, of the application identifier that is selected, in the options that the session began with.
  package var initialApplication: Int?

  package init(
    placement: Placement, atqa: [UInt8] = [], sak: UInt8? = nil, historicalBytes: [UInt8] = [],
    applicationData: [UInt8] = [], protocolInfo: [UInt8] = [], idm: [UInt8] = [], pmm: [UInt8] = [],
    systemCode: UInt16? = nil, initialApplication: Int? = nil
  ) {
    self.placement = placement
    self.atqa = atqa
    self.sak = sak
    self.historicalBytes = historicalBytes
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.idm = idm
    self.pmm = pmm
    self.systemCode = systemCode
    self.initialApplication = initialApplication
  }

  package func at(_ placement: Placement) -> SessionTag {
    SessionTag(
      placement: placement, atqa: atqa, sak: sak, historicalBytes: historicalBytes, applicationData: applicationData,
      protocolInfo: protocolInfo, idm: idm, pmm: pmm, systemCode: systemCode, initialApplication: initialApplication)
  }
}

extension FrameWriter {
  mutating func write(_ tag: SessionTag) {
    write(tag.placement)
    for bytes in [tag.atqa, tag.sak.map { [$0] } ?? [], tag.historicalBytes] { write(bytes: bytes) }
    for bytes in [tag.applicationData, tag.protocolInfo, tag.idm, tag.pmm] { write(bytes: bytes) }
    write(tag.systemCode != nil)
    write(tag.systemCode ?? 0)
    write(Int16(clamping: tag.initialApplication ?? -1))
  }
}

extension FrameReader {
  mutating func sessionTag() throws(ReaderLinkError) -> SessionTag {
    var tag = SessionTag(placement: try placement())
    tag.atqa = try bytesOrNone(2...2, "an answer to request")
    tag.sak = try bytesOrNone(1...1, "a select acknowledge").first
    tag.historicalBytes = try bytes(0...ReaderLimits.historicalBytes, "historical bytes")
    tag.applicationData = try bytesOrNone(4...4, "application data")
    tag.protocolInfo = try bytesOrNone(3...4, "protocol info")
    tag.idm = try bytesOrNone(8...8, "an IDm")
    tag.pmm = try bytesOrNone(8...8, "a PMm")
    let hasSystemCode = try boolean()
    let code = try integer(UInt16.self)
    tag.systemCode = hasSystemCode ? code : nil
    let index = Int(try integer(Int16.self))
    guard (-1..<ReaderLimits.applications).contains(index) else {
      throw ReaderLinkError("an application of the number \(index)")
    }
    tag.initialApplication = index < 0 ? nil : index
    return tag
  }

  private mutating func bytesOrNone(_ allowed: ClosedRange<Int>, _ what: String) throws(ReaderLinkError) -> [UInt8] {
    let bytes = try bytes(0...allowed.upperBound, what)
    guard bytes.isEmpty || allowed.contains(bytes.count) else {
      throw ReaderLinkError("\(what) of \(bytes.count) bytes")
    }
    return bytes
  }
}
