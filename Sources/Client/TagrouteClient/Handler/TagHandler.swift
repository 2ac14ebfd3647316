public import Bus
public import EventLoop
import Names

/// An app that tags, links and the desktop open (`org.tagroute.Handler1`, and `org.freedesktop.Application` of the
/// Desktop Entry Specification, "D-Bus Activation").
///
/// The app's desktop entry has `DBusActivatable=true` and `Implements=org.tagroute.Handler1;`. The bus starts the app
/// if there is a D-Bus service file for it.
///
///     try await TagHandler.serve("org.example.Menu") { opening in
///       guard opening.tapID != nil else { return try await window.present() }
///       try await window.show(opening.message)
///     }
///
/// The tap is delivered as soon as the closure returns, and not before. If the closure throws, the user sees the error.
public enum TagHandler {
  /// Serves calls until the task is cancelled or the session bus is gone.
  ///
  /// - Parameters:
  ///   - id: the app's id, its desktop entry's name without `.desktop`. It is also the bus name.
  ///   - address: the bus, by default the session's own.
  ///   - loop: the event loop of the connection.
  ///   - removed: is called with ``TagOpening/tapID`` when the tag of a tap is taken from the reader, possibly before
  ///     `open` has returned. Not called if the session is locked then, or if a program was restarted in between.
  ///   - open: takes each opening, one after the other. It returns as soon as the app has it, because the user waits.
  ///     The user sees the message of an error that it throws, cut after 500 Unicode scalars. A `BusError` keeps its
  ///     name, unless that is a standard name: another program has sent such an error to the app.
  /// - Throws: `BusError`: the bus cannot be reached or has gone, `NameExists` if the app already runs,
  ///   `invalidArguments` if the id is not a bus name; `CancellationError` if the task is cancelled.
  public static func serve(
    _ id: String, on address: BusAddress = .session, loop: EventLoop = EventLoop(label: "tag-handler"),
    removed: @escaping @Sendable (_ tapID: String) async -> Void = { _ in },
    _ open: (TagOpening) async throws -> Void
  ) async throws {
    let connection = try await Connection.open(address, on: loop)
    do {
      try await serve(id, connection, removed, open)
    } catch {
      // In a new task, which is not cancelled with this one. The reply to the last opening goes out first.
      await Task {
        try? await connection.releaseName(id)
        await connection.answerCalls()
      }.value
      await connection.close()
      throw error
    }
  }

  private static func serve(
    _ id: String, _ connection: Connection, _ removed: @escaping @Sendable (String) async -> Void,
    _ open: (TagOpening) async throws -> Void
  ) async throws {
    let requests = OpeningRequests(on: connection.loop)
    defer { requests.end() }
    let path = try ObjectPath("/" + String(id.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
    try await connection.export(HandlerInterface.exported(by: requests, removed: removed), at: path)
    guard try await connection.requestName(id).isOwner else {
      throw BusError(name: Self.nameExists, message: "\(id) is owned by another process: the app runs already")
    }
    let states = connection.states()
    let watch = Task {
      for await case .disconnected in states { break }
      requests.end()
    }
    defer { watch.cancel() }
    for await request in requests.all {
      do {
        try await open(request.opening)
        await requests.answer(request, .success(()))
      } catch {
        await requests.answer(request, .failure(Self.answer(to: error)))
      }
    }
    try Task.checkCancellation()
    throw BusError.disconnected("the session bus has gone")
  }

  /// Defined here, because the bus has no name for it.
  private static let nameExists = "org.freedesktop.DBus.Error.NameExists"

  /// The error for the agent, which shows it to the user.
  private static func answer(to error: any Error) -> BusError {
    let error = error as? BusError ?? BusError(name: Names.Errors.failed, message: "\(error)")
    // An error that another program has sent to the app must not look like the app's own. Otherwise the agent would
    // read "there is no such service" as the absence of the app.
    let isOthers = [BusError.Name.prefix, BusError.Name.systemPrefix].contains { error.name.hasPrefix($0) }
    let words = String(String.UnicodeScalarView(error.message.unicodeScalars.prefix(500).filter { $0 != "\0" }))
    return BusError(name: isOthers ? Names.Errors.failed : error.name, message: words)
  }
}
