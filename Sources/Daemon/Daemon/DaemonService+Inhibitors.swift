import Bus
import CShims
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol

extension DaemonService {
  func inhibit(_ call: IncomingCall) async throws -> [Value] {
    guard call.arguments.count == 2, let who = call.arguments[0].asString, let why = call.arguments[1].asString
    else { throw BusError.invalidArguments("who and why are missing") }
    let credentials = try await authorize(call, Names.PolkitAction.inhibit, to: "keep readers from scanning")
    let (_, descriptor) = try inhibit(who, why, credentials)
    return [.unixFD(descriptor)]
  }

  func inhibitWithOptions(_ call: IncomingCall) async throws -> [Value] {
    guard call.arguments.count == 3, let who = call.arguments[0].asString, let why = call.arguments[1].asString,
      let options = call.arguments[2].asDictionary
    else { throw BusError.invalidArguments("who, why and options are missing") }
    let credentials = try await authorize(call, Names.PolkitAction.inhibit, to: "keep readers from scanning")
    guard let reader = try readerToRelease(options, to: credentials.uid) else {
      let (_, descriptor) = try inhibit(who, why, credentials)
      return [.unixFD(descriptor), .dictionary([:])]
    }
    let (inhibitor, descriptor) = try inhibit(who, why, credentials)
    // If libnfc has found the reader by itself, only the reader process knows the device.
    let device = openedDevice(of: reader) ?? state.readers[reader]?.properties.device ?? ""
    inhibitors.release(reader, at: roster.readers[reader]?.path, with: inhibitor.id)
    handle(.release(reader, true))
    await untilLent(reader)
    guard inhibitors.inhibitor(releasing: reader)?.id == inhibitor.id, state.readers[reader]?.isLent == true else {
      release(inhibitor)
      throw BusError(name: Names.Errors.failed, message: "the reader process did not close its device: try again")
    }
    // Closing the device may have taken a while. Check again that the user may have it.
    do {
      try state.checkRelease(of: reader, to: credentials.uid)
    } catch {
      release(inhibitor)
      throw error
    }
    return [.unixFD(descriptor), .dictionary(["device": .string(device)])]
  }

  /// Nil if the caller wants no reader.
  private func readerToRelease(_ options: [String: Value], to uid: UInt32) throws -> Int? {
    guard let value = options["release-reader"] else { return nil }
    guard let isWanted = value.asBool else {
      throw BusError.invalidArgument("release-reader is not a boolean")
    }
    guard isWanted else { return nil }
    var path: ObjectPath?
    if let value = options["reader"] {
      path = value.asObjectPath
      guard path != nil else { throw BusError.invalidArgument("reader is not an object path") }
    }
    let reader = try state.readerToRelease(path, to: uid)
    if let other = inhibitors.inhibitor(releasing: reader) {
      throw BusError.notPossible("the reader is already lent to \(other.who) (user \(other.uid))")
    }
    return reader
  }

  private func openedDevice(of reader: Int) -> String? {
    units[reader]?.opened
  }

  /// Long enough for a slow exchange, and shorter than the usual timeout of the caller (25 seconds).
  private static let loanTimeout = Duration.seconds(20)

  private func untilLent(_ reader: Int) async {
    guard state.readers[reader]?.isLent == false else { return }
    let timer = loop.schedule(after: Self.loanTimeout) { [weak self] in
      self?.assumeIsolated { $0.wakeLoanWaiters(reader) }
    }
    await withCheckedContinuation { loanWaiters[reader, default: []].append($0) }
    timer.cancel()
  }

  /// Resumes the calls that wait for a loan, because the device was closed or never will be.
  func wakeLoanWaiters(_ reader: Int) {
    for waiter in loanWaiters.removeValue(forKey: reader) ?? [] { waiter.resume() }
  }

