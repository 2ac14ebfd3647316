import Bus
import EventLoop
import NDEF
import Names

/// `org.tagroute.Handler1` and `org.freedesktop.Application`, as an app exports them.
enum HandlerInterface {
  /// The longest link that a tag may have, in bytes.
  private static let maximumURI = 8192
  /// The most files and links to open at once.
  private static let maximumURIs = 64

  static func exported(
    by requests: OpeningRequests, removed: @escaping @Sendable (_ tapID: String) async -> Void
  ) -> [ExportedInterface] {
    let platformData = Argument("platform_data", "a{sv}")
    let handleTag = ExportedMethod(
      Names.Handler.handleTag, in: [Argument("uri", "s"), Argument("message", "ay"), platformData]
    ) { _, call in
      try await requests.take(try tagged(call.arguments))
      return []
    }
    let tagRemoved = ExportedMethod(
      Names.Handler.tagRemoved, in: [Argument("tap_id", "s"), Argument("tag", "a{sv}")]
    ) { _, call in
      guard let id = call.arguments.first?.asString, Names.Handler.isTapID(id) else {
        throw BusError.invalidArguments("TagRemoved takes the id of a tap, a UUID, and a dictionary")
      }
      await removed(id)
      return []
    }
    let activate = ExportedMethod("Activate", in: [platformData]) { _, call in
      try await requests.take(TagOpening(activationToken: token(call.arguments.first)))
      return []
    }
    let open = ExportedMethod(Names.Handler.open, in: [Argument("uris", "as"), platformData]) { _, call in
      let token = token(call.arguments.last)
      let uris = try uris(call.arguments)
      // Without links, the app has to show itself.
      guard !uris.isEmpty else {
        try await requests.take(TagOpening(activationToken: token))
        return []
      }
      for uri in uris { try await requests.take(TagOpening(uri: uri, activationToken: token)) }
      return []
    }
    let activateAction = ExportedMethod(
      "ActivateAction", in: [Argument("action_name", "s"), Argument("parameter", "av"), platformData]
    ) { _, _ in throw BusError.invalidArguments("the app has no actions") }
    return [
      ExportedInterface(Names.Handler.interface, methods: [handleTag, tagRemoved], limits: .tagMessage),
      ExportedInterface(
        Names.Handler.applicationInterface, methods: [activate, open, activateAction], limits: .tagMessage),
    ]
  }

  private static func tagged(_ arguments: [Value]) throws(BusError) -> TagOpening {
    guard arguments.count == 3, let uri = arguments[0].asString, let bytes = arguments[1].asBytes else {
      throw .invalidArguments("HandleTag takes a link, a message and a dictionary")
    }
    guard uri.utf8.count <= maximumURI else { throw .invalidArguments("the link is longer than 8 KiB") }
    let data = arguments[2]
    do throws(NDEFError) {
      return TagOpening(
        uri: uri.isEmpty ? nil : uri, message: try NDEFMessage(decoding: bytes), activationToken: token(data),
        tapID: text(Names.Handler.tapIDKey, of: data, where: Names.Handler.isTapID), uid: uid(data),
        technology: text(Names.Handler.technologyKey, of: data, where: Names.Handler.isTechnology) ?? "",
        reader: text(Names.Handler.readerKey, of: data, where: Names.Handler.isReader) ?? "",
        time: data.asDictionary?[Names.Handler.timeKey]?.asUInt64)
    } catch {
      throw .invalidArguments("the message is not NDEF: \(error)")
    }
  }

  private static func uris(_ arguments: [Value]) throws(BusError) -> [String] {
    let uris = arguments.first?.asStrings ?? []
    guard uris.count <= maximumURIs, uris.allSatisfy({ $0.utf8.count <= maximumURI }) else {
      throw .invalidArguments("there are more than \(maximumURIs) links, or one is longer than 8 KiB")
    }
    return uris
  }

  /// The activation token, or the startup id, which is its older name.
  private static func token(_ platformData: Value?) -> String? {
    text(Names.Handler.activationTokenKey, of: platformData, where: Names.Handler.isActivationToken)
      ?? text(Names.Handler.startupIDKey, of: platformData, where: Names.Handler.isActivationToken)
  }

  private static func uid(_ platformData: Value) -> [UInt8] {
    let uid = platformData.asDictionary?[Names.Handler.uidKey]?.asBytes ?? []
    return uid.count <= UIDText.lengths.upperBound ? uid : []
  }

  /// A text in the platform data. The caller may be any program of the session, so an invalid text is treated as
  /// missing.
  private static func text(_ key: String, of platformData: Value?, where isSound: (String) -> Bool) -> String? {
    platformData?.asDictionary?[key]?.asString.flatMap { isSound($0) ? $0 : nil }
  }
}

/// The openings that the app has not taken yet, in the order of their arrival.
final class OpeningRequests: Sendable {
  /// An opening with a waiting caller.
  struct Request: Sendable {
    let number: UInt64
    let opening: TagOpening
  }

  /// The most openings that may wait, because each may hold a message of 1 MiB.
  private static let limit = 16

  /// The openings. The stream ends after ``end()``, or when the task that reads it ends.
  let all: AsyncStream<Request>
  private let request: AsyncStream<Request>.Continuation
  private let waiting: Waiting

  init(on loop: EventLoop) {
    (all, request) = AsyncStream.makeStream(of: Request.self)
    waiting = Waiting(on: loop)
  }

  /// Waits until the app has taken an opening, after all earlier ones. Throws the app's error, or an error if the app
  /// takes no more openings.
  func take(_ opening: TagOpening) async throws(BusError) {
    try await waiting.take(opening, by: request).get()
  }

  func answer(_ request: Request, _ result: Result<Void, BusError>) async {
    await waiting.answer(request.number, result)
  }

  /// Takes no more openings, and fails all waiting callers.
  func end() {
    request.finish()
    Task { await waiting.end() }
  }

  private actor Waiting {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private nonisolated let loop: EventLoop
    private var callers: [UInt64: CheckedContinuation<Result<Void, BusError>, Never>] = [:]
    private var lastNumber: UInt64 = 0
    private var hasEnded = false

    init(on loop: EventLoop) { self.loop = loop }

    func take(_ opening: TagOpening, by request: AsyncStream<Request>.Continuation) async -> Result<Void, BusError> {
      guard !hasEnded else { return .failure(.failed("the app is about to end")) }
      guard callers.count < OpeningRequests.limit else {
        return .failure(BusError(name: BusError.Name.limitsExceeded, message: "the app has not taken what came before"))
      }
      lastNumber += 1
      let number = lastNumber
      return await withCheckedContinuation { caller in
        callers[number] = caller
        request.yield(Request(number: number, opening: opening))
      }
    }

    func answer(_ number: UInt64, _ result: Result<Void, BusError>) {
      callers.removeValue(forKey: number)?.resume(returning: result)
    }

    func end() {
      hasEnded = true
      for caller in callers.values { caller.resume(returning: .failure(.failed("the app has ended"))) }
      callers = [:]
    }
  }
}
