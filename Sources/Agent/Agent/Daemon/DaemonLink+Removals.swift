import Bus
import Names

/// The ends of placements, as the daemon reports them.
extension DaemonLink {
  func removalMethod() -> ExportedMethod {
    ExportedMethod("TagRemoved", in: [Argument("tap", "s"), Argument("options", "a{sv}")]) { [weak self] _, call in
      try await self?.tagRemoved(call)
      return []
    }
  }

  private func tagRemoved(_ call: IncomingCall) async throws {
    try requireDaemon(call)
    guard let id = call.arguments.first?.asString, Names.Handler.isTapID(id) else {
      throw BusError.invalidArgument("tap must be a UUID")
    }
    await notify(self, .tagRemoved(id))
  }
}
