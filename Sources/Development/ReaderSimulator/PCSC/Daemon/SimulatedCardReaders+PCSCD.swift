import EventLoop
import Glibc

/// Serving the readers to a pcscd of one's own.
extension SimulatedCardReaders {
  /// The name of the driver's file.
  private static let libraryName = "libtagroute-ifd.so"

  /// The path of the driver: beside this program, or in the folder for libraries next to it.
  package static func driverLibrary() throws(SimulatorError) -> String {
    guard let folder = OwnProgram.directory else { throw SimulatorError("cannot read /proc/self/exe") }
    let paths = [folder, "\(folder)/../lib/tagroute", "\(folder)/../libexec"].map { "\($0)/\(libraryName)" }
    guard let path = paths.first(where: { access($0, R_OK) == 0 }) else {
      throw SimulatorError("\(libraryName) is not in \(folder): build the product tagroute-ifd")
    }
    return path
  }

  /// Starts a pcscd with all readers in its configuration, and waits until it has opened those that are plugged in.
  /// With `startsOnDemand`, it returns before that. Fails with pcscd's log if it ends.
  package func startPCSCD(
    in directory: String, options: PrivatePCSCD.Options = PrivatePCSCD.Options()
  ) async throws(SimulatorError) -> PrivatePCSCD {
    let daemon = try await PrivatePCSCD.start(
      in: directory, configuration: configuration(library: try Self.driverLibrary()), options: options)
    if !options.startsOnDemand { try await waitUntilOpen(by: daemon) }
    return daemon
  }

  /// Starts a pcscd that finds the readers as USB devices of a testbed, whose variables are in `options.environment`. A
  /// reader is there while its device is plugged in there. Needs the right to mount.
  package func startHotplugPCSCD(
    in directory: String, options: PrivatePCSCD.Options = PrivatePCSCD.Options()
  ) async throws(SimulatorError) -> PrivatePCSCD {
    var options = options
    let drivers = "\(directory)/drivers"
    try DriverBundle.write(in: drivers, library: try Self.driverLibrary())
    options.drivers = drivers
    options.environment["TAGROUTE_IFD_SOCKET"] = socket
    return try await PrivatePCSCD.start(in: directory, configuration: "", options: options)
  }

  /// Waits until pcscd has opened every slot of the readers that are plugged in, also after a restart. Fails with its
  /// log if it ends.
  package func waitUntilOpen(by daemon: PrivatePCSCD) async throws(SimulatorError) {
    let end = EndFlag()
    let checkAgain: @Sendable () -> Void = { [weak self] in self?.assumeIsolated { $0.resumeWaiters() } }
    await daemon.whenEnded { [loop] in
      end.set()
      loop.execute(checkAgain)
    }
    try await wait { $0.areOpen || end.isSet }
    guard areOpen else { throw SimulatorError("pcscd ended:\n\(daemon.log())") }
  }
}

/// Whether a process has ended.
private final class EndFlag: Sendable {
  private let flag = Locked(false)

  var isSet: Bool { flag.withLock { $0 } }

  func set() { flag.withLock { $0 = true } }
}
