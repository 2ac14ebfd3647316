import Bus
import Dispatch
import EventLoop
import TagrouteClient

/// Carries out one session on the bus. What it decides is in `SessionState`.
///
/// Three tasks serve a session. One reads the daemon's events, one carries out the program's requests, and one its
/// calls to tags, each in order. Callbacks are enqueued while the state is locked, so nothing can follow the last one.
final class SessionRun: Sendable {
  /// The thread of all connections of this process.
  static let loop = EventLoop(label: "core-nfc")

  private enum Request: Sendable {
    case showMessage
    case restartPolling(ReaderSessionOptions)
    case invalidate(errorMessage: String?)
  }

  private let state = Locked(SessionState<ReaderTag>())
  /// The queue of every callback.
  let queue: DispatchQueue
  private let requests: AsyncStream<Request>
  private let calls: AsyncStream<@Sendable () async -> Void>
  private let request: AsyncStream<Request>.Continuation
  private let call: AsyncStream<@Sendable () async -> Void>.Continuation
  /// One element after the latest removal of a tag, for tests. The stream is never finished.
  let removals: AsyncStream<Void>
  let removal: AsyncStream<Void>.Continuation
  private let start = Locked<Task<(ReaderSession, Connection), any Error>?>(nil)

  init(queue: DispatchQueue?) {
    self.queue = queue ?? DispatchQueue(label: "org.tagroute.core-nfc.session")
    (requests, request) = AsyncStream.makeStream()
    (calls, call) = AsyncStream.makeStream()
    (removals, removal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Runs on the session's queue, and touches the session only there.
  private func deliver(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  // MARK: What the program asks for

  var isReady: Bool { state.withLock { $0.phase == .active } }

  var alertMessage: String {
    get { state.withLock { $0.alertMessage } }
    set {
      if state.withLock({ $0.setMessage(newValue) }) { request.yield(.showMessage) }
    }
  }

  func invalidate(errorMessage: String? = nil, as code: NFCReaderError.Code? = nil) {
    let isRunning = state.withLock { $0.invalidate(code ?? .readerSessionInvalidationErrorUserCanceled) }
    guard isRunning else { return }
    request.yield(.invalidate(errorMessage: errorMessage.map(SheetText.plain)))
    start.withLock { $0?.cancel() }
  }

  func restartPolling(_ options: ReaderSessionOptions) {
    guard state.withLock({ $0.restartPolling() }) else { return }
    request.yield(.restartPolling(options))
  }

  func isAvailable(_ tag: ReaderTag) -> Bool { state.withLock { $0.isAvailable(tag) } }

  var connectedTag: ReaderTag? { state.withLock { $0.connectedTag } }

  /// Returns whether the tag is connected.
  func connect(_ tag: ReaderTag, _ completion: @escaping Handler<>) -> Bool {
    state.withLock { state in
      let code = state.connect(tag)
      deliver { completion(code.map { NFCReaderError($0) }) }
      return code == nil
    }
  }

  /// Calls a tag, after the calls before. `completion` is called exactly once.
  func perform<Answer: Sendable>(
    _ kind: NFCReaderError.Operation, on tag: ReaderTag, needsConnection: Bool = true,
    _ completion: @escaping ResultHandler<Answer>,
    _ operation: @escaping @Sendable (ReaderTag) async throws -> Answer
  ) {
    let fail: SessionState<ReaderTag>.Failing = { completion(.failure(NFCReaderError($0))) }
    state.withLock { state in
      switch state.admit(tag, needsConnection: needsConnection, fail) {
      case .failure(let error): deliver { completion(.failure(error)) }
      case .success(let number):
        call.yield { await self.carryOut(number, kind, tag, completion, operation) }
      }
    }
  }

  private func carryOut<Answer: Sendable>(
    _ number: UInt64, _ kind: NFCReaderError.Operation, _ tag: ReaderTag,
    _ completion: @escaping ResultHandler<Answer>,
    _ operation: @Sendable (ReaderTag) async throws -> Answer
  ) async {
    let result: Result<Answer, any Error>
    do {
      result = .success(try await operation(tag))
    } catch let error as BusError {
      result = .failure(NFCReaderError(error, in: kind))
    } catch {
      result = .failure(error)
    }
    state.withLock { state in
      if state.settle(number) { deliver { completion(result) } }
    }
  }

  /// The program has read the last tags, and polling goes on.
  func resume(_ session: NFCReaderSession) {
    let session = OnQueue(session)
    state.withLock { report($0.resume(), to: session) }
  }

  /// The program does not get these tags of the last round.
  func hide(_ tags: [ReaderTag]) { state.withLock { $0.hide(tags) } }

  // MARK: The session on the bus

  /// Starts the session, if it was not started before. From now on until its end, the run keeps it alive.
  func begin(_ session: NFCReaderSession, _ options: Result<ReaderSessionOptions, NFCReaderError>, on bus: BusAddress) {
    guard state.withLock({ $0.begin() }) else { return }
    let session = OnQueue(session)
    Task {
      let code = await startAndFollow(session, options, bus)
      request.finish()
      call.finish()
      end(session, code)
    }
  }

  private func end(_ session: OnQueue<NFCReaderSession>, _ code: NFCReaderError.Code) {
    state.withLock { state in
      for fail in state.end() { deliver { fail(.readerTransceiveErrorSessionInvalidated) } }
      deliver { session.value.didInvalidate(NFCReaderError(code)) }
    }
  }

  /// Returns the code of the end.
  private func startAndFollow(
    _ session: OnQueue<NFCReaderSession>, _ options: Result<ReaderSessionOptions, NFCReaderError>, _ bus: BusAddress
  ) async -> NFCReaderError.Code {
    do {
      var options = try options.get()
      options.message = SheetText.plain(state.withLock { $0.messageToSend() })
      let (running, connection) = try await started(options, bus)
      let code = await follow(running, session)
      await connection.close()
      return code
    } catch let error as NFCReaderError {
      return error.code
    } catch let error as BusError {
      return state.withLock { $0.phase == .ending ? $0.ownEnd : NFCReaderError(error, in: .start).code }
    } catch {
      return .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
    }
  }

  private func follow(_ running: ReaderSession, _ session: OnQueue<NFCReaderSession>) async -> NFCReaderError.Code {
    let tasks = [
      Task { for await request in requests { await carryOut(request, running) } },
      Task { for await call in calls { await call() } },
    ]
    defer { for task in tasks { task.cancel() } }
    for await event in running.events {
      if case .ended(let end) = event {
        return state.withLock { NFCReaderError.Code(end.reason, ownEnd: $0.ownEnd) }
      }
      handle(event, session)
    }
    return .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
  }

  /// Starts the session on a connection of its own, in a task that `invalidate` cancels. The daemon ends the session of
  /// a connection that is closed, so a start that is cancelled leaves none.
  private func started(_ options: ReaderSessionOptions, _ bus: BusAddress) async throws -> (ReaderSession, Connection) {
    let task = Task {
      let connection = try await Connection.open(bus, on: Self.loop)
      do {
        return (try await Self.start(options, connection), connection)
      } catch {
        await connection.close()
        throw error
      }
    }
    start.withLock { $0 = task }
    defer { start.withLock { $0 = nil } }
    if state.withLock({ $0.phase == .ending }) { task.cancel() }
    return try await task.value
  }

  /// Asks for all rights, since the program does not say beforehand which commands it will send. A program that may only
  /// read gets a session that reads.
  private static func start(
    _ options: ReaderSessionOptions, _ connection: Connection
  ) async throws(BusError) -> ReaderSession {
    var options = options
    options.access = .write
    do {
      return try await ReaderSession.start(options, on: connection)
    } catch {
      guard TagFailure(error) == .notAuthorized else { throw error }
    }
    options.access = .read
    return try await ReaderSession.start(options, on: connection)
  }

  private func carryOut(_ request: Request, _ session: ReaderSession) async {
    // An error means that the session is over, or that the daemon has gone. The events say so.
    switch request {
    case .showMessage: try? await session.setMessage(SheetText.plain(state.withLock { $0.messageToSend() }))
    case .invalidate(let errorMessage): try? await session.invalidate(errorMessage: errorMessage)
    case .restartPolling(let options):
      await restartPolling(session, options)
    }
  }

  /// Looks for everything that the session has declared if it has not declared what the program asks for now.
  private func restartPolling(_ session: ReaderSession, _ options: ReaderSessionOptions) async {
    do {
      try await session.restartPolling(
        technologies: options.technologies, applicationIdentifiers: options.applicationIdentifiers,
        systemCodes: options.systemCodes)
    } catch {
      try? await session.restartPolling()
    }
  }

  private func handle(_ event: ReaderSessionEvent, _ session: OnQueue<NFCReaderSession>) {
    state.withLock { state in
      switch event {
      case .activated:
        if state.activate() { deliver { session.value.didBecomeActive() } }
      case .tagDetected(let tag): state.detect(tag)
      case .tagRemoved(let tag):
        state.remove(tag)
        removal.yield()
      case .pollingRestarted: state.restarted()
      case .roundEnded: report(state.completeRound(), to: session)
      case .messageRead, .progress, .ended: break
      }
    }
  }

  private func report(_ tags: [ReaderTag], to session: OnQueue<NFCReaderSession>) {
    guard !tags.isEmpty else { return }
    deliver { session.value.didDetect(tags) }
  }
}

/// A value that is not `Sendable`, and that is touched on the session's queue alone.
struct OnQueue<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// Texts of a program on the sheet that the user sees.
enum SheetText {
  /// The text as the daemon takes it.
  ///
  /// Line breaks become U+000A. Other control and format characters are left out, which the daemon refuses. The text
  /// is cut at a character, so that it has at most 256 bytes.
  static func plain(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var former: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control where scalar == "\n" && former == "\r": break
      case .control where scalar == "\n" || scalar == "\r", .lineSeparator, .paragraphSeparator: scalars.append("\n")
      case .control, .format: break
      default: scalars.append(scalar)
      }
      former = scalar
    }
    var bytes = 0
    return String(
      String(scalars).prefix { character in
        bytes += character.utf8.count
        return bytes <= limit
      })
  }

  private static let limit = 256
}
