import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol

/// pcscd: whether it can be used, and its list of readers.
extension DaemonService {
  /// Finds out whether pcscd can be used, without a connection to it. Reads files below /usr, where the daemon's own
  /// program is, so a file system that does not respond would stop the daemon anyway.
  func pcscSupport() -> PCSCSupport {
    var support = PCSCSupport(
      drivers: PCSCDrivers.devices(in: directories.pcscDrivers), isElsewhere: pcsc.socket != nil)
    if pcsc.program == nil {
      support.obstacle = .noProgram
    } else if access(pcsc.socket ?? "\(directories.runtime)/\(Names.PCSC.socket)", F_OK) != 0 {
      // If systemd starts pcscd on demand, the socket exists before pcscd runs.
      support.obstacle = .noService
    }
    return support
  }

  /// Looks at pcscd again if a USB device is plugged in that pcscd may drive. pcscd may just have been installed.
  func preparePCSC(for event: DeviceEvent) {
    guard case .added(let device) = event, let usb = device.usb, ContactlessReaders.mayBeReader(usb) else { return }
    perform(roster.handle(.pcscd(pcscSupport())))
    pcsc.watch?.assumeIsolated { $0.retryAtOnce() }
  }

  /// Starts or stops asking pcscd for its list, as the roster needs it.
  func followPCSCD() {
    guard !isStopped else { return }
    if roster.needsPCSCList, pcsc.watch == nil {
      startPCSCWatch()
    } else if !roster.needsPCSCList, pcsc.watch != nil {
      stopPCSCWatch()
      perform(roster.handle(.pcscUnwatched))
    }
    let awaited = roster.awaited
    guard awaited != pcsc.awaited else { return }
    pcsc.awaited = awaited
    pcsc.timer?.cancel()
    pcsc.timer = nil
    guard !awaited.isEmpty else { return }
    pcsc.timer = loop.schedule(after: PCSCAccess.patience) { [weak self] in
      self?.assumeIsolated {
        guard !$0.isStopped else { return }
        $0.pcsc.timer = nil
        $0.perform($0.roster.handle(.waited))
      }
    }
  }

  private func startPCSCWatch() {
    guard let program = pcsc.program else { return }
    let watch = PCSCWatch(program: program, environment: readerEnvironment + pcsc.environment, on: loop)
    pcsc.watch = watch
    pcsc.task = Task { [weak self] in
      // pcscd gives a reader up for good if it finds the device open at its first look.
      await self?.untilLeft()
      await self?.begin(watch)
      for await event in watch.events { await self?.receive(event, of: watch) }
    }
  }

  private func begin(_ watch: PCSCWatch) {
    guard pcsc.watch === watch else { return }
    watch.assumeIsolated { $0.start() }
  }

  /// Stops the watch. Its process ends a moment later.
  func stopPCSCWatch() {
    guard let watch = pcsc.watch else { return }
    pcsc.task?.cancel()
    pcsc.timer?.cancel()
    (pcsc.watch, pcsc.task, pcsc.timer, pcsc.awaited) = (nil, nil, nil, [])
    Task { await watch.stop() }
  }

  private func receive(_ event: PCSCWatch.Event, of watch: PCSCWatch) {
    guard !isStopped, pcsc.watch === watch else { return }
    switch event {
    case .readers(let list):
      log(.debug, "pcscd lists \(list.count) readers: \(list.map(\.name).joined(separator: ", "))")
      forgetTags(onReadersMissingIn: list)
      perform(roster.handle(.pcscReaders(list)))
    case .problem(let problem):
      if problem != roster.pcscList.problem, pcsc.lines.line(at: .now) == .write {
        log(.notice, "pcscd gives no list of readers: \(problem.kind.rawValue) \(problem.text)")
      }
      perform(roster.handle(.pcscProblem(problem)))
    }
  }

  /// A tag on the next reader of the same name is a new one. If the configuration names the reader, its process sees
  /// that the reader was away.
  private func forgetTags(onReadersMissingIn list: [PCSCReader]) {
    let names = Set(list.map(\.name))
    for (id, reader) in roster.readers {
      guard let slot = reader.slot, !reader.stays, !names.contains(slot), let unit = units[id] else { continue }
      keep(KnownTags(), on: unit.place)
    }
  }
}

/// How this daemon reaches pcscd: the socket, the program that speaks with pcscd, and the watch of its list.
struct PCSCAccess {
  /// How long pcscd's list may lack a device for which pcscd has a driver. pcscd takes a second to start. An ACR122U that
  /// does not answer its first command takes five.
  static let patience = Duration.seconds(10)

  /// pcscd's socket, if the environment names it; nil for the standard one.
  let socket: String?
  /// The path of `tagroute-reader-pcsc`; nil if it is not installed.
  var program: String?
  /// The watch of pcscd's list; nil while no list is needed.
  var watch: PCSCWatch?
  /// The task that receives its events.
  var task: Task<Void, Never>?
  /// What the list should show soon, and when the daemon stops waiting for it.
  var awaited: Set<String> = []
  var timer: LoopTimer?
  /// Bounds the lines about problems of pcscd.
  var lines = LineBudget(most: 60)

  init(environment: [String: String] = ProcessEnvironment.current) {
    socket = environment[Names.PCSC.socketVariable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The environment of the programs that speak with pcscd.
  var environment: [String] { socket.map { ["\(Names.PCSC.socketVariable)=\($0)"] } ?? [] }
}
