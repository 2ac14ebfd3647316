import EventLoop
import Glibc
import Journal
import Names
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
  /// The slot that the process uses.
  let slot: CardSlotID
  /// The name by which pcscd lists the slot, with its numbers.
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

  /// A rig with a scanning process.
  static func scanning(
    _ model: CardReaderModel = .acr1252U, starter: String = #function
  ) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.scan(true)
    return rig
  }

  /// A rig with a ready reader whose process sleeps.
  static func asleep(_ model: CardReaderModel = .acr1252U, starter: String = #function) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.isReady()
    try await rig.isAsleep()
    return rig
  }

  /// A rig that waits for a ready reader and begins a session.
  static func inSession(
    _ model: CardReaderModel = .acr1252U, _ options: ReaderSessionOptions = ReaderSessionOptions(number: 1),
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

  /// The reasons for waiting that were reported so far.
  var waits: [String] { seen.compactMap { if case .waiting(let reason) = $0 { reason } else { nil } } }

  /// The lines of the log so far.
  var logged: [String] { seen.compactMap { if case .log(_, let line) = $0 { line } else { nil } } }
}
