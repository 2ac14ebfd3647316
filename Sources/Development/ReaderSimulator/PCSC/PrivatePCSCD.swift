import CShims
import EventLoop
import Glibc

/// The real pcscd with a separate socket and configuration. Several may run side by side, and beside the system's.
///
/// pcscd takes its socket as descriptor 3, as from systemd (sd_listen_fds(3)). It is killed when this process ends, if
/// the system has setpriv(1).
package actor PrivatePCSCD {
  /// How pcscd is started.
  package struct Options: Sendable {
    /// More variables for its environment, for example those of a testbed for devices.
    package var environment: [String: String] = [:]
    /// More arguments, for example `--auto-exit`.
    package var arguments: [String] = []
    /// A folder that pcscd sees in place of its folder of drivers for USB devices. Needs the right to mount.
    package var drivers: String?
    /// Whether pcscd starts only when a client connects, as from systemd's socket unit.
    package var startsOnDemand = false
    /// Whether the log has every step and every command.
    package var isVerbose = false

    package init() {}
  }

  private enum State {
    /// No process was started, or the last one has ended. Can transition to: `.waiting`, `.running`.
    case ended
    /// No client has connected yet. Can transition to: `.running`, `.ended`.
    case waiting(DescriptorWatch)
    /// Can transition to: `.ended`.
    case running(identifier: pid_t, watch: DescriptorWatch)
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The path of the socket, for `PCSCLITE_CSOCK_NAME` in the environment of a client.
  package nonisolated let socket: String
  /// The file to which pcscd writes its log.
  package nonisolated let logFile: String

  /// Where pcscd 1.9.9 looks for drivers of USB devices.
  private static let driverFolder = "/usr/lib/pcsc/drivers"
  /// Where each pcscd 1.9.9 writes its id, if it may. One that loses a reader sends SIGUSR1 to the process with the id in
  /// the file (ifdwrapper.c). That may be another process if the file outlives its pcscd.
  private static let identifierFile = "/run/pcscd/pcscd.pid"

  private let loop = EventLoop(label: "pcscd")
  private let directory: String
  private let options: Options
  private var state = State.ended
  private var endHandlers: [@Sendable () -> Void] = []
  private var startWaiters: [CheckedContinuation<Void, Never>] = []

  /// Starts pcscd in a directory that exists. The directory then holds the socket, the configuration and the log.
  /// `configuration` is the text of the configuration file (reader.conf(5)). Fails if pcscd is not installed.
  package static func start(
    in directory: String, configuration: String, options: Options = Options()
  ) async throws(SimulatorError) -> PrivatePCSCD {
    let daemon = PrivatePCSCD(directory, options)
    try await daemon.configure(configuration)
    try await daemon.restart()
    return daemon
  }

  private init(_ directory: String, _ options: Options) {
    self.directory = directory
    self.options = options
    socket = "\(directory)/pcscd.comm"
    logFile = "\(directory)/pcscd.log"
  }

  deinit { if case .running(let identifier, _) = state { Glibc.kill(identifier, SIGKILL) } }

  package var isRunning: Bool { if case .running = state { true } else { false } }

  /// The id of the process; nil if it does not run.
  package var identifier: Int32? { if case .running(let identifier, _) = state { identifier } else { nil } }

  /// Replaces the configuration. pcscd reads it when it starts.
  package func configure(_ configuration: String) throws(SimulatorError) {
    let folder = "\(directory)/reader.conf.d"
    mkdir(folder, 0o700)
    let bytes = Array(configuration.utf8)
    let number = open("\(folder)/readers", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard number >= 0, write(number, bytes, bytes.count) == bytes.count else {
      throw SimulatorError(SystemError("write \(folder)/readers").description)
    }
    close(number)
  }

  /// Starts the process on the same path, after killing the one that runs. With `startsOnDemand`, waits for a client in
  /// the background.
  package func restart() async throws(SimulatorError) {
    await kill()
    let listener = try ListeningSocket.create(at: socket, mode: 0o666)
    guard options.startsOnDemand else { return try spawn(listener) }
    do throws(SystemError) {
      // The client's connection stays in the socket's queue until pcscd accepts it.
      state = .waiting(
        try DescriptorWatch(listener, on: loop) { [weak self] in self?.assumeIsolated { $0.serve(listener) } })
    } catch {
      throw SimulatorError(error.description)
    }
  }

  /// Waits until the process runs: with `startsOnDemand`, until a client connects.
  package func started() async {
    guard case .waiting = state else { return }
    await withCheckedContinuation { startWaiters.append($0) }
  }

  private func serve(_ listener: FileDescriptor) {
    guard case .waiting(let watch) = state else { return }
    watch.cancel()
    state = .ended
    // Without pcscd, the client's connection breaks.
    _ = try? spawn(listener)
    resumeStartWaiters()
  }

  private func resumeStartWaiters() {
    let due = startWaiters
    startWaiters = []
    for waiter in due { waiter.resume() }
  }

  private func spawn(_ listener: FileDescriptor) throws(SimulatorError) {
    let log = open(logFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw SimulatorError(SystemError("open \(logFile)").description) }
    var spawn = try command()
    spawn.output = .file(FileDescriptor(owning: log))
    spawn.errors = spawn.output
    spawn.link = listener
    do throws(SystemError) { try follow(try spawn.start()) } catch { throw SimulatorError(error.description) }
  }

  /// Ends the process as its administrator does, with SIGTERM, and waits for that. The socket stays, without a listener.
  package func stop() async { await end(SIGTERM) }

  /// Kills the process, as a crash would, and waits for that.
  package func kill() async { await end(SIGKILL) }

  /// Sends the process a signal. SIGSTOP makes it unresponsive until SIGCONT.
  package func signal(_ number: Int32) {
    if case .running(let identifier, _) = state { Glibc.kill(identifier, number) }
  }

  /// Waits until the process has ended.
  package func ended() async {
    await withCheckedContinuation { continuation in whenEnded { continuation.resume() } }
  }

  /// Calls `body` once on the daemon's loop: when the process ends, or now if it does not run.
  func whenEnded(_ body: @escaping @Sendable () -> Void) {
    guard isRunning else { return body() }
    endHandlers.append(body)
  }

  /// The log of all runs so far.
  package nonisolated func log() -> String { Self.contents(logFile) }

  /// Empty if the file cannot be read.
  private static func contents(_ path: String) -> String {
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0, let bytes = try? FileDescriptor(owning: number).readAll() else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func end(_ number: Int32) async {
    if case .waiting(let watch) = state {
      watch.cancel()
      state = .ended
      resumeStartWaiters()
    }
    signal(number)
    await ended()
  }

  /// The command line. The shell and the programs before it only set up the process: they replace themselves by the
  /// next one, so that the id of the process stays that in LISTEN_PID.
  private func command() throws(SimulatorError) -> ProcessSpawn {
    let program = try SystemProgram.path(of: "pcscd", package: "pcscd")
    var script = "LISTEN_PID=$$ exec \"$@\""
    var arguments = ["/bin/sh", "-c"]
    if let drivers = options.drivers {
      script = "mount --bind \"$0\" \(Self.driverFolder) && \(script)"
      arguments = [try SystemProgram.path(of: "unshare", package: "util-linux"), "-m"] + arguments + [script, drivers]
    } else {
      arguments += [script, "pcscd"]
    }
    if let setpriv = try? SystemProgram.path(of: "setpriv", package: "util-linux") {
      arguments = [setpriv, "--pdeathsig", "KILL"] + arguments
    }
    arguments += [program, "--foreground", "--config", "\(directory)/reader.conf.d"]
    arguments += options.isVerbose ? ["--debug", "--apdu"] : ["--info"]
    var environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LISTEN_FDS": "1"]
    environment.merge(options.environment) { _, given in given }
    return ProcessSpawn(
      arguments[0], arguments: arguments + options.arguments, environment: environment.map { "\($0.key)=\($0.value)" })
  }

  private func follow(_ identifier: pid_t) throws(SystemError) {
    let number = tagroute_process_descriptor(identifier)
    guard number >= 0 else { throw SystemError("watch the process \(identifier)") }
    // The descriptor becomes readable when the process ends (pidfd_open(2)).
    let watch = try DescriptorWatch(FileDescriptor(owning: number), on: loop) { [weak self] in
      self?.assumeIsolated { $0.reap(identifier) }
    }
    state = .running(identifier: identifier, watch: watch)
  }

  private func reap(_ identifier: pid_t) {
    guard case .running(identifier, let watch) = state else { return }
    watch.cancel()
    // Before waitpid, so that no other process has the id yet.
    if Int32(Self.contents(Self.identifierFile).prefix(while: \.isNumber)) == identifier {
      unlink(Self.identifierFile)
    }
    var status: Int32 = 0
    waitpid(identifier, &status, 0)
    state = .ended
    let due = endHandlers
    endHandlers = []
    for body in due { body() }
  }
}

/// The driver as a bundle: the form in which pcscd finds it for USB devices (ifdhandler.h, "USB readers").
enum DriverBundle {
  /// Writes the bundle into a folder, which it creates. `library` is the path of the driver.
  static func write(in folder: String, library: String) throws(SimulatorError) {
    let contents = "\(folder)/tagroute.bundle/Contents"
    for path in [folder, "\(folder)/tagroute.bundle", contents, "\(contents)/Linux"] { mkdir(path, 0o755) }
    let link = "\(contents)/Linux/libtagroute-ifd.so"
    unlink(link)
    guard symlink(library, link) == 0 else { throw SimulatorError(SystemError("make the link \(link)").description) }
    let bytes = Array(propertyList.utf8)
    let number = open("\(contents)/Info.plist", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard number >= 0, Glibc.write(number, bytes, bytes.count) == bytes.count else {
      throw SimulatorError(SystemError("write \(contents)/Info.plist").description)
    }
    close(number)
  }

  /// pcscd reads it line by line.
  private static var propertyList: String {
    let models = CardReaderModel.all
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0">
      <dict>
        <key>CFBundleExecutable</key>
        <string>libtagroute-ifd.so</string>
        <key>ifdCapabilities</key>
        <string>0x00000000</string>
      \(list("ifdVendorID", models.map { hexadecimal($0.vendor) }))
      \(list("ifdProductID", models.map { hexadecimal($0.product) }))
      \(list("ifdFriendlyName", models.map(\.friendlyName)))
      </dict>
      </plist>

      """
  }

  private static func list(_ key: String, _ values: [String]) -> String {
    let lines = values.map { "    <string>\($0)</string>\n" }.joined()
    return "  <key>\(key)</key>\n  <array>\n\(lines)  </array>"
  }

  private static func hexadecimal(_ number: UInt16) -> String { "0x\(HexText.string(BigEndian.bytes(number)))" }
}

/// Serving the readers to a private pcscd.
extension SimulatedCardReaders {
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

  /// Starts a pcscd that finds the readers as USB devices of a testbed, with the testbed's variables in
  /// `options.environment`. A reader is there while its device is plugged in there. Needs the right to mount.
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

enum SystemProgram {
  /// The path of a program in `PATH` or one of the folders for administrators. The error names the Debian package that
  /// holds it.
  static func path(of name: String, package: String) throws(SimulatorError) -> String {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    for folder in "\(path):/usr/sbin:/sbin".split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    throw SimulatorError("\(name) is not installed: apt-get install \(package)")
  }
}
