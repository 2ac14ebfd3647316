import EventLoop
import Glibc
import Journal
import Names
import ReaderModels
import TestKit
import Testing

@testable import Daemon
@testable import ReaderProtocol
@testable import ReaderSimulator

/// Runs the real `tagroute-reader-pcsc` on a virtual reader of the real pcscd, and reads its events.
///
/// A wait that takes too long fails with the exchanges of the reader and the log of pcscd.
final class CardReaderRig: ReaderProcessRig {
  private let service: ServiceRig
  let reader: AttachedCardReader
  let slot: CardSlotID
  /// The name in pcscd's list, with its numbers.
  let name: String

  var readers: SimulatedCardReaders { service.readers }
  var pcscd: PrivatePCSCD { service.pcscd }

  /// Starts pcscd with a reader of `model`, and with `others`, and the process for one slot of the first reader. With a
  /// `testbed`, the readers are USB devices that are not plugged in yet. `device` is the name that the process gets; nil
  /// for `name`.
  init(
    _ model: CardReaderModel = .acr1252U, slot index: Int = 0, others: [CardReaderModel] = [],
    testbed: DeviceTestbed? = nil, technologies: [TagType] = TagType.readable, feedback: Bool = false,
    device: String? = nil, starter: String = #function
  ) async throws {
    let service = try await ServiceRig([model] + others, testbed: testbed, starter: starter)
    let (readers, pcscd) = (service.readers, service.pcscd)
    let reader = try #require(await readers.attachedReaders.first)
    let slot = reader.slots[index]
    let name = await readers.name(of: slot)
    (self.service, self.reader, self.slot, self.name) = (service, reader, slot, name)
    super.init(
      ReaderProcess.Configuration(
        program: try BuiltProducts.program(Names.Files.pcscReaderProgram),
        device: Names.PCSC.devicePrefix + (device ?? name),
        environment: ["\(Names.PCSC.socketVariable)=\(pcscd.socket)"]),
      ReaderPolling(technologies: technologies, feedback: feedback),
      Reader(
        place: { try await readers.insert(SimulatedCard($0), into: slot) }, remove: { await readers.remove($0) },
        trace: {
          let exchanges = await readers.exchanges(in: slot).suffix(60).map(\.description).joined(separator: "\n")
          return "exchanges:\n\(exchanges)\npcscd:\n\(pcscd.log().suffix(6000))"
        }, resumeWaiters: { await readers.resumeWaiters() }))
    await process.start()
  }

  static func scanning(
    _ model: CardReaderModel = .acr1252U, starter: String = #function
  ) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.scan(true)
    return rig
  }

  /// The reader is ready, and its process sleeps.
  static func asleep(_ model: CardReaderModel = .acr1252U, starter: String = #function) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.isReady()
    try await rig.isAsleep()
    return rig
  }

  /// A rig that waits for a ready reader and begins a session.
  static func inSession(
    _ model: CardReaderModel = .acr1252U, _ options: TagSessionOptions = TagSessionOptions(number: 1),
    starter: String = #function
  ) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.isReady()
    try await rig.begin(options)
    return rig
  }

  /// The placements of the tags that lie on the reader and were announced or are known.
  var resting: [UInt64] {
    seen.reversed().lazy.compactMap { if case .known(let known) = $0 { known.tags.map(\.number) } else { nil } }.first
      ?? []
  }

  var waits: [String] { seen.compactMap { if case .waiting(let reason) = $0 { reason } else { nil } } }

  var logged: [String] { seen.compactMap { if case .log(_, let line) = $0 { line } else { nil } } }
}

/// Cards, and what reaches them.
extension CardReaderRig {
  @discardableResult func insert(_ tag: SimulatedTag) async throws -> TagID { try await place(tag) }

  @discardableResult func insert(_ card: SimulatedCard) async throws -> TagID {
    try await readers.insert(card, into: slot)
  }

  @discardableResult func remove(_ id: TagID) async -> SimulatedCard? { await readers.remove(id) }

  /// Expects that a scanning process has no more to announce: it sleeps until the next event.
  func announcesNothing(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let before = announced.count
    try await isAsleep()
    // The process confirms another goal after all earlier events. For the cards it makes no difference.
    await configure { $0.interval += .milliseconds(1) }
    try await expect(.scanning(true))
    #expect(announced.count == before, "\(announced.suffix(1))", sourceLocation: sourceLocation)
  }

  func commands(_ id: TagID) async -> [[UInt8]] { await readers.commands(to: id) }

  func powerUps(_ id: TagID) async -> Int { await readers.powerUps(of: id) }

  func add(_ fault: CardFault) async { await readers.add(fault, to: slot) }

  // MARK: Waiting

  func wait(for what: String, _ condition: @escaping SimulatedCardReaders.Condition) async throws {
    try await watched(what) { isLate in
      try await readers.wait { condition($0) || isLate.withLock { $0 } }
    }
  }

  /// Waits until a fault holds an answer back.
  func isHolding() async throws {
    try await wait(for: "a held answer") { [slot] in $0.isHolding(slot) }
  }

  /// Does something that wakes the sleeping process. Waits until the process has handled it, and sleeps again.
  @discardableResult func awaken<T>(by body: () async throws -> T) async throws -> T {
    try await isAsleep()
    let (registrations, registration) = AsyncStream.makeStream(of: Void.self)
    let waking = Task { [process] in
      await process.wait { process in
        registration.yield()
        return !process.isAsleep
      }
    }
    for await _ in registrations { break }
    let result = try await body()
    try await watched("a process that wakes") { _ in await waking.value }
    try await isAsleep()
    return result
  }

