import EventLoop
import Glibc
import Names

/// How this daemon reaches pcscd: the socket, the program that speaks with pcscd, and the watch of its list.
@DaemonLoop final class PCSCAccess {
  /// How long pcscd's list may lack a device for which pcscd has a driver. pcscd takes a second to start. An ACR122U that
  /// does not answer its first command takes five.
  private static let patience = Duration.seconds(10)

  /// Nil for the standard socket.
  private let socket: String?
  private let directories: SystemDirectories
  /// Nil if `tagroute-reader-pcsc` is not installed.
  private(set) var program: String?
  /// Nil while no list is needed.
  private var watch: PCSCWatch?
  private var task: Task<Void, Never>?
  /// What the list should show soon, and when the daemon stops waiting for it.
  private var awaited: Set<String> = []
  private var timer: LoopTimer?
  /// Of lines about problems of pcscd.
  var lines = LineBudget(most: 60)

  init(_ directories: SystemDirectories, environment: [String: String] = ProcessEnvironment.current) {
    socket = environment[Names.PCSC.socketVariable].flatMap { $0.isEmpty ? nil : $0 }
    self.directories = directories
  }

  /// For programs that speak with pcscd.
  var environment: [String] { socket.map { ["\(Names.PCSC.socketVariable)=\($0)"] } ?? [] }

  func findProgram() { program = OwnProgram.path(Names.Files.pcscReaderProgram) }

  /// Does not connect to pcscd. Reads files below /usr, which has the daemon's own program, too: a file system that
  /// does not respond would stop the daemon anyway.
  func support() -> PCSCSupport {
    var support = PCSCSupport(
      drivers: PCSCDrivers.devices(in: directories.pcscDrivers), isElsewhere: socket != nil)
    if program == nil {
      support.obstacle = .noProgram
    } else if access(socket ?? "\(directories.runtime)/\(Names.PCSC.socket)", F_OK) != 0 {
      // If systemd starts pcscd on demand, the socket exists before pcscd runs.
      support.obstacle = .noService
    }
    return support
  }

  /// Starts after the end of the `processes` that were stopped. Has no effect if the watch has started.
  func startWatch(
    after processes: ReaderProcesses, base: [String],
    receive: @escaping @DaemonLoop @Sendable (PCSCWatch.Event) -> Void
  ) {
    guard let program, watch == nil else { return }
    let watch = PCSCWatch(program: program, environment: base + environment, on: DaemonLoop.loop)
    self.watch = watch
    task = Task { [weak self] in
      // pcscd gives a reader up for good if it finds the device open at its first look.
      await processes.untilLeft()
      guard self?.watch === watch else { return }
      await watch.start()
      for await event in watch.events {
        guard self?.watch === watch else { return }
        receive(event)
      }
    }
  }

  /// Nil if there is no watch. Its process ends a moment later.
  @discardableResult
  func stopWatch() -> PCSCWatch? {
    guard let watch else { return nil }
    task?.cancel()
    timer?.cancel()
    (self.watch, task, timer, awaited) = (nil, nil, nil, [])
    Task { await watch.stop() }
    return watch
  }

  /// pcscd may have a reader or a driver since, so end a pause before the next attempt.
  func retryAtOnce() { watch?.assumeIsolated { $0.retryAtOnce() } }

  /// Calls `giveUp` if pcscd's list should show this soon, and the same is still missing after `patience`.
  func expect(_ awaited: Set<String>, giveUp: @escaping @DaemonLoop @Sendable () -> Void) {
    guard awaited != self.awaited else { return }
    self.awaited = awaited
    timer?.cancel()
    timer = nil
    guard !awaited.isEmpty else { return }
    timer = DaemonLoop.schedule(after: Self.patience) { [weak self] in
      self?.timer = nil
      giveUp()
    }
  }
}

extension OwnProgram {
  /// The path of one of our programs: beside `tagrouted`, as in a build folder, otherwise in libexec. Nil if it is not
  /// installed.
  static func path(_ name: String) -> String? {
    let candidates = [directory, Names.Files.libexec].compactMap(\.self).map { "\($0)/\(name)" }
    return candidates.first { access($0, X_OK) == 0 }
  }
}
