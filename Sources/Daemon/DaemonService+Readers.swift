import Bus
import Configuration
import Glibc
import Journal
import Names
import ReaderLink

extension DaemonService {
  /// Starts a process for each configured device, or for each that libnfc finds now. Where it finds none, one process
  /// waits for the first that is plugged in.
  func startReaders(_ program: String) {
    guard configuration.devices.isEmpty else { return startReaders(program, configuration.devices) }
    Task { [weak self, loop, log] in
      var devices: [String] = []
      do throws(ReaderDiscovery.Failure) {
        devices = LastingDevice.names(of: try await ReaderDiscovery.devices(program: program, on: loop))
      } catch {
        log(.warning, "cannot look for readers: \(error)")
      }
      await self?.startReaders(program, devices)
    }
  }

  private func startReaders(_ program: String, _ devices: [String]) {
    guard !isStopped else { return }
    for (id, device) in devices.enumerated() {
      addReader(id, device: device)
      startReader(id, program, device: device)
    }
    guard devices.isEmpty else { return }
    seeker = 0
    startReader(0, program, device: nil)
  }

  private func startReader(_ id: Int, _ program: String, device: String?) {
    let process = ReaderProcess(
      .init(
        program: program, device: device, pollInterval: configuration.pollInterval,
        environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]),
      on: loop)
    let task = Task { [weak self] in
      for await event in process.events { await self?.receive(event, from: id) }
    }
    units[id] = ReaderUnit(process: process, task: task)
    process.assumeIsolated { $0.start() }
  }

  private func receive(_ event: ReaderProcessEvent, from id: Int) {
    if case .state(.ready(_, let device)) = event, seeker == id { found(device, by: id) }
    if case .tag(let report) = event {
      handle(.tag(id, report, id: Tap.makeID(), time: microsecondsSince1970()))
    } else {
      handle(.reader(id, event))
    }
  }

  /// The process that looks for a device has found one; a reader is what it found, so another device is another reader.
  private func found(_ device: String, by id: Int) {
    guard state.readers[id]?.properties.device != device else { return }
    removeReader(id)
    addReader(id, device: device)
  }

  private func addReader(_ id: Int, device: String) {
    guard let path = try? ObjectPath("\(Names.Daemon.readersPath)/\(id)") else { return }
    handle(.readerAdded(id, path: path, device: device, seat: DaemonState.defaultSeat))
    do {
      let interface = readerInterface(id)
      try connection?.assumeIsolated { try $0.export([interface], at: path) }
    } catch {
      log(.error, "reader \(device) cannot be shown on the bus: \(error)")
    }
  }

  private func removeReader(_ id: Int) {
    guard let path = state.readers[id]?.path else { return }
    connection?.assumeIsolated { $0.unexport(path) }
    publishedReaders[id] = nil
    handle(.readerRemoved(id))
  }

  private func readerInterface(_ id: Int) -> ExportedInterface {
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed,
      _ read: @escaping @Sendable (ReaderStatus.Properties) -> Value
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak self] in
        let properties = await self?.state.readers[id]?.properties
        return read(properties ?? ReaderStatus.Properties(device: "", seat: "", technologies: []))
      }
    }
    return ExportedInterface(
      Names.Daemon.readerInterface,
      properties: [
        property("Name", "s") { .string($0.name) },
        property("Device", "s", emits: .const) { .string($0.device) },
        property("Seat", "s", emits: .const) { .string($0.seat) },
        property("State", "s") { .string($0.state) },
        property("Technologies", "as") { .strings($0.technologies) },
        property("Counters", "a{st}", emits: .none) { properties in
          let counters = properties.counters
          let entries = [
            ("messages", counters.messages), ("placements", counters.placements), ("problems", counters.problems),
            ("restarts", counters.restarts),
          ]
          return .dictionary(key: "s", value: "t", entries.map { DictionaryEntry(.string($0.0), .uint64($0.1)) })
        },
      ])
  }

  private func microsecondsSince1970() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec / 1000)
  }
}
