import Bus
import Journal
import Names

/// Reader sessions, as the daemon reports them.
extension DaemonLink {
  /// The methods besides `TagRead` that the daemon calls.
  func sheetMethods() -> [ExportedMethod] {
    [
      ExportedMethod("ShowReaderSession", in: [Argument("session", "o"), Argument("options", "a{sv}")]) {
        [weak self] _, call in
        try await self?.take(call) { path, arguments in
          let options = arguments.last?.asDictionary ?? [:]
          return .show(
            path, message: options["message"]?.asString ?? "", application: options["app"]?.asString ?? "")
        }
        return []
      },
      ExportedMethod("UpdateReaderSession", in: [Argument("session", "o"), Argument("options", "a{sv}")]) {
        [weak self] _, call in
        try await self?.take(call) { path, arguments in
          arguments.last?.asDictionary?["message"]?.asString.map { .update(path, message: $0) }
        }
        return []
      },
      ExportedMethod(
        "CloseReaderSession", in: [Argument("session", "o"), Argument("outcome", "s"), Argument("message", "s")]
      ) { [weak self] _, call in
        try await self?.take(call) { path, arguments in
          .close(path, outcome: arguments[1].asString ?? "", message: arguments[2].asString ?? "")
        }
        return []
      },
    ]
  }

  private func take(
    _ call: IncomingCall, _ read: @Sendable (ObjectPath, [Value]) -> ReaderSheets.Event?
  ) async throws {
    try requireDaemon(call)
    guard let path = call.arguments.first?.asObjectPath, let event = read(path, call.arguments) else { return }
    await notify(self, .sheet(event))
  }

  /// Cancels a reader session for the user. The daemon refuses that if the session is over already.
  func cancelReaderSession(_ session: ObjectPath) async {
    guard let owner else { return }
    do {
      try await call(owner, "CancelReaderSession", [.objectPath(session)])
    } catch {
      log(.info, "a reader session was not cancelled: \(error)")
    }
  }
}
