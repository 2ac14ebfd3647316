/// A command of the daemon to a reader process.
package enum ReaderCommand: Sendable, Hashable {
  /// The reader's new goal. The process replies with `ReaderMessage.reached` and this epoch. The same epoch a second
  /// time only adds known tags.
  case goal(epoch: UInt64, ReaderGoal, known: KnownTags)
  /// Check at once whether the device is present, because a device may just have been plugged in or unplugged. A
  /// process without a device looks for it. A process with an open device checks that it still works. The process
  /// replies with a heartbeat, and with `ReaderMessage.state` if the state has changed.
  case lookForDevice
  /// Forget the tags of the reader session with this epoch, turn the field off and on, and poll again. Each tag gets a
  /// new number. Until the next restart, the process looks for the tags of these options. They are a part of those that
  /// the session began with. `SessionTag.initialApplication` remains an index into the latter.
  case restartPolling(epoch: UInt64, ReaderSessionOptions)
  /// Run an operation on the tag of a placement in the reader session of this epoch. The process replies with
  /// `ReaderMessage.performed` and the number of the request, in the order of the requests. After the daemon has sent
  /// another goal, the process need not reply.
  case perform(epoch: UInt64, request: UInt64, placement: UInt64, ReaderOperation)
  /// Show with the reader's LED and buzzer which one it is, if it has them and no reader session uses it. Only
  /// `tagroute-reader-pcsc` does that. The process replies as to `lookForDevice`.
  case identify
  /// Turn the field off, close the device and exit.
  case shutDown
}

extension ReaderCommand {
  private enum Kind: UInt8 { case goal = 1, lookForDevice, restartPolling, perform, shutDown, identify }

  private var kind: Kind {
    switch self {
    case .goal: .goal
    case .lookForDevice: .lookForDevice
    case .restartPolling: .restartPolling
    case .perform: .perform
    case .shutDown: .shutDown
    case .identify: .identify
    }
  }

  /// The frame with this command.
  package var frame: [UInt8] {
    var writer = FrameWriter(kind: kind.rawValue)
    switch self {
    case .goal(let epoch, let goal, let known):
      writer.write(epoch)
      writer.write(goal)
      writer.write(known)
    case .lookForDevice, .identify, .shutDown: break
    case .restartPolling(let epoch, let options):
      writer.write(epoch)
      writer.write(options)
    case .perform(let epoch, let request, let placement, let operation):
      for number in [epoch, request, placement] { writer.write(number) }
      writer.write(operation)
    }
    return writer.frame
  }

  /// Parses the payload of a frame, without its length. Fails if it is not a command of this version.
  package init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    var reader = try FrameReader(payload)
    switch Kind(rawValue: reader.kind) {
    case .goal:
      let epoch = try reader.integer(UInt64.self)
      let goal = try reader.goal()
      self = .goal(epoch: epoch, goal, known: try reader.knownTags())
    case .lookForDevice: self = .lookForDevice
    case .restartPolling:
      let epoch = try reader.integer(UInt64.self)
      self = .restartPolling(epoch: epoch, try reader.sessionOptions())
    case .perform:
      let epoch = try reader.integer(UInt64.self)
      let request = try reader.integer(UInt64.self)
      let placement = try reader.integer(UInt64.self)
      self = .perform(epoch: epoch, request: request, placement: placement, try reader.operation())
    case .shutDown: self = .shutDown
    case .identify: self = .identify
    case nil: throw ReaderLinkError("a command of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