  /// Waits for a notice in the log that begins with these words.
  func notices(_ words: String) async throws {
    try await next("a notice: \(words)") { event in
      if case .log(.notice, let line) = event, line.hasPrefix(words) { true } else { nil }
    }
  }

  // MARK: The process

  /// Stops the process while `body` runs, so that another program is the first to use a card.
  func whileSuspended(_ body: () async throws -> Void) async throws {
    try await isAsleep()
    let child = try ForeignProcess(try #require(await process.processID))
    try await child.suspend()
    defer { child.signal(SIGCONT) }
    try await body()
  }

  func killProcess(_ signal: Int32 = SIGKILL) async throws { kill(try #require(await process.processID), signal) }

  // MARK: pcscd

  /// Starts pcscd again, and makes the process look for it at once.
  func restartPCSCD() async throws {
    try await pcscd.restart()
    try await readers.waitUntilOpen(by: pcscd)
    await process.lookForDevice()
  }

  func client(starter: String = #function) async throws -> PCSCClient {
    try await PCSCClient(socket: pcscd.socket, starter: starter)
  }

  /// Waits until no program is connected to the card, which stays as it is. It may have been away for a moment.
  func isFree(_ client: PCSCClient) async throws {
    // pcscd has no event for the end of a connection.
    while let error = try await client.error(of: "connect exclusive \(name)") {
      try Task.checkCancellation()
      guard ["SCARD_E_SHARING_VIOLATION", "SCARD_E_NO_SMARTCARD"].contains(error) else {
        throw await failure("expected a free card, got \(error)")
      }
    }
    try await client.ask("disconnect leave")
  }
}

extension CardReaderRig {
  /// Sends a raw command, given in hexadecimal digits, and returns the answer.
  func transceive(_ command: String, _ tag: SessionTag, timeout: UInt32 = 5000) async throws -> [UInt8] {
    try await transceive(try hex(command), tag, timeout: timeout)
  }

  /// Why a raw command has no answer.
  func refusal(_ command: String, _ tag: SessionTag, timeout: UInt32 = 5000) async throws -> ReaderOperationFailure? {
    try await perform(.transceive(try hex(command), timeout: timeout), tag).failure
  }
}

/// Virtual readers and a pcscd that drives them.
struct ServiceRig {
  /// Holds sockets, configuration and log of pcscd.
  let directory: TemporaryDirectory
  let readers: SimulatedCardReaders
  let pcscd: PrivatePCSCD

  /// With a `testbed`, the readers are USB devices that are not plugged in yet. `isOnDemand`: whether pcscd starts only
  /// when a client connects.
  init(
    _ models: [CardReaderModel], testbed: DeviceTestbed? = nil, isOnDemand: Bool = false, starter: String = #function
  ) async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    atEndOfTest {
      await readers.stop()
      withExtendedLifetime(directory) {}
    }
    for model in models { await readers.addReader(model) }
    var options = PrivatePCSCD.Options()
    options.startsOnDemand = isOnDemand
    let pcscd: PrivatePCSCD
    if let testbed {
      options.environment = testbed.environment
      pcscd = try await readers.startHotplugPCSCD(in: directory.path, options: options)
    } else {
      pcscd = try await readers.startPCSCD(in: directory.path, options: options)
    }
    atEndOfTest {
      await pcscd.kill()
      keepLog(pcscd.log(), of: "pcscd", starter: starter)
    }
    (self.directory, self.readers, self.pcscd) = (directory, readers, pcscd)
  }

  var environment: [String: String] { [Names.PCSC.socketVariable: pcscd.socket] }
}

/// A message that encodes to exactly `size` bytes, at least 8. No piece of it equals the piece before it in a
/// transfer: its payload repeats after a prime number of bytes.
func message(ofSize size: Int) -> [UInt8] {
  let count = size - 7
  let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  return [0xC1, 0x01] + length + [UInt8(ascii: "T")] + (0..<count).map { UInt8($0 % 251) }
}

extension TagKind {
  var type: TagType {
    switch self {
    case .type1: .type1
    case .type2: .type2
    case .type3: .type3
    case .type4A: .type4A
    case .type4B: .type4B
    case .type5: .type5
    case .mifareClassic: .mifareClassic
    }
  }

  private var technology: CardReaderModel.Technology {
    switch self {
    case .type1: .jewel
    case .type2, .type4A, .mifareClassic: .typeA
    case .type3: .felica
    case .type4B: .typeB
    case .type5: .vicinity
    }
  }

  /// Whether a reader of this model finds such a tag.
  func isFound(by model: CardReaderModel) -> Bool { model.technologies.contains(technology) }

  /// Whether the tag can be read on a reader of this model.
  func isReadable(on model: CardReaderModel) -> Bool {
    guard isFound(by: model), let known = ReaderModel.find(vendor: model.vendor, product: model.product) else {
      return false
    }
    return known.types.contains(type) && (self != .mifareClassic || model.hasClassic)
  }
}

extension CardReaderModel {
  /// The models with an antenna.
  static var contactless: [CardReaderModel] { all.filter { $0.slots.first?.kind == .contactless } }
}

/// The bytes of hexadecimal digits, with spaces anywhere.
func hex(_ digits: String) throws -> [UInt8] {
  try #require(HexText.bytes(digits.filter { $0 != " " }), "not hexadecimal: \(digits)")
}
