public import Bus
public import EventLoop
import Glibc
import Names

/// Keeps background scanning off, and where it was asked for a reader's device closed, as long as it lives.
///
/// The daemon sees the end of the pipe: a program that crashes inhibits nothing. A copy of the descriptor, such as a child
/// process inherits without close-on-exec, keeps it as well.
public final class Inhibitor: Sendable {
  /// The end of the pipe, close-on-exec.
  public let descriptor: FileDescriptor
  /// The libnfc connection string of the reader that was released, for `LIBNFC_DEFAULT_DEVICE`; nil where none was asked for.
  public let device: String?

  /// Whether the daemon that has given it still keeps to it. One that has ended does not, and the next one knows nothing of it: whoever
  /// still wants it asks for another. `DaemonClient.changes` tells when to look.
  public var isHeld: Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: 0, revents: 0)
    // The end for writing of a pipe that nobody reads any more is in error (poll(2)).
    guard poll(&entry, 1, 0) >= 0 else { return true }
    return entry.revents & Int16(POLLERR) == 0
  }

  init(_ descriptor: FileDescriptor, device: String?) {
    self.descriptor = descriptor
    self.device = device
  }
}

/// Who keeps background scanning off, for display only.
public struct InhibitorDescription: Sendable, Hashable {
  /// What the program calls itself.
  public var who: String
  /// Its reason.
  public var why: String
  /// Its process, when it began.
  public var process: UInt32
}

extension DaemonClient {
  /// Asks who keeps background scanning off, the oldest first.
  ///
  /// - Parameter timeout: how long the daemon has to answer.
  /// - Returns: the inhibitors; what is none is left out.
  /// - Throws: `BusError`.
  public func inhibitors(timeout: Duration = .seconds(25)) async throws(BusError) -> [InhibitorDescription] {
    let reply = try await manager("ListInhibitors", [], timeout: timeout)
    return (reply.first?.asArray ?? []).compactMap { value in
      guard let members = value.asStructure, members.count == 4, let who = members[0].asString,
        let why = members[1].asString, let process = members[3].asUInt32
      else { return nil }
      return InhibitorDescription(who: who, why: why, process: process)
    }
  }

  /// Keeps background scanning off.
  ///
  /// - Parameters:
  ///   - who: a name of the program that a person understands, at most 128 bytes.
  ///   - why: the reason, at most 256 bytes.
  /// - Returns: what keeps it off as long as it lives.
  /// - Throws: `BusError`: `org.tagroute.Error.NotAuthorized`, `TooMany`, `InvalidArgument`.
  public func inhibit(who: String, why: String) async throws(BusError) -> Inhibitor {
    let reply = try await manager("Inhibit", [.string(who), .string(why)])
    guard let descriptor = reply.first?.asUnixFD else { throw DaemonClient.noInhibitor }
    return Inhibitor(descriptor, device: nil)
  }

  /// Keeps background scanning off and has a reader's device closed, so that another libnfc program can open it.
  ///
  /// A reader session that has the reader ends; others wait until the inhibitor is gone.
  ///
  /// - Parameters:
  ///   - who: as for `inhibit`.
  ///   - why: as for `inhibit`.
  ///   - reader: the reader's object path; nil is the first one that is ready.
  /// - Returns: the inhibitor, once the device is closed.
  /// - Throws: `BusError`: those of `inhibit`; `BusError.Name.unknownMethod` and `notSupported` of a daemon that is too old to know how;
  ///   `org.tagroute.Error.NotPossible` where there is no such reader, none is ready,
  ///   or it is released already; `Failed` where it does not let go of its device.
  public func releaseReader(who: String, why: String, reader: ObjectPath? = nil) async throws(BusError) -> Inhibitor {
    var options: [String: Value] = ["release-reader": .boolean(true)]
    options["reader"] = reader.map(Value.objectPath)
    let reply = try await manager("InhibitWithOptions", [.string(who), .string(why), .dictionary(options)])
    guard let descriptor = reply.first?.asUnixFD else { throw DaemonClient.noInhibitor }
    // A daemon ignores options that it does not know: then scanning is off, and the device is as open as before.
    guard let device = reply.dropFirst().first?.asDictionary?["device"]?.asString else {
      throw BusError(
        name: BusError.Name.notSupported,
        message: "it has released no reader; one of this version, \(Names.version), would have: "
          + RunningProgram.daemon.restart(hasSystemd: SystemDirectories().hasSystemd))
    }
    return Inhibitor(descriptor, device: device)
  }

  private static let noInhibitor = BusError(
    name: BusError.Name.inconsistentMessage, message: "the daemon has answered without an inhibitor")
}
