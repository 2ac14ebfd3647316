import Glibc
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// Readers that are plugged in and out, with the real udev library and the real pcscd: which of them the daemon uses,
/// and when it connects to pcscd.
@Suite(
  .timeLimit(.minutes(5)), StopsAtEnd(),
  .enabled(
    if: CardMachine.isPossible,
    "this needs root, and udev or a devtmpfs at /dev: the discovery of PC/SC readers is NOT TESTED"))
struct CardDiscoveryTests {
  private static let picc = "pcsc:ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00"

  @Test func `a reader is there while it is plugged in`() async throws {
    let machine = try await CardMachine([.acr1252U])
    #expect(await !machine.pcscd.isRunning)
    let modules = machine.attached[0].slots[1]
    let card = try await machine.readers.insert(.contact(), into: modules)
    for (tag, number) in [(1, 5), (2, 6)] {
      let path = try await machine.plug(0, device: number)
      try await machine.has([Self.picc: "scanning"])
      try await machine.announces(tag, on: 0)
      try await machine.testbed.unplug(path)
      try await machine.has([:])
      await machine.readers.removeAll(from: machine.attached[0].slot)
    }
    // Its slot for modules was never used.
    #expect(await machine.readers.commands(to: card).isEmpty)
    let requests = await machine.readers.exchanges(in: modules)
    #expect(requests.allSatisfy { [.powerUp, .powerDown].contains($0.kind) }, "\(requests)")
  }

  @Test func `a security key beside a contactless reader gets no command`() async throws {
    let machine = try await CardMachine([.yubiKey, .acr1252U])
    let key = machine.attached[0].slot
    let card = try await machine.readers.insert(.piv(), into: key)
    _ = try await machine.plug(0)
    try await machine.settle()
    #expect(await !machine.pcscd.isRunning)
    let path = try await machine.plug(1)
    await machine.pcscd.started()
    let device = "pcsc:ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 01 00"
    try await machine.has([device: "scanning"])
    for number in 1...5 { try await machine.announces(number, on: 1) }
    #expect(await machine.readers.commands(to: card).isEmpty)
    let requests = await machine.readers.exchanges(in: key)
    #expect(requests.allSatisfy { [.powerUp, .powerDown].contains($0.kind) }, "\(requests)")

    // Without the reader, the daemon leaves pcscd, which may then end (--auto-exit).
    let processes = try machine.daemon.children().filter {
      $0.commandLine.first?.hasSuffix("tagroute-reader-pcsc") == true
    }
    #expect(processes.count == 2)
    try await machine.testbed.unplug(path)
    try await machine.has([:])
    for process in processes { try await process.end() }
  }

  @Test func `a pcscd that ends and starts is noticed`() async throws {
    let machine = try await CardMachine([.acr1252U], isOnDemand: false)
    _ = try await machine.plug(0)
    try await machine.has([Self.picc: "scanning"])
    try await machine.announces(1, on: 0)
    await machine.pcscd.stop()
    // The process of the reader has said before that pcscd has ended.
    let status = try await machine.desktop.status {
      $0.readers.first?.state == "failed" && $0.readers[0].stateReason.contains("pcscd does not run")
    }
    #expect(status.readers.map(\.device) == [Self.picc])
    #expect(status.readers.first?.stateReason.contains("sudo systemctl enable --now pcscd.socket") == true)
    try await machine.pcscd.restart()
    try await machine.has([Self.picc: "scanning"])
    // The resting tag is not announced a second time. While the counter is 0, libpcsclite does not see that a card was
    // swapped if it looks only afterwards.
    let seen = await machine.daemon.log().count
    await machine.readers.removeAll(from: machine.attached[0].slot)
    try await machine.daemon.line(containing: Desktop.tagAway, after: seen)
    try await machine.announces(2, on: 0)
  }
}
