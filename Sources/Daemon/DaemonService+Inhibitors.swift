import Bus
import CShims
import EventLoop
import Glibc
import Journal
import Names
import ReaderLink

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
    // libnfc may have found it by itself, and then it alone knows what it is called.
    let device = openedDevice(of: reader) ?? state.readers[reader]?.properties.device ?? ""
    inhibitors.release(reader, at: roster.readers[reader]?.path, with: inhibitor.id)
    handle(.release(reader, true))
    await untilLent(reader)
    guard inhibitors.inhibitor(releasing: reader)?.id == inhibitor.id, state.readers[reader]?.isLent == true else {
      release(inhibitor)
      throw BusError(name: Names.Errors.failed, message: "the reader does not let go of its device: try again")
    }
    // Closing it may have taken a while, and somebody else may sit there now.
    do throws(DaemonState.NotReleased) {
      try state.checkRelease(of: reader, to: credentials.uid)
    } catch {
      release(inhibitor)
      throw Self.error(error)
    }
    return [.unixFD(descriptor), .dictionary(["device": .string(device)])]
  }

  /// - Returns: nil where none is to be released.
  private func readerToRelease(_ options: [String: Value], to uid: UInt32) throws -> Int? {
    guard let value = options["release-reader"] else { return nil }
    guard let isWanted = value.asBool else {
      throw BusError(name: Names.Errors.invalidArgument, message: "release-reader is not a boolean")
    }
    guard isWanted else { return nil }
    var path: ObjectPath?
    if let value = options["reader"] {
      path = value.asObjectPath
      guard path != nil else {
        throw BusError(name: Names.Errors.invalidArgument, message: "reader is not an object path")
      }
    }
    let reader: Int
    do throws(DaemonState.NotReleased) {
      reader = try state.readerToRelease(path, to: uid)
    } catch {
      throw Self.error(error)
    }
    if let other = inhibitors.inhibitor(releasing: reader) {
      throw BusError(
        name: Names.Errors.notPossible,
        message: "the reader is released to \(other.who) (user \(other.uid)) already")
    }
    return reader
  }

  private static func error(_ refusal: DaemonState.NotReleased) -> BusError {
    switch refusal {
    case .notPossible(let reason): BusError(name: Names.Errors.notPossible, message: reason)
    case .notAuthorized(let reason): BusError(name: Names.Errors.notAuthorized, message: reason)
    }
  }

  private func openedDevice(of reader: Int) -> String? {
    units[reader]?.opened
  }

  /// Long enough for what a slow reader is in the middle of, and for a caller with the usual patience.
  private static let loanTimeout = Duration.seconds(20)

  private func untilLent(_ reader: Int) async {
    guard state.readers[reader]?.isLent == false else { return }
    let timer = loop.schedule(after: Self.loanTimeout) { [weak self] in
      self?.assumeIsolated { $0.wakeLoanWaiters(reader) }
    }
    await withCheckedContinuation { loanWaiters[reader, default: []].append($0) }
    timer.cancel()
  }

  /// The device was closed, or there is nothing to wait for any more.
  func wakeLoanWaiters(_ reader: Int) {
    for waiter in loanWaiters.removeValue(forKey: reader) ?? [] { waiter.resume() }
  }

  /// - Returns: the inhibitor, and the end of the pipe that keeps it.
  private func inhibit(
    _ who: String, _ why: String, _ credentials: PeerCredentials
  ) throws -> (InhibitorList.Inhibitor, FileDescriptor) {
    let (ours, theirs) = try pipe()
    let inhibitor: InhibitorList.Inhibitor
    do throws(InhibitorList.Refusal) {
      inhibitor = try inhibitors.add(who: who, why: why, uid: credentials.uid, pid: credentials.pid)
    } catch {
      switch error {
      case .invalid(let reason): throw BusError(name: Names.Errors.invalidArgument, message: reason)
      case .tooMany(let reason): throw BusError(name: Names.Errors.tooMany, message: reason)
      }
    }
    do throws(SystemError) {
      // Nobody writes into it: readable means that the last copy of the other end is closed, or that it is misused.
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
    let reader = inhibitors.reader(releasedBy: inhibitor.id)
    inhibitors.remove(inhibitor.id)
    log(.info, ofUser: inhibitor.uid, "\(inhibitor.who) (user \(inhibitor.uid)) inhibits scanning no more")
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
