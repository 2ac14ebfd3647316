import Bus
import Journal
import Names

extension DaemonService {
  func show(_ id: Int, device: String, seat: String) {
    guard let path = try? ObjectPath("\(Names.Daemon.readersPath)/\(id)") else { return }
    handle(.readerAdded(id, path: path, device: device, seat: seat, identity: roster.identity(ofDevice: device)))
    do {
      let interface = readerInterface(id)
      try connection?.assumeIsolated { try $0.export([interface], at: path) }
    } catch {
      log(.error, "cannot export reader \(device) on the bus: \(error)")
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
    published[path] = nil
    inhibitors.forget(id)
    handle(.readerRemoved(id))
    wakeLoanWaiters(id)
  }

  private func readerInterface(_ id: Int) -> ExportedInterface {
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak self] _ in
        // Without the reader, the type is wrong, and the caller gets an error.
        await self?.state.readers[id]?.properties.values[name] ?? .boolean(false)
      }
    }
    return ExportedInterface(
      Names.Daemon.readerInterface,
      properties: [
        property("Name", "s"), property("Device", "s", emits: .const), property("Seat", "s"), property("State", "s"),
        property("StateReason", "s"), property("Technologies", "as"), property("Counters", "a{st}", emits: .none),
      ])
  }
}
