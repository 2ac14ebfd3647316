/// A tag that is to be left alone until it has been away.
public struct AvoidedTag: Sendable, Hashable {
  /// The UID that it had.
  public let uid: [UInt8]
  /// What kind of tag it is: `type-4b`.
  public let technology: String
  /// Whether a tag of its kind that makes up its UID may be this one, whatever its UID is now.
  public let mayHaveChanged: Bool

  /// - Parameters:
  ///   - uid: the UID that it had.
  ///   - technology: `type-2`, `type-4b`, ….
  ///   - mayHaveChanged: whether a tag of its kind that makes up its UID may be this one.
  public init(uid: [UInt8], technology: String, mayHaveChanged: Bool) {
    self.uid = uid
    self.technology = technology
    self.mayHaveChanged = mayHaveChanged
  }
}

/// What the daemon tells a reader process.
public enum ReaderCommand: Sendable, Hashable {
  /// Look for tags, or stop doing so. Answered by `ReaderMessage.scanning`; when `scanning(false)` comes back the RF field
  /// is off. Each order to stop is carried out, also where another one follows at once, and answered by `ReaderMessage.stopped`; the
  /// daemon waits for that before it says anything else of looking.
  case scan(Bool)
  /// Neither examine nor announce this tag until it has been away: it was announced by an earlier process, or it brought that
  /// process down. One tag and no second one. Answered by `ReaderMessage.forgotten` with this UID once it is away.
  case avoid(AvoidedTag)
  /// See at once whether the device is there: it may just have been plugged in or unplugged. A process that sleeps for want
  /// of one looks for it; one that has it asks it for a sign of life. Answered by a heartbeat, and by
  /// `ReaderMessage.state` where that is another one.
  case lookForDevice
  /// Begin a reader session: stop looking for tags to announce, and report every tag in the field that the session is to be told of,
  /// also one that has rested there before, and keep it selected with its power on. Answered by `ReaderMessage.sessionBegan`, then
  /// `sessionTag` and `sessionTagRemoved` as tags come and go. One session at a time. It is dropped without a
  /// word where there is no device, or where that fails, as `ReaderMessage.state` says.
  case beginSession(ReaderSessionOptions)
  /// End that session, whatever it is doing, between two exchanges. Answered by `ReaderMessage.sessionEnded`, also where it is none;
  /// the field is off then, or, if `scan(true)` holds, tags are looked for again. What lies on the reader is not announced until it
  /// has been away.
  case endSession(UInt64)
  /// Forget the tags of that session, switch the field off and on, and look anew: what is there gets another number.
  case restartPolling(UInt64)
  /// Do something with the tag of a placement in that session. Answered by `ReaderMessage.performed` with the number of the request,
  /// in the order of the requests.
  case perform(session: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
  /// True: end whatever is being done, switch the field off, close the device, so that another program can open it, and sleep.
  /// False: open it again. Answered by `ReaderMessage.lent`.
  case lend(Bool)
  /// Look for these tags from here on, as often as that says: with the next step, or, in a session, once that is over. What rests on
  /// the reader is not announced anew, and what can be found only from here on counts as announced. Answered by a heartbeat, and by
  /// `ReaderMessage.removed` for tags of kinds that are not looked for any more.
  case configure(ReaderPolling)
  /// Switch the field off, close the device and exit.
  case shutDown
}

extension ReaderCommand {
  private enum Kind: UInt8 {
    case scan = 1
    case avoid, shutDown, lookForDevice, beginSession, endSession, restartPolling, perform, lend, configure
  }

  private var kind: Kind {
    switch self {
    case .scan: .scan
    case .avoid: .avoid
    case .shutDown: .shutDown
    case .lookForDevice: .lookForDevice
    case .beginSession: .beginSession
    case .endSession: .endSession
    case .restartPolling: .restartPolling
    case .perform: .perform
    case .lend: .lend
    case .configure: .configure
    }
  }

  /// The frame that carries this command.
  public var frame: [UInt8] {
    var writer = FrameWriter(kind: kind.rawValue)
    switch self {
    case .scan(let on), .lend(let on): writer.write(on)
    case .avoid(let tag):
      writer.write(bytes: tag.uid)
      writer.write(text: tag.technology, ReaderLimits.technology)
      writer.write(tag.mayHaveChanged)
    case .shutDown, .lookForDevice: break
    case .beginSession(let options): writer.write(options)
    case .endSession(let number), .restartPolling(let number): writer.write(number)
    case .perform(let session, let request, let placement, let operation):
      for number in [session, request, placement] { writer.write(number) }
      writer.write(operation)
    case .configure(let polling): writer.write(polling)
    }
    return writer.frame
  }

  /// Reads a command from what a frame carries.
  ///
  /// - Parameter payload: a frame without its length.
  /// - Throws: `ReaderLinkError` where it is no command of this version.
  public init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    var reader = try FrameReader(payload)
    switch Kind(rawValue: reader.kind) {
    case .scan: self = .scan(try reader.boolean())
    case .avoid:
      let uid = try reader.bytes(1...ReaderLimits.uid, "a UID")
      let technology = try reader.technology()
      self = .avoid(AvoidedTag(uid: uid, technology: technology, mayHaveChanged: try reader.boolean()))
    case .shutDown: self = .shutDown
    case .lookForDevice: self = .lookForDevice
    case .beginSession: self = .beginSession(try reader.sessionOptions())
    case .endSession: self = .endSession(try reader.integer(UInt64.self))
    case .restartPolling: self = .restartPolling(try reader.integer(UInt64.self))
    case .perform:
      let session = try reader.integer(UInt64.self)
      let request = try reader.integer(UInt64.self)
      let placement = try reader.integer(UInt64.self)
      self = .perform(session: session, request: request, placement: placement, try reader.operation())
    case .lend: self = .lend(try reader.boolean())
    case .configure: self = .configure(try reader.polling())
    case nil: throw ReaderLinkError("a command of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
