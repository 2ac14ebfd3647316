import Bus
import CShims
import EventLoop
import Journal
import Names

/// Keeps readers from scanning for a caller, until the caller closes its descriptor, and lends readers to callers.
@DaemonLoop final class Inhibitors {
  private let core: DaemonCore
  private let authorization: Authorization
  private let processes: ReaderProcesses
  private let readers: Readers
  private let loans: ReaderLoans
  private var watches: [UInt64: DescriptorWatch] = [:]

  init(
    _ core: DaemonCore, _ authorization: Authorization, _ processes: ReaderProcesses, _ readers: Readers,
    _ loans: ReaderLoans
  ) {
    (self.core, self.authorization, self.processes) = (core, authorization, processes)
    (self.readers, self.loans) = (readers, loans)
  }

  func stop() {
    for watch in watches.values { watch.cancel() }
  }

  func inhibit(_ call: IncomingCall) async throws -> [Value] { Array(try await inhibitWithOptions(call).prefix(1)) }

  /// `Inhibit` has no options.
  func inhibitWithOptions(_ call: IncomingCall) async throws -> [Value] {
    guard let who = call.arguments.first?.asString, let why = call.arguments.dropFirst().first?.asString else {
      throw BusError.invalidArguments("who and why are missing")
    }
    let options = call.arguments.dropFirst(2).first?.asDictionary ?? [:]
    let credentials = try await authorization.authorize(
      call, Names.PolkitAction.inhibit, to: "keep readers from scanning")
    guard let reader = try readerToRelease(options, to: credentials.uid) else {
      let (_, descriptor) = try inhibit(who, why, credentials)
      return [.unixFD(descriptor), .dictionary([:])]
    }
    let (inhibitor, descriptor) = try inhibit(who, why, credentials)
    // If libnfc has found the reader by itself, only the reader process knows the device.
    let device = processes[reader]?.opened ?? core.state.readers[reader]?.properties.device ?? ""
    loans.inhibitors.release(reader, at: readers.devicePath(of: reader), with: inhibitor.id)
    core.handle(.release(reader, true))
    if core.state.readers[reader]?.isLent == false { await loans.wait(for: reader) }
    guard loans.inhibitors.inhibitor(releasing: reader)?.id == inhibitor.id, core.state.readers[reader]?.isLent == true
    else {
      release(inhibitor)
      throw BusError(name: Names.Errors.failed, message: "the reader process did not close its device: try again")
    }
    // Closing the device may have taken a while. Check again that the user may have it.
    do {
      try core.state.checkRelease(of: reader, to: credentials.uid)
    } catch {
      release(inhibitor)
      throw error
    }
    return [.unixFD(descriptor), .dictionary(["device": .string(device)])]
  }

  /// Nil if the caller does not ask for a reader.
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
    let reader = try core.state.readerToRelease(path, to: uid)
    if let other = loans.inhibitors.inhibitor(releasing: reader) {
      throw BusError.notPossible("the reader is already lent to \(other.who) (user \(other.uid))")
    }
    return reader
  }

  /// Returns the caller's end of the pipe, too.
  private func inhibit(
    _ who: String, _ why: String, _ credentials: PeerCredentials
  ) throws -> (InhibitorList.Inhibitor, FileDescriptor) {
    let (ours, theirs) = try pipe()
    let inhibitor = try loans.inhibitors.add(who: who, why: why, uid: credentials.uid, pid: credentials.pid)
    do throws(SystemError) {
      // The pipe becomes readable when the last copy of the other end is closed, or when a caller writes into it.
      watches[inhibitor.id] = try DescriptorWatch(ours, on: DaemonLoop.loop) { [weak self] in
        DaemonLoop.assumeIsolated { self?.release(inhibitor) }
      }
    } catch {
      loans.inhibitors.remove(inhibitor.id)
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
    core.log(.info, ofUser: credentials.uid, "\(who) (user \(credentials.uid)) inhibits scanning: \(why)")
    core.handle(.inhibited(by: loans.inhibitors.users))
    return (inhibitor, theirs)
  }

  func list() -> [Value] {
    let entries = loans.inhibitors.inhibitors.map { inhibitor in
      Value.structure([
        .string(inhibitor.who), .string(inhibitor.why), .uint32(inhibitor.uid), .uint32(inhibitor.pid),
      ])
    }
    return [.array(element: "(ssuu)", entries)]
  }

  private func release(_ inhibitor: InhibitorList.Inhibitor) {
    guard let watch = watches.removeValue(forKey: inhibitor.id) else { return }
    watch.cancel()
    let reader = loans.inhibitors.remove(inhibitor.id)
    core.log(.info, ofUser: inhibitor.uid, "\(inhibitor.who) (user \(inhibitor.uid)) no longer inhibits scanning")
    if let reader { core.handle(.release(reader, false)) }
    core.handle(.inhibited(by: loans.inhibitors.users))
  }

  private func pipe() throws -> (FileDescriptor, FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else {
      throw BusError(name: Names.Errors.failed, message: "\(SystemError("make a pipe"))")
    }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }
}
