package import Bus
import EventLoop

/// How a stand-in joins the bus and leaves it.
extension Connection {
  /// Takes the name of the service that this connection replaces. Fails if the name is taken: calls of the test would
  /// not arrive here then.
  package func standIn(for name: String) async throws(BusError) {
    let result = try await requestName(name)
    guard result.isOwner else { throw .failed("\(name) is taken: \(result)") }
  }

  /// Leaves the bus, as a crash would, and returns once the bus has noticed. Another connection can then take the
  /// names.
  package func crash() async {
    guard let own = uniqueName else { return close() }
    // Without a bus, the wait is skipped.
    let witness = try? await Connection.open(address, on: EventLoop(label: "witness"))
    let owners = try? await witness?.owners(of: own)
    close()
    if let owners { for await owner in owners where owner == nil { break } }
    await witness?.close()
  }
}
