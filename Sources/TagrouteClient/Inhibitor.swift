public import Bus
public import EventLoop
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

  init(_ descriptor: FileDescriptor, device: String?) {
    self.descriptor = descriptor
    self.device = device
  }
}

extension DaemonClient {
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
  /// - Throws: `BusError`: those of `inhibit`; `org.tagroute.Error.NotPossible` where there is no such reader, none is ready,
  ///   or it is released already; `Failed` where it does not let go of its device.
  public func releaseReader(who: String, why: String, reader: ObjectPath? = nil) async throws(BusError) -> Inhibitor {
    var options: [String: Value] = ["release-reader": .boolean(true)]
    options["reader"] = reader.map(Value.objectPath)
    let reply = try await manager("InhibitWithOptions", [.string(who), .string(why), .dictionary(options)])
    guard let descriptor = reply.first?.asUnixFD else { throw DaemonClient.noInhibitor }
    return Inhibitor(descriptor, device: reply.dropFirst().first?.asDictionary?["device"]?.asString)
  }

  private static let noInhibitor = BusError(
    name: BusError.Name.inconsistentMessage, message: "the daemon has answered without an inhibitor")
}
