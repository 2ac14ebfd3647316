public import Bus
public import EventLoop
import Glibc
import Names

/// Keeps background scanning off while it exists. If it was requested, it also keeps a reader's device closed.
///
/// The daemon notices when the pipe is closed, so a program that crashes inhibits no longer. A copy of the descriptor
/// also keeps the inhibitor, such as one that a child process inherits without close-on-exec.
public final class Inhibitor: Sendable {
  /// The client's end of the pipe, close-on-exec.
  public let descriptor: FileDescriptor
  /// The libnfc connection string of the released reader, for `LIBNFC_DEFAULT_DEVICE`; or `pcsc:` and the name that pcscd
  /// has for it. Nil if no release was requested.
  public let device: String?

  /// Whether the daemon that gave the inhibitor still honours it. A daemon that has exited does not, and the next one
  /// does not know it. A client that still needs it has to request another. `DaemonClient.changes` shows when to check.
  public var isHeld: Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: 0, revents: 0)
    // The write end of a pipe without a reader reports an error (poll(2)).
    guard poll(&entry, 1, 0) >= 0 else { return true }
    return entry.revents & Int16(POLLERR) == 0
  }

  init(_ descriptor: FileDescriptor, device: String?) {
    self.descriptor = descriptor
    self.device = device
  }
}

/// A program that keeps background scanning off, for display only.
public struct InhibitorDescription: Sendable, Hashable {
  /// The program's name for itself.
  public var who: String
  /// Its reason.
  public var why: String
  /// Its process id when it requested the inhibitor.
  public var process: UInt32
}

extension DaemonClient {
  /// Gets the programs that keep background scanning off, the oldest first.
  ///
  /// - Parameter timeout: how long the daemon has to reply.
  /// - Returns: the inhibitors, without malformed ones.
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
  /// - Returns: an inhibitor that keeps it off while it exists.
  /// - Throws: `BusError`: `org.tagroute.Error.NotAuthorized`, `TooMany`, `InvalidArgument`.
  public func inhibit(who: String, why: String) async throws(BusError) -> Inhibitor {
    let reply = try await manager("Inhibit", [.string(who), .string(why)])
    guard let descriptor = reply.first?.asUnixFD else { throw DaemonClient.noInhibitor }
    return Inhibitor(descriptor, device: nil)
  }

  /// Keeps background scanning off and has a reader's device closed, so that another libnfc program can open it.
  ///
  /// A reader session that has the reader ends. Other sessions wait until the inhibitor is gone.
  ///
  /// - Parameters:
  ///   - who: as for `inhibit`.
  ///   - why: as for `inhibit`.
  ///   - reader: the reader's object path; nil for the first one that is ready.
  /// - Returns: the inhibitor, once the device is closed.
  /// - Throws: `BusError`: those of `inhibit`; `BusError.Name.unknownMethod` and `notSupported` if the daemon is too
  ///   old for this; `org.tagroute.Error.NotPossible` if there is no such reader, none is ready, or it is already
  ///   released; `Failed` if the device could not be closed.
  public func releaseReader(who: String, why: String, reader: ObjectPath? = nil) async throws(BusError) -> Inhibitor {
    var options: [String: Value] = ["release-reader": .boolean(true)]
    options["reader"] = reader.map(Value.objectPath)
    let reply = try await manager("InhibitWithOptions", [.string(who), .string(why), .dictionary(options)])
    guard let descriptor = reply.first?.asUnixFD else { throw DaemonClient.noInhibitor }
    // A daemon ignores unknown options. An old one has then switched scanning off, and left the device open.
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