  /// Returns the inhibitor, and the end of its pipe for the caller.
  private func inhibit(
    _ who: String, _ why: String, _ credentials: PeerCredentials
  ) throws -> (InhibitorList.Inhibitor, FileDescriptor) {
    let (ours, theirs) = try pipe()
    let inhibitor = try inhibitors.add(who: who, why: why, uid: credentials.uid, pid: credentials.pid)
    do throws(SystemError) {
      // The pipe becomes readable when the last copy of the other end is closed, or when a caller writes into it.
      inhibitorWatches[inhibitor.id] = try DescriptorWatch(ours, on: loop) { [weak self] in
        self?.assumeIsolated { $0.release(inhibitor) }
      }
    } catch {
      inhibitors.remove(inhibitor.id)
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
    log(.info, ofUser: credentials.uid, "\(who) (user \(credentials.uid)) inhibits scanning: \(why)")
    handle(.inhibited(by: inhibitors.users))
    return (inhibitor, theirs)
  }

  func listInhibitors() -> [Value] {
    let entries = inhibitors.inhibitors.map { inhibitor in
      Value.structure([
        .string(inhibitor.who), .string(inhibitor.why), .uint32(inhibitor.uid), .uint32(inhibitor.pid),
      ])
    }
    return [.array(element: "(ssuu)", entries)]
  }

  private func release(_ inhibitor: InhibitorList.Inhibitor) {
    guard let watch = inhibitorWatches.removeValue(forKey: inhibitor.id) else { return }
    watch.cancel()
    let reader = inhibitors.remove(inhibitor.id)
    log(.info, ofUser: inhibitor.uid, "\(inhibitor.who) (user \(inhibitor.uid)) no longer inhibits scanning")
    if let reader { handle(.release(reader, false)) }
    handle(.inhibited(by: inhibitors.users))
  }

  private func pipe() throws -> (FileDescriptor, FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else {
      throw BusError(name: Names.Errors.failed, message: "\(SystemError("make a pipe"))")
    }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }
}

/// The callers that keep the daemon from scanning.
struct InhibitorList: Sendable {
  struct Inhibitor: Hashable, Sendable {
    let id: UInt64
    let who: String
    let why: String
    let uid: UInt32
    /// For display; 0 if the bus does not know it.
    let pid: UInt32
    /// The reader that is lent to the caller; nil if there is none, or if it was unplugged.
    var reader: Int?
    /// The path of that reader's device; nil if udev knows none.
    var place: String?
  }

  static let limitOfUser = 16
  /// The limit for all users. The daemon keeps a descriptor open for each inhibitor.
  static let limit = 128
  static let maximumWho = 128
  static let maximumWhy = 256

  /// Oldest first.
  private(set) var inhibitors: [Inhibitor] = []
  private var lastID: UInt64 = 0

  var users: Set<UInt32> { Set(inhibitors.map(\.uid)) }

  mutating func add(who: String, why: String, uid: UInt32, pid: UInt32?) throws(BusError) -> Inhibitor {
    for (text, name, limit) in [(who, "who", Self.maximumWho), (why, "why", Self.maximumWhy)] {
      if let problem = PlainText.problem(text, name, 1...limit) { throw .invalidArgument(problem) }
    }
    guard inhibitors.count(where: { $0.uid == uid }) < Self.limitOfUser else {
      throw .tooMany("user \(uid) already has \(Self.limitOfUser) inhibitors: release one")
    }
    guard inhibitors.count < Self.limit else { throw .tooMany("there are already \(Self.limit) inhibitors") }
    lastID += 1
    let inhibitor = Inhibitor(id: lastID, who: who, why: why, uid: uid, pid: pid ?? 0)
    inhibitors.append(inhibitor)
    return inhibitor
  }

  /// Removes an inhibitor, if it exists. Returns the reader that was lent to it.
  @discardableResult
  mutating func remove(_ id: UInt64) -> Int? {
    inhibitors.firstIndex { $0.id == id }.flatMap { inhibitors.remove(at: $0).reader }
  }

  /// Lends a reader to an inhibitor. The place is the path of its device; nil if udev knows none.
  mutating func release(_ reader: Int, at place: String?, with id: UInt64) {
    guard let index = inhibitors.firstIndex(where: { $0.id == id }) else { return }
    inhibitors[index].reader = reader
    inhibitors[index].place = place
  }

  /// Forgets a reader that is gone. The next reader at its place is lent as well: a program that resets a reader makes
  /// it disappear for a moment.
  mutating func forget(_ reader: Int) {
    for index in inhibitors.indices where inhibitors[index].reader == reader { inhibitors[index].reader = nil }
  }

  /// The inhibitor that the reader at a device path is lent to. The reader may have been replugged since.
  func inhibitor(releasingDeviceAt place: String) -> Inhibitor? { inhibitors.first { $0.place == place } }

  /// The inhibitor that a reader is lent to.
  func inhibitor(releasing reader: Int) -> Inhibitor? { inhibitors.first { $0.reader == reader } }
}
