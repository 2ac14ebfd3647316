import Bus
import EventLoop
import Glibc
import Names
import ReaderProtocol

extension DaemonService {
  func sessionInterface(_ session: SessionRecord) -> ExportedInterface {
    let id = session.id
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed,
      _ read: @escaping @Sendable (SessionRecord?) -> Value
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak self] _ in read(await self?.state.sessions[id]) }
    }
    let path = session.readerPath
    return ExportedInterface(
      Names.Daemon.readerSessionInterface,
      methods: [
        ExportedMethod("Invalidate", in: [Argument("error_message", "s")]) { [weak self] _, call in
          try await self?.invalidate(id, call) ?? []
        },
        ExportedMethod("RestartPolling") { [weak self] _, _ in try await self?.restartPolling(id, [:]) ?? [] },
        ExportedMethod("RestartPollingWithOptions", in: [Argument("options", "a{sv}")]) { [weak self] _, call in
          guard let options = call.arguments.first?.asDictionary else {
            throw BusError.invalidArguments("options are missing")
          }
          return try await self?.restartPolling(id, options) ?? []
        },
      ],
      properties: [
        property("State", "s") { .string($0?.stateName ?? "ended") },
        ExportedProperty("Message", "s") { [weak self] _ in
          .string(await self?.state.sessions[id]?.message ?? "")
        } set: { [weak self] value, _ in
          try await self?.setMessage(value.asString ?? "", of: id)
        },
        property("Reader", "o", emits: .const) { _ in .objectPath(path) },
        property("Deadline", "t") { .uint64($0?.deadline.map(Self.microseconds) ?? 0) },
        property("EndReason", "s") { .string($0?.end?.rawValue ?? "") },
      ],
      signals: [
        ExportedSignal("Activated"), ExportedSignal("TagDetected", [Argument("tag", "o")]),
        ExportedSignal("TagRemoved", [Argument("tag", "o")]), ExportedSignal("RoundEnded"),
        ExportedSignal("PollingRestarted"),
        ExportedSignal("MessageRead", [Argument("tag", "o"), Argument("message", "ay")]),
        ExportedSignal("Progress", [Argument("tag", "o"), Argument("bytes", "t")]),
        ExportedSignal("Ended", [Argument("reason", "s"), Argument("message", "s")]),
      ])
  }

  /// Converts to microseconds of CLOCK_MONOTONIC. Neither clock advances during suspend.
  private static func microseconds(_ instant: SessionRecord.Instant) -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    let left = SuspendingClock.now.duration(to: instant) / .microseconds(1)
    return UInt64(clamping: now + Int64(left))
  }

  private func invalidate(_ id: UInt64, _ call: IncomingCall) throws -> [Value] {
    let message = call.arguments.first?.asString ?? ""
    try ReaderSessionRequest.check(message, "error_message")
    handle(.invalidate(id, message: message))
    return []
  }

  private func restartPolling(_ id: UInt64, _ options: [String: Value]) throws -> [Value] {
    if let session = state.sessions[id], let reader = state.readers[session.reader] {
      let technologies = try session.request.limited(by: options).technologies
      guard reader.canRead(some: technologies) else { throw BusError.cannotRead(technologies) }
    }
    switch try state.sessions[id]?.planRestart(options, at: .now) {
    case nil: break
    case .zero?: restartNow(id)
    case let delay?: loop.schedule(after: delay) { [weak self] in self?.assumeIsolated { $0.restartNow(id) } }
    }
    return []
  }

  private func restartNow(_ id: UInt64) {
    guard let session = state.sessions[id], session.isActive, let reader = state.readers[session.reader] else { return }
    let options = session.options.limited(to: reader)
    units[session.reader]?.process.assumeIsolated { $0.restartPolling(options) }
  }

  private func setMessage(_ message: String, of id: UInt64) throws {
    try ReaderSessionRequest.check(message, "Message")
    guard var session = state.sessions[id], session.isOpen else { throw BusError.notPossible("the session is over") }
    guard session.message != message else { return }
    session.message = message
    state.sessions[id] = session
    changed(session, ["Message"])
    update(session)
  }

  func tagInterface(_ session: SessionRecord, _ number: UInt64, _ tag: SessionRecord.Tag) -> ExportedInterface {
    let id = session.id
    let known = tag.tag
    let selected = known.initialApplication.flatMap { index in
      session.request.applications.indices.contains(index) ? session.request.applications[index] : nil
    }
    func property(_ name: String, _ signature: Signature, _ value: Value) -> ExportedProperty {
      ExportedProperty(name, signature, emits: .const) { _ in value }
    }
    func method(
      _ name: String, in input: [Argument] = [], out output: [Argument] = [],
      _ body: @escaping @Sendable (isolated DaemonService, IncomingCall) async throws -> [Value]
    ) -> ExportedMethod {
      ExportedMethod(name, in: input, out: output) { [weak self] _, call in
        guard let self else { throw BusError.disconnected() }
        return try await body(self, call)
      }
    }
    return ExportedInterface(
      Names.Daemon.tagInterface,
      methods: [
        method("QueryNDEF", out: [Argument("status", "s"), Argument("capacity", "u")]) { service, _ in
          try await service.queryNDEF(id, number)
        },
        method("ReadNDEF", out: [Argument("message", "ay")]) { service, _ in try await service.readNDEF(id, number) },
        method("WriteNDEF", in: [Argument("message", "ay")]) { service, call in
          try await service.writeNDEF(id, number, call.arguments.first?.asBytes ?? [])
        },
        method("Lock") { service, _ in try await service.lock(id, number) },
        method(
          "Transceive", in: [Argument("command", "ay"), Argument("timeout_ms", "u")], out: [Argument("answer", "ay")]
        ) { service, call in
          try await service.transceive(
            id, number, call.arguments.first?.asBytes ?? [], timeout: call.arguments.last?.asUInt32 ?? 0)
        },
      ],
      properties: [
        property("Technology", "s", .string(known.placement.technology.rawValue)),
        property("UID", "ay", .bytes(known.placement.uid)),
        property("ATQA", "ay", .bytes(known.atqa)),
        property("SAK", "y", .byte(known.sak ?? 0)),
        property("HistoricalBytes", "ay", .bytes(known.historicalBytes)),
        property("ApplicationData", "ay", .bytes(known.applicationData)),
        property("ProtocolInfo", "ay", .bytes(known.protocolInfo)),
        property("IDm", "ay", .bytes(known.idm)),
        property("PMm", "ay", .bytes(known.pmm)),
        property("SystemCode", "q", .uint16(known.systemCode ?? 0)),
        property("SelectedApplication", "ay", .bytes(selected ?? [])),
      ],
      limits: .tagMessage)
  }
}
