import Bus
import Names
import ReaderLink

/// One manual reader session, and the tags that it has found.
struct ReaderSession: Sendable, Hashable {
  enum State: String, Sendable {
    case waiting, active, ended
  }

  /// A tag in the session.
  struct Tag: Sendable, Hashable {
    /// How the reader process calls it.
    let placement: UInt64
    let tag: SessionTag
    let path: ObjectPath
    var policy: TransceivePolicy
  }

  let id: UInt64
  /// The unique bus name of its client, which alone may see it.
  let client: String
  let uid: UInt32
  /// The process id of the client, for display; 0 where it is not known.
  let pid: UInt32
  /// The reader's number.
  let reader: Int
  let readerPath: ObjectPath
  let path: ObjectPath
  let request: ReaderSessionRequest
  var message: String
  var state = State.waiting
  /// Until when the reader is its own.
  var deadline: ReaderSessionQueue.Instant?
  var end: ReaderSessionQueue.End?
  /// What the client has said at the end.
  var errorMessage = ""
  /// By their numbers in the session.
  var tags: [UInt64: Tag] = [:]
  private var lastTag: UInt64 = 0
  /// The tag that the reader was told to do something with last.
  private var called: UInt64?
  /// How often that was another one than before.
  private(set) var turns: UInt64 = 0
  var restarts = RestartPacing()
  /// The agent that shows it.
  var agent: Agent?

  init(
    id: UInt64, client: String, uid: UInt32, pid: UInt32, reader: Int, readerPath: ObjectPath, path: ObjectPath,
    request: ReaderSessionRequest
  ) {
    self.id = id
    self.client = client
    self.uid = uid
    self.pid = pid
    self.reader = reader
    self.readerPath = readerPath
    self.path = path
    self.request = request
    message = request.message
  }

  /// What the process is told of it.
  var options: ReaderSessionOptions {
    ReaderSessionOptions(
      number: id, technologies: request.technologies, applicationIdentifiers: request.applications,
      systemCodes: request.systemCodes)
  }

  /// Takes a tag in.
  ///
  /// - Returns: its number.
  mutating func add(_ tag: SessionTag) -> UInt64? {
    lastTag += 1
    guard let path = try? path.appending("tags").appending("\(lastTag)") else { return nil }
    let policy = TransceivePolicy(
      kind: tag.kind, mayWrite: request.mayWrite, applications: request.applications, systemCodes: request.systemCodes,
      isApplicationSelected: tag.initialApplication != nil)
    tags[lastTag] = Tag(placement: tag.placement.number, tag: tag, path: path, policy: policy)
    return lastTag
  }

  /// The reader is told to do something with a tag. Before it does something with another one it selects that anew.
  mutating func call(_ tag: UInt64) {
    guard called != tag else { return }
    called = tag
    turns += 1
    for other in tags.keys where other != tag { tags[other]?.policy.doubtSelection() }
  }

  func number(of placement: UInt64) -> UInt64? { tags.first { $0.value.placement == placement }?.key }

  /// Why it is over, for a person; empty as long as it is not, and where nothing is to be said.
  var endMessage: String {
    switch end {
    case nil, .clientGone, .firstRead: ""
    case .invalidated: errorMessage
    case .cancelled: "it was cancelled"
    case .timedOut: "its time is up"
    case .readerLost: "the reader is gone"
    case .sessionInactive: "somebody else is at the machine, or the session is locked"
    case .sleeping: "the machine goes to sleep"
    case .daemonStopping: "tagrouted ends"
    }
  }
}

extension SessionTag {
  /// What raw commands to it are.
  var kind: TransceivePolicy.Kind {
    switch placement.technology {
    case "type-2": return .type2
    case "type-3": return .felica(idm: idm, systemCode: systemCode)
    case "type-4a":
      // NXP AN10833: the historical byte of a DESFire, and the beginning of those of a MIFARE Plus.
      if historicalBytes == [0x80] { return .desfire }
      return historicalBytes.starts(with: [0xC1, 0x05]) ? .mifarePlus : .isoDEP
    case "type-4b": return .isoDEP
    case "mifare-classic": return .none("MIFARE Classic takes no commands of one's own: read and write it as NDEF")
    default: return .none("\(placement.technology) takes no commands of one's own: read and write it as NDEF")
    }
  }
}
