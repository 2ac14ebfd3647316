public import Bus
import EventLoop

/// How what stands in for a service comes to the bus, and leaves it.
extension Connection {
  /// Takes the name of what this stands in for.
  ///
  /// - Parameter name: a well-known name.
  /// - Throws: `BusError` where the bus is away, or somebody else has the name: nothing that a test asks would come here.
  public func standIn(for name: String) async throws(BusError) {
    let result = try await requestName(name)
    guard result.isOwner else { throw .failed("\(name) is taken: \(result)") }
  }

  /// Leaves the bus, as a crash would, and returns once the bus has seen it: another may have its names from then on.
  public func crash() async {
    guard let own = uniqueName else { return close() }
    // Without a bus there is nobody to see it.
    let witness = try? await Connection.open(address, on: EventLoop(label: "witness"))
    let owners = try? await witness?.owners(of: own)
    close()
    if let owners { for await owner in owners where owner == nil { break } }
    await witness?.close()
  }
}
