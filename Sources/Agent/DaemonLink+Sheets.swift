import Bus
import Journal
import Names

/// What the daemon says of reader sessions.
extension DaemonLink {
  /// Whoever shows sheets.
  typealias SheetReceiver = @Sendable (ReaderSheets.Event) async -> Void

  /// What the daemon may say besides `TagRead`. Anything beyond these bounds is not the daemon's.
  func sheetMethods() -> [ExportedMethod] {
    [
      ExportedMethod("ShowReaderSession", in: [Argument("session", "o"), Argument("options", "a{sv}")]) {
        [weak self] call in
        try await self?.take(call) { path, arguments in
          let options = arguments.last?.asDictionary ?? [:]
          return .show(
            path, message: options["message"]?.asString ?? "", application: options["app"]?.asString ?? "")
        }
        return []
      },
      ExportedMethod("UpdateReaderSession", in: [Argument("session", "o"), Argument("options", "a{sv}")]) {
        [weak self] call in
        try await self?.take(call) { path, arguments in
          arguments.last?.asDictionary?["message"]?.asString.map { .update(path, message: $0) }
        }
        return []
      },
      ExportedMethod(
        "CloseReaderSession", in: [Argument("session", "o"), Argument("outcome", "s"), Argument("message", "s")]
      ) { [weak self] call in
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
    await sheets?(event)
  }

  /// Tells the daemon that the user does not want a session; one that is over already needs no telling.
  func cancelReaderSession(_ session: ObjectPath) async {
    guard let owner else { return }
    do {
      _ = try await connection.call(
        owner, try ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "CancelReaderSession",
        [.objectPath(session)], autoStart: false)
    } catch {
      log(.info, "a reader session was not cancelled: \(error)")
    }
  }
}
