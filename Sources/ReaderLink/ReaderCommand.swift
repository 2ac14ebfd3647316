/// What the daemon tells a reader process.
public enum ReaderCommand: Sendable, Hashable {
  /// What the reader should be doing from now on. It is answered by `ReaderMessage.reached` with this epoch. The same
  /// epoch a second time says only that more tags are known.
  case goal(epoch: UInt64, ReaderGoal, known: KnownTags)
  /// See at once whether the device is there: it may just have been plugged in or unplugged. A process that sleeps for want
  /// of one looks for it; one that has it asks it for a sign of life. Answered by a heartbeat, and by
  /// `ReaderMessage.state` if that is another one.
  case lookForDevice
  /// Forget the tags of the reader session with this epoch, switch the field off and on, and look again: each tag
  /// gets another number.
  case restartPolling(epoch: UInt64)
  /// Do something with the tag of a placement in the reader session of this epoch. Answered by
  /// `ReaderMessage.performed` with the number of the request, in the order of the requests; not at all once the
  /// daemon has sent another goal.
  case perform(epoch: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
  /// Switch the field off, close the device and exit.
  case shutDown
}

extension ReaderCommand {
  private enum Kind: UInt8 { case goal = 1, lookForDevice, restartPolling, perform, shutDown }

  private var kind: Kind {
    switch self {
    case .goal: .goal
    case .lookForDevice: .lookForDevice
    case .restartPolling: .restartPolling
    case .perform: .perform
    case .shutDown: .shutDown
    }
  }

  /// The frame that carries this command.
  public var frame: [UInt8] {
    var writer = FrameWriter(kind: kind.rawValue)
    switch self {
    case .goal(let epoch, let goal, let known):
      writer.write(epoch)
      writer.write(goal)
      writer.write(known)
    case .lookForDevice, .shutDown: break
    case .restartPolling(let epoch): writer.write(epoch)
    case .perform(let epoch, let request, let placement, let operation):
      for number in [epoch, request, placement] { writer.write(number) }
      writer.write(operation)
    }
    return writer.frame
  }

  /// Reads a command from what a frame carries.
  ///
  /// - Parameter payload: a frame without its length.
  /// - Throws: `ReaderLinkError` if it is no command of this version.
  public init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    var reader = try FrameReader(payload)
    switch Kind(rawValue: reader.kind) {
    case .goal:
      let epoch = try reader.integer(UInt64.self)
      let goal = try reader.goal()
      self = .goal(epoch: epoch, goal, known: try reader.knownTags())
    case .lookForDevice: self = .lookForDevice
    case .restartPolling: self = .restartPolling(epoch: try reader.integer(UInt64.self))
    case .perform:
      let epoch = try reader.integer(UInt64.self)
      let request = try reader.integer(UInt64.self)
      let placement = try reader.integer(UInt64.self)
      self = .perform(epoch: epoch, request: request, placement: placement, try reader.operation())
    case .shutDown: self = .shutDown
    case nil: throw ReaderLinkError("a command of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
