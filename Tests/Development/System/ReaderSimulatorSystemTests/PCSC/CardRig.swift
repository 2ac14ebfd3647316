import EventLoop
import TestKit

@testable import ReaderSimulator

/// Virtual readers, a pcscd that drives them, and a client of it.
struct CardRig {
  let directory: TemporaryDirectory
  let readers: SimulatedCardReaders
  let daemon: PrivatePCSCD
  let client: PCSCClient

  init(_ models: [CardReaderModel], starter: String = #function) async throws {
    directory = try TemporaryDirectory()
    readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    for model in models { await readers.addReader(model) }
    daemon = try await readers.startPCSCD(in: directory.path)
    client = try await PCSCClient(socket: daemon.socket, starter: starter)
  }

  /// The first slot of the first reader.
  var slot: CardSlotID { CardSlotID(number: 0) }

  /// The name of the first slot.
  var name: String { get async { await readers.name(of: slot) } }

  /// The environment for a program that is a client.
  var environment: [String: String] {
    [
      "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "HOME": directory.path,
      "PCSCLITE_CSOCK_NAME": daemon.socket,
    ]
  }

  /// Inserts a card into the first slot, waits until pcscd reports it, and connects the client.
  @discardableResult
  func insertAndConnect(_ card: SimulatedCard) async throws -> TagID {
    let id = try await readers.insert(card, into: slot)
    try await client.ask("await present \(await name)")
    try await client.ask("connect shared \(await name)")
    return id
  }

  func stop() async {
    await daemon.kill()
    await readers.stop()
  }
}
