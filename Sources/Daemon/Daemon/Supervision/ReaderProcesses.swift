import EventLoop
import Journal
import ReaderProtocol

/// The processes of the readers, and those that were stopped and have not ended yet.
@DaemonLoop final class ReaderProcesses {
  /// A reader's process, and the task that receives its events.
  struct Unit {
    let process: ReaderProcess
    let task: Task<Void, Never>
    /// The key of its known tags.
    let place: String
    /// The last report of the process.
    var reported: ReaderPhase?
    var reached: UInt64?
    /// Nil after a failure.
    var opened: String?
  }

  private let log: Log
  private var units: [Int: Unit] = [:]
  private var leaving: [ObjectIdentifier: Unit] = [:]
  private var knownTags = KnownTagFile.standard()

  init(_ log: Log) { self.log = log }

  subscript(id: Int) -> Unit? {
    get { units[id] }
    set { units[id] = newValue }
  }

  /// Including stopped ones.
  var areLeft: Bool { !(units.isEmpty && leaving.isEmpty) }

  /// The process does not start yet. `receive` gets its events until it is removed.
  func add(
    _ id: Int, _ configuration: ReaderProcess.Configuration,
    receive: @escaping @DaemonLoop @Sendable (ReaderProcessEvent) -> Void
  ) -> ReaderProcess {
    let place = configuration.device ?? ""
    let process = ReaderProcess(configuration, known: knownTags.known(on: place), on: DaemonLoop.loop)
    let task = Task { [weak self] in
      for await event in process.events {
        // Ignore the events of a stopped process.
        guard self?.units[id]?.process === process else { continue }
        receive(event)
      }
    }
    units[id] = Unit(process: process, task: task, place: place)
    return process
  }

  /// The daemon ignores the process's events from here. Call `end` next.
  func remove(_ id: Int) -> Unit? {
    let unit = units.removeValue(forKey: id)
    unit?.task.cancel()
    return unit
  }

  /// For a removed process. The daemon ends only after it.
  func end(_ unit: Unit) {
    leaving[ObjectIdentifier(unit.process)] = unit
    Task {
      await stop(unit.process)
      leaving[ObjectIdentifier(unit.process)] = nil
    }
  }

  /// Waits for the end of the removed processes.
  func untilLeft() async {
    for unit in Array(leaving.values) { await unit.process.stop() }
  }

  /// Ends all processes, so that every field is off.
  func stopAll() async {
    await withTaskGroup(of: Void.self) { group in
      for unit in Array(units.values) + leaving.values { group.addTask { await self.stop(unit.process) } }
    }
    (units, leaving) = ([:], [:])
  }

  /// A process that hangs inside the kernel cannot be ended.
  private func stop(_ process: ReaderProcess) async {
    guard await !process.stop() else { return }
    log(.warning, "a reader process was killed but has not ended, because a kernel driver hangs: unplug the reader")
  }

  // MARK: Known tags

  func loadKnownTags() {
    let result = "the daemon announces tags that are still on a reader again"
    do throws(SystemError) {
      if try !knownTags.load() { log(.warning, "the file of known tags is damaged: \(result)") }
    } catch {
      log(.warning, "\(error): \(result)")
    }
  }

  func keep(_ known: KnownTags, of id: Int) {
    guard let place = units[id]?.place else { return }
    do throws(SystemError) {
      try knownTags.keep(known, on: place)
    } catch {
      log(.debug, "\(error): after a restart the daemon announces tags that are still on a reader again")
    }
  }
}
