import Bus
import Journal
import Names

/// The D-Bus objects of readers.
extension DaemonService {
  func show(_ id: Int, device: String, seat: String) {
    guard let path = try? ObjectPath("\(Names.Daemon.readersPath)/\(id)") else { return }
    handle(.readerAdded(id, path: path, device: device, seat: seat))
    do {
      let interface = readerInterface(id)
      try connection?.assumeIsolated { try $0.export([interface], at: path) }
    } catch {
      log(.error, "reader \(device) cannot be shown on the bus: \(error)")
    }
    guard let place = roster.readers[id]?.path, let inhibitor = inhibitors.inhibitor(releasingDeviceAt: place) else {
      return
    }
    inhibitors.release(id, at: place, with: inhibitor.id)
    handle(.release(id, true))
  }

  func hide(_ id: Int) {
    guard let path = state.readers[id]?.path else { return }
    connection?.assumeIsolated { $0.unexport(path) }
    publishedReaders[id] = nil
    inhibitors.forget(id)
    handle(.readerRemoved(id))
    wakeLoanWaiters(id)
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
        property("Seat", "s") { .string($0.seat) },
        property("State", "s") { .string($0.state) },
        property("StateReason", "s") { .string($0.stateReason) },
        property("Technologies", "as") { .strings($0.technologies.map(\.rawValue)) },
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
}
