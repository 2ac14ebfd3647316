package import Bus
import CShims
import EventLoop
import Glibc
import Names

/// A stand-in for `tagrouted` towards a client that wants a reader session or a reader. The test decides the replies.
///
/// One session at a time has the reader. A session ends only if the test or its client ends it, or after its first
/// read.
package actor ReaderSessionStandIn {
  private nonisolated let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let connection: Connection
  /// The requests from clients, in order.
  package nonisolated let requests: AsyncStream<Request>
  private let continuation: AsyncStream<Request>.Continuation

  private var readers = [ReaderSessionStandIn.reader]
  private var refusal: BusError?
  private var lentDevice = ReaderSessionStandIn.device
  private var refusesWriting = false
  private var isActivating = true
  private var isReadingAvailable = true
  private var interfaceVersion = Names.interfaceVersion
  private var card: SessionCard?
  private var number = 0
  private var tagNumber = 0
  private var session: (path: ObjectPath, client: String, options: [String: Value])?
  private var tag: ObjectPath?
  private var message = ""
  private var endReason = ""
  private var watch: DescriptorWatch?
  /// The end of the inhibitor's pipe that the watch has, with its inode.
  private var pipe: (descriptor: Int32, inode: ino_t)?

  /// Connects to the bus, and takes the daemon's name, with one reader.
  package init(on address: String) async throws {
    loop = EventLoop(label: "reader-session-stand-in")
    connection = try await Connection.open(BusAddress(address), on: loop)
    (requests, continuation) = AsyncStream.makeStream()
    try await start()
  }

  private func start() async throws {
    let manager = ExportedInterface(
      Names.Daemon.managerInterface,
      methods: [
        ExportedMethod(
          "StartReaderSession", in: [Argument("options", "a{sv}")], out: [Argument("session", "o")]
        ) { _, call in [.objectPath(try await self.startSession(call))] },
        ExportedMethod("ReadingAvailable", out: [Argument("available", "b")]) { _, _ in
          [.boolean(await self.isReadingAvailable)]
        },
        ExportedMethod(
          "InhibitWithOptions", in: [Argument("who", "s"), Argument("why", "s"), Argument("options", "a{sv}")],
          out: [Argument("inhibitor", "h"), Argument("results", "a{sv}")]
        ) { _, call in try await self.inhibit(call) },
        ExportedMethod(
          "Inhibit", in: [Argument("who", "s"), Argument("why", "s")], out: [Argument("inhibitor", "h")]
        ) { _, call in Array(try await self.inhibit(call).prefix(1)) },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string("1.2.3") },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(await self.interfaceVersion) },
        ExportedProperty("Readers", "ao", emits: .changed) { _ in .objectPaths(await self.readers) },
      ])
    try await connection.export([manager], at: ObjectPath(Names.Daemon.path), objectManager: true)
    try await connection.export([Self.readerInterface(Self.device)], at: Self.reader)
    try await connection.standIn(for: Names.Daemon.busName)
  }

  private static func readerInterface(_ device: String) -> ExportedInterface {
    ExportedInterface(
      Names.Daemon.readerInterface,
      properties: [
        ExportedProperty("Name", "s", emits: .changed) { _ in .string("a reader") },
        ExportedProperty("Device", "s", emits: .const) { _ in .string(device) },
        ExportedProperty("Seat", "s", emits: .const) { _ in .string("seat0") },
        ExportedProperty("State", "s", emits: .changed) { _ in .string("scanning") },
        ExportedProperty("StateReason", "s", emits: .changed) { _ in .string("") },
      ])
  }

  /// The initial reader.
  package static let reader: ObjectPath = "/org/tagroute/Tagroute1/readers/1"
  /// The libnfc connection string of that reader.
  package static let device = "pn532_uart:/dev/stand-in"

  /// Leaves the bus, like a daemon that is killed.
  package func leave() async { await connection.crash() }

  // MARK: For tests

  /// Refuses further sessions and inhibitors with this error; nil accepts them.
  package func refuse(_ error: BusError?) { refusal = error }

  /// Lends a reader with this device string from now on.
  package func lend(_ device: String) { lentDevice = device }

  /// Sets the reply to `ReadingAvailable`.
  package func setReadingAvailable(_ isAvailable: Bool) { isReadingAvailable = isAvailable }

  /// Reports interface version 1 from now on, and sends no end of a round.
  package func beOfInterfaceVersion1() { interfaceVersion = 1 }

  /// Refuses further sessions with the access `write`.
  package func refuseWriting() { refusesWriting = true }

  /// Forgets the inhibitor without notice, like a daemon that was restarted.
  package func forgetInhibitor() async {
    // The client may take another inhibitor meanwhile.
    let forgotten = pipe
    watch?.cancel()
    (watch, pipe) = (nil, nil)
    // A cancelled watch closes its descriptor a little later. Until then, the client takes the inhibitor for held.
    guard let forgotten else { return }
    while Self.inode(of: forgotten.descriptor) == forgotten.inode, !Task.isCancelled { await Task.yield() }
  }

  private static func inode(of descriptor: Int32) -> ino_t? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_ino : nil
  }

  /// Replaces all readers by readers with these libnfc connection strings, and announces the change.
  package func have(readers devices: [String]) throws {
    let before = readers
    readers = try devices.indices.map { try ObjectPath("\(Names.Daemon.readersPath)/\($0 + 1)") }
    let added = zip(readers, devices)
    // All at once, so that no caller sees only some of them.
    try connection.assumeIsolated { connection in
      for path in before { connection.unexport(path) }
      for (path, device) in added { try connection.export([Self.readerInterface(device)], at: path) }
    }
  }

  /// Makes further sessions wait for their turn instead of being active at once. Inhibitors get no reply.
  package func letThemWait() { isActivating = false }

  package func activate() async throws {
    isActivating = true
    try await emit("Activated")
    if card != nil { try await detect() }
  }

  /// Places a card on the reader, for the active session and later ones.
  package func place(_ card: SessionCard) async throws {
    self.card = card
    if session != nil, isActivating { try await detect() }
  }

  /// The card with its current contents; nil if there is none.
  package var placed: SessionCard? { card }

  package func remove() async throws {
    card = nil
    guard let tag else { return }
    try await emit("TagRemoved", [.objectPath(tag)])
    await connection.unexport(tag)
    self.tag = nil
  }

  package func end(_ reason: String, _ message: String = "") async throws {
    guard session != nil, endReason.isEmpty else { return }
    endReason = reason
    if let tag { await connection.unexport(tag) }
    tag = nil
    try await emit("Ended", [.string(reason), .string(message)])
  }

  // MARK: For clients

  private func startSession(_ call: IncomingCall) async throws -> ObjectPath {
    let options = call.arguments.first?.asDictionary ?? [:]
    let isRefused = refusesWriting && options["access"] == .string("write")
    let notAuthorized = BusError(name: Names.Errors.notAuthorized, message: "reading only")
    if let error = refusal ?? (isRefused ? notAuthorized : nil) {
      note(.start(options))
      throw error
    }
    if let session { await connection.unexport(session.path) }
    number += 1
    endReason = ""
    message = options["message"]?.asString ?? ""
    let path = try ObjectPath("\(Names.Daemon.readerSessionsPath)/\(number)")
    session = (path, call.sender, options)
    try await connection.export([interface], at: path, for: call.sender)
    note(.start(options))
    // As in the daemon, signals of immediate events may arrive before the reply.
    if isActivating { try await activate() }
    return path
  }

  private var interface: ExportedInterface {
    ExportedInterface(
      Names.Daemon.readerSessionInterface,
      methods: [
        ExportedMethod("Invalidate", in: [Argument("error_message", "s")]) { _, call in
          let text = call.arguments.first?.asString ?? ""
          await self.note(.invalidate(text))
          try await self.end(Names.SessionEnd.invalidated.rawValue, text)
          return []
        },
        ExportedMethod("RestartPolling") { _, _ in
          try await self.restartPolling([:])
          return []
        },
        ExportedMethod("RestartPollingWithOptions", in: [Argument("options", "a{sv}")]) { _, call in
          try await self.restartPolling(call.arguments.first?.asDictionary ?? [:])
          return []
        },
      ],
      properties: [
        ExportedProperty("State", "s", emits: .changed) { _ in .string(await self.state) },
        ExportedProperty("Deadline", "t", emits: .changed) { _ in .uint64(await self.isActivating ? 60_000_000 : 0) },
        ExportedProperty("EndReason", "s", emits: .changed) { _ in .string(await self.endReason) },
        ExportedProperty("Message", "s", emits: .changed) { _ in
          .string(await self.message)
        } set: { value, _ in
          await self.set(message: value.asString ?? "")
        },
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

  private var state: String { endReason.isEmpty ? (isActivating ? "active" : "waiting") : "ended" }

  private func note(_ request: Request) { continuation.yield(request) }

  private func set(message: String) {
    self.message = message
    note(.setMessage(message))
  }

  private func restartPolling(_ options: [String: Value]) async throws {
    note(.restartPolling(options))
    if let tag {
      try await emit("TagRemoved", [.objectPath(tag)])
      await connection.unexport(tag)
      self.tag = nil
    }
    try await emit("PollingRestarted")
    let technologies = options["technologies"]?.asStrings ?? []
    if let card, technologies.isEmpty || technologies.contains(card.technology) { try await detect() }
  }

  private func emit(_ member: String, _ arguments: [Value] = []) async throws {
    guard let session else { return }
    try await connection.emit(
      path: session.path, interface: Names.Daemon.readerSessionInterface, member: member, arguments)
  }

  // MARK: Tags

  private func detect() async throws {
    guard let session, let card else { return }
    tagNumber += 1
    let path = try ObjectPath("\(session.path)/tags/\(tagNumber)")
    try await connection.export([tagInterface(card)], at: path, for: session.client)
    tag = path
    try await emit("TagDetected", [.objectPath(path)])
    guard session.options["first-read"]?.asBool == true, let message = card.message else {
      if interfaceVersion > 1 { try await emit("RoundEnded") }
      return
    }
    try await emit("MessageRead", [.objectPath(path), .bytes(message)])
    try await end(Names.SessionEnd.firstRead.rawValue)
  }

  private func tagInterface(_ card: SessionCard) -> ExportedInterface {
    let given = card.properties.merging(["Technology": .string(card.technology), "UID": .bytes(card.uid)]) { $1 }
    let none: [(String, Signature, Value)] = [
      ("Technology", "s", .string("")), ("UID", "ay", .bytes([])), ("ATQA", "ay", .bytes([])), ("SAK", "y", .byte(0)),
      ("HistoricalBytes", "ay", .bytes([])), ("ApplicationData", "ay", .bytes([])),
      ("ProtocolInfo", "ay", .bytes([])), ("IDm", "ay", .bytes([])),
      ("PMm", "ay", .bytes([])), ("SystemCode", "q", .uint16(0)), ("SelectedApplication", "ay", .bytes([])),
    ]
    func method(_ name: String, in input: [Argument] = [], out output: [Argument] = []) -> ExportedMethod {
      ExportedMethod(name, in: input, out: output) { _, call in try await self.perform(call) }
    }
    return ExportedInterface(
      Names.Daemon.tagInterface,
      methods: [
        method("QueryNDEF", out: [Argument("status", "s"), Argument("capacity", "u")]),
        method("ReadNDEF", out: [Argument("message", "ay")]), method("WriteNDEF", in: [Argument("message", "ay")]),
        method("Lock"),
        method(
          "Transceive", in: [Argument("command", "ay"), Argument("timeout_ms", "u")], out: [Argument("answer", "ay")]),
      ],
      properties: none.map { name, type, value in
        ExportedProperty(name, type, emits: .const) { _ in given[name] ?? value }
      })
  }

  private func perform(_ call: IncomingCall) async throws -> [Value] {
    note(.operation(call.member, call.arguments))
    guard var card, let tag else { throw BusError(name: Names.Errors.tagLost, message: "the tag was removed") }
    if card.isSilent { try await hang() }
    if let failure = card.failure { throw failure }
    for bytes in card.progress { try await emit("Progress", [.objectPath(tag), .uint64(bytes)]) }
    let changes = call.member == "WriteNDEF" || call.member == "Lock"
    guard !changes || session?.options["access"]?.asString == "write" else {
      throw BusError(name: Names.Errors.notAuthorized, message: "the session is for reading")
    }
    guard !changes || card.status != "read-only" else {
      throw BusError(name: Names.Errors.readOnly, message: "the tag is read-only")
    }
    defer { self.card = card }
    switch call.member {
    case "QueryNDEF": return [.string(card.status), .uint32(card.capacity)]
    case "ReadNDEF":
      guard let message = card.message else { throw BusError(name: Names.Errors.empty, message: "the tag is empty") }
      return [.bytes(message)]
    case "WriteNDEF":
      card.message = call.arguments.first?.asBytes
      return []
    case "Lock":
      card.status = "read-only"
      return []
    default: return [.bytes(try card.answer(call.arguments.first?.asBytes ?? []))]
    }
  }

  // MARK: Inhibitors

  private func inhibit(_ call: IncomingCall) async throws -> [Value] {
    let words = call.arguments.prefix(2).map { $0.asString ?? "" } + ["", ""]
    let options = call.arguments.dropFirst(2).first?.asDictionary ?? [:]
    note(.inhibit(who: words[0], why: words[1], options))
    if let refusal { throw refusal }
    if !isActivating { try await hang() }
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    pipe = Self.inode(of: ends[0]).map { (ends[0], $0) }
    watch = try DescriptorWatch(FileDescriptor(owning: ends[0]), on: loop) { @Sendable [weak self] in
      self?.assumeIsolated { $0.inhibitorIsGone() }
    }
    let results: [String: Value] = options["release-reader"]?.asBool == true ? ["device": .string(lentDevice)] : [:]
    return [.unixFD(FileDescriptor(owning: ends[1])), .dictionary(results)]
  }

  private func inhibitorIsGone() {
    watch?.cancel()
    watch = nil
    note(.released)
  }
}

extension ReaderSessionStandIn {
  package enum Request: Sendable, Hashable {
    case start([String: Value])
    case setMessage(String)
    case invalidate(String)
    /// The options are empty for `RestartPolling`.
    case restartPolling([String: Value])
    case operation(String, [Value])
    case inhibit(who: String, why: String, [String: Value])
    /// The client has released the inhibitor.
    case released
  }
}

/// A card for `ReaderSessionStandIn`: its description, its contents, and its answers.
package struct SessionCard: Sendable {
  /// The technology, by the daemon's name for it.
  package var technology = "type-2"
  /// UID, PUPI or IDm.
  package var uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6]
  /// The properties besides those two.
  package var properties: [String: Value] = [:]
  /// `not-supported`, `read-write` or `read-only`.
  package var status = "read-write"
  /// The length of the longest message, in bytes.
  package var capacity: UInt32 = 137
  /// The message on the card; nil if it is empty.
  package var message: [UInt8]?
  /// The error of every operation; nil if operations succeed.
  package var failure: BusError?
  /// Whether operations never end.
  package var isSilent = false
  package var answer: @Sendable ([UInt8]) throws -> [UInt8] = { _ in
    throw BusError(name: Names.Errors.notSupported, message: "this tag takes no commands")
  }
  /// The progress that an operation reports before it is done, in bytes.
  package var progress: [UInt64] = []

  /// An NTAG213. It is empty if the message is nil.
  package init(message: [UInt8]? = nil) {
    self.message = message
    properties = ["ATQA": .bytes([0x00, 0x44]), "SAK": .byte(0)]
  }

  /// A transit card, with the blocks of its history in service 090F of system 0003. It returns at most 12 of them at a
  /// time. The IDm has eight bytes, and each block 16.
  package static func transit(idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8], blocks: [[UInt8]]) -> SessionCard {
    var card = SessionCard()
    card.technology = "type-3"
    card.uid = idm
    card.status = "not-supported"
    card.capacity = 0
    card.properties = ["IDm": .bytes(idm), "PMm": .bytes(Array(repeating: 0xFF, count: 8)), "SystemCode": .uint16(3)]
    card.answer = { command in
      guard command.count >= 9, Array(command[1..<9]) == idm else {
        throw BusError(name: Names.Errors.timedOut, message: "the tag does not answer")
      }
      switch (command[0], Array(command[9...])) {
      case (0x02, [0x01, 0x0F, 0x09]): return [0x03] + idm + [0x01, 0x00, 0x00]
      case (0x02, _): return [0x03] + idm + [0x01, 0xFF, 0xFF]
      case (0x32, [0x01, 0x0F, 0x09]): return [0x33] + idm + [0, 0, 0x41, 0x01, 0x00, 0x00, 0x00, 0x00]
      case (0x3C, [0, 0]): return [0x3D] + idm + [0, 0, 0x00, 0x21, 0x01, 0]
      case (0x3E, [0, 0]): return [0x3F] + idm + [0, 0]
      case (0x06, let body) where body.prefix(3) == [0x01, 0x0F, 0x09] && body.count > 3:
        let elements = Array(body[4...])
        let numbers = stride(from: 1, to: elements.count, by: 2).map { Int(elements[$0]) }
        guard (1...12).contains(numbers.count), numbers.count == Int(body[3]), elements.count == 2 * numbers.count,
          numbers.allSatisfy(blocks.indices.contains)
        else { return [0x07] + idm + [0xFF, 0xA2] }
        return [0x07] + idm + [0, 0, body[3]] + numbers.flatMap { blocks[$0] }
      default: return [0x07] + idm + [0xFF, 0xA6]
      }
    }
    return card
  }
}
