public import Bus
public import EventLoop
import Names

/// An app that tags, links and the desktop open (`org.tagroute.Handler1`, and `org.freedesktop.Application` of the Desktop Entry
/// Specification, "D-Bus Activation").
///
/// The app's desktop entry says `DBusActivatable=true` and `Implements=org.tagroute.Handler1;`, and the bus starts it where a D-Bus
/// service file says how.
///
///     try await TagHandler.serve("org.example.Menu") { opening in
///       guard opening.tapID != nil else { return try await window.present() }
///       try await window.show(opening.message)
///     }
///
/// Whoever tapped is told that the app has taken the message as soon as the closure has returned, and not before; where it throws, why.
public enum TagHandler {
  /// Answers the desktop until the task is cancelled or the session bus is gone.
  ///
  /// - Parameters:
  ///   - id: the app's id, its desktop entry's name without `.desktop`; the bus name too.
  ///   - address: the bus, by default the session's own.
  ///   - loop: what the connection lives on.
  ///   - open: takes what the app is opened with, one after the other. It returns as soon as the app has it: the user waits. What it
  ///     throws is shown to the user, in the error's own words; they are cut after 500 Unicode scalars. A `BusError` keeps its name,
  ///     but for the standard ones, which are what others have said to the app.
  /// - Throws: `BusError`: the bus cannot be reached or has gone, `NameExists` where the app runs already, `invalidArguments`
  ///   where the id is no bus name; `CancellationError` where the task is cancelled.
  public static func serve(
    _ id: String, on address: BusAddress = .session, loop: EventLoop = EventLoop(label: "tag-handler"),
    _ open: (TagOpening) async throws -> Void
  ) async throws {
    let connection = try await Connection.open(address, on: loop)
    do {
      try await serve(id, connection, open)
    } catch {
      // Not cancelled with us: the answer of what was taken last goes out before it.
      await Task { try? await connection.releaseName(id) }.value
      await connection.close()
      throw error
    }
  }

  private static func serve(
    _ id: String, _ connection: Connection, _ open: (TagOpening) async throws -> Void
  ) async throws {
    let requests = OpeningRequests(on: connection.loop)
    defer { requests.end() }
    let path = try ObjectPath("/" + String(id.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
    try await connection.export(HandlerInterface.exported(by: requests), at: path)
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

  /// A name of our own: the bus has none for it.
  private static let nameExists = "org.freedesktop.DBus.Error.NameExists"

  /// What the agent is told, which shows it.
  private static func answer(to error: any Error) -> BusError {
    let error = error as? BusError ?? BusError(name: Names.Errors.failed, message: "\(error)")
    // What somebody else has said to the app is not what the app says: "there is no such service" would be taken for its own absence.
    let isOthers = [BusError.Name.prefix, BusError.Name.systemPrefix].contains { error.name.hasPrefix($0) }
    let words = String(String.UnicodeScalarView(error.message.unicodeScalars.prefix(500).filter { $0 != "\0" }))
    return BusError(name: isOthers ? Names.Errors.failed : error.name, message: words)
  }
}
