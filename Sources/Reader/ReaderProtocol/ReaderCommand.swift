package import Names

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
  case restartPolling(epoch: UInt64, TagSessionOptions)
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

  /// Without the frame's length. Fails if it is not a command of this version.
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

/// The goal that the daemon sets for a reader.
package enum ReaderGoal: Sendable, Hashable {
  /// Stay idle, with the field off.
  case off
  /// Poll for tags, and announce those that are not known.
  case scan(ReaderPolling)
  /// Serve a reader session: report every tag that matches its options, including known tags. Keep the tag selected and
  /// powered.
  case session(TagSessionOptions)
  /// Keep the device closed, so that another program can open it.
  case lent

  /// While this goal is in force.
  package var usesField: Bool {
    switch self {
    case .scan, .session: true
    case .off, .lent: false
    }
  }

  /// Nil for other goals.
  package var session: TagSessionOptions? { if case .session(let options) = self { options } else { nil } }

  package var isScan: Bool { if case .scan = self { true } else { false } }
}

extension FrameWriter {
  mutating func write(_ goal: ReaderGoal) {
    switch goal {
    case .off: write(UInt8(0))
    case .scan(let polling):
      write(UInt8(1))
      write(polling)
    case .session(let options):
      write(UInt8(2))
      write(options)
    case .lent: write(UInt8(3))
    }
  }
}

extension FrameReader {
  mutating func goal() throws(ReaderLinkError) -> ReaderGoal {
    switch try integer(UInt8.self) {
    case 0: return .off
    case 1: return .scan(try polling())
    case 2: return .session(try sessionOptions())
    case 3: return .lent
    case let other: throw ReaderLinkError("a goal of the unknown kind \(other)")
    }
  }
}

/// How often a reader process polls for tags to announce, and the technologies.
package struct ReaderPolling: Sendable, Hashable {
  /// From the start of one poll to the start of the next, in whole milliseconds.
  package var interval: Duration
  /// The same after minutes without a change.
  package var idleInterval: Duration
  /// In the order of `TagType`.
  package var technologies: [TagType]
  /// With LED and buzzer.
  package var feedback: Bool

  package init(
    interval: Duration = ReaderTiming.pollInterval, idleInterval: Duration = ReaderTiming.idlePollInterval,
    technologies: [TagType] = TagType.readable, feedback: Bool = false
  ) {
    self.interval = interval
    self.idleInterval = idleInterval
    self.technologies = technologies
    self.feedback = feedback
  }
}

extension FrameWriter {
  mutating func write(_ polling: ReaderPolling) {
    for duration in [polling.interval, polling.idleInterval] {
      write(UInt32(clamping: Int64(duration / .milliseconds(1))))
    }
    write(polling.technologies)
    write(polling.feedback)
  }
}

extension FrameReader {
  mutating func polling() throws(ReaderLinkError) -> ReaderPolling {
    let interval = Duration.milliseconds(try integer(UInt32.self))
    let idleInterval = Duration.milliseconds(try integer(UInt32.self))
    let technologies = try technologies()
    return ReaderPolling(
      interval: interval, idleInterval: idleInterval, technologies: technologies, feedback: try boolean())
  }
}

/// The options of a reader session: which tags its client gets.
package struct TagSessionOptions: Sendable, Hashable {
  /// Distinguishes this session from every other one of the daemon. It is never reused.
  package let number: UInt64
  /// In the order of `TagType`.
  package let technologies: [TagType]
  /// Application identifiers of 5 to 16 bytes. The process selects them on an ISO-DEP card, in this order, until one
  /// answers 90 00 (ISO/IEC 7816-4, 11.2.2). A card without any of them is reported only with `reportsUndeclaredCards`.
  /// If the list is empty, the process selects none and reports every card.
  package let applicationIdentifiers: [[UInt8]]
  /// The systems that FeliCa cards are polled for, without a wildcard (FF as either byte). A card without any of them
  /// is not reported. If the list is empty, every card is reported.
  package let systemCodes: [UInt16]
  /// If false, ISO-DEP cards without any of `applicationIdentifiers` are not reported.
  package let reportsUndeclaredCards: Bool

  /// At most `ReaderLimits.applications` applications and `ReaderLimits.systemCodes` systems.
  package init(
    number: UInt64, technologies: [TagType] = TagType.readable, applicationIdentifiers: [[UInt8]] = [],
    systemCodes: [UInt16] = [], reportsUndeclaredCards: Bool = false
  ) {
    self.number = number
    self.technologies = technologies
    self.applicationIdentifiers = applicationIdentifiers
    self.systemCodes = systemCodes
    self.reportsUndeclaredCards = reportsUndeclaredCards
  }

  /// Names exactly one system (JIS X 6319-4: FF matches any byte).
  package static func isExact(_ code: UInt16) -> Bool { code >> 8 != 0xFF && code & 0xFF != 0xFF }
}

extension FrameWriter {
  mutating func write(_ technologies: [TagType]) {
    write(UInt16(clamping: technologies.count))
    for technology in technologies { write(text: technology.rawValue, ReaderLimits.technology) }
  }

  mutating func write(_ options: TagSessionOptions) {
    write(options.number)
    write(options.technologies)
    write(UInt16(clamping: options.applicationIdentifiers.count))
    for identifier in options.applicationIdentifiers { write(bytes: identifier) }
    write(UInt16(clamping: options.systemCodes.count))
    for code in options.systemCodes { write(code) }
    write(options.reportsUndeclaredCards)
  }
}

extension FrameReader {
  mutating func sessionOptions() throws(ReaderLinkError) -> TagSessionOptions {
    let number = try integer(UInt64.self)
    let technologies = try technologies()
    var identifiers: [[UInt8]] = []
    for _ in 0..<(try count(ReaderLimits.applications, "application identifiers")) {
      identifiers.append(try bytes(ReaderLimits.applicationIdentifier, "an application identifier"))
    }
    var codes: [UInt16] = []
    for _ in 0..<(try count(ReaderLimits.systemCodes, "system codes")) {
      let code = try integer(UInt16.self)
      guard TagSessionOptions.isExact(code) else { throw ReaderLinkError("a system code with a wildcard") }
      codes.append(code)
    }
    return TagSessionOptions(
      number: number, technologies: technologies, applicationIdentifiers: identifiers, systemCodes: codes,
      reportsUndeclaredCards: try boolean())
  }

  mutating func technologies() throws(ReaderLinkError) -> [TagType] {
    var technologies: [TagType] = []
    for _ in 0..<(try count(TagType.allCases.count, "technologies")) { technologies.append(try technology()) }
    return technologies
  }

  mutating func count(_ most: Int, _ what: String) throws(ReaderLinkError) -> Int {
    let count = Int(try integer(UInt16.self))
    guard count <= most else { throw ReaderLinkError("\(count) \(what)") }
    return count
  }
}
