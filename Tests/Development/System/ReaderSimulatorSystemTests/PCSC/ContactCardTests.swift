import TestKit
import Testing

@testable import ReaderSimulatorTests

@testable import ReaderSimulator

/// Programs of others with cards of their own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ContactCardTests {
  @Test func `a card that nobody uses gets no command and one power-up`() async throws {
    let rig = try await CardRig([.pcTwin])
    let card = try await rig.readers.insert(.contact(), into: rig.slot)
    try await rig.client.ask("await present \(await rig.name)")
    #expect(await rig.readers.commands(to: card).isEmpty)
    #expect(await rig.readers.powerUps(of: card) == 1)
    try await rig.client.ask("connect shared \(await rig.name)")
    #expect(try await rig.client.transmit("00a4040007d276000085010100") == "6d00")
    #expect(await rig.readers.commands(to: card) == [Hexadecimal.bytes("00a4040007d276000085010100")])
    await rig.stop()
  }

  @Test func `a slot takes only cards of its kind`() async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    let reader = await readers.addReader(.acr1252U)
    await #expect(throws: SimulatorError.self) { try await readers.insert(.contact(), into: reader.slots[0]) }
    await #expect(throws: SimulatorError.self) {
      try await readers.insert(SimulatedCard(try type2()), into: reader.slots[1])
    }
    await readers.stop()
    _ = directory
  }

  @Test func `gpg shows the OpenPGP card`() async throws {
    let rig = try await CardRig([.pcTwin])
    let card = try await rig.readers.insert(.openPGP(), into: rig.slot)
    try await rig.client.ask("await present \(await rig.name)")
    try rig.directory.write("disable-ccid\n", to: "gnupg/scdaemon.conf", mode: 0o600)
    let home = rig.directory.file("gnupg")
    var environment = rig.environment
    environment["GNUPGHOME"] = home
    let result = try await ChildProcess.run(
      try BuiltProducts.systemProgram("gpg", package: "gpg"), ["--no-permission-warning", "--card-status"],
      environment: environment)
    #expect(result.status == .exited(0), "\(result.log)")
    #expect(result.output.contains("Name of cardholder: Jane Doe"), "\(result.log)")
    #expect(result.output.contains("Gemalto PC Twin Reader 00 00"), "\(result.log)")
    #expect(await rig.readers.commands(to: card).count > 5)
    _ = try await ChildProcess.run(
      try BuiltProducts.systemProgram("gpgconf", package: "gpgconf"), ["--kill", "all"], environment: environment)
    await rig.stop()
  }

  @Test func `OpenSC knows the PIV card and lists its token`() async throws {
    let rig = try await CardRig([.yubiKey])
    try await rig.readers.insert(.piv(), into: rig.slot)
    try await rig.client.ask("await present \(await rig.name)")
    let name = try await ChildProcess.run(
      try BuiltProducts.systemProgram("opensc-tool", package: "opensc"), ["-n"], environment: rig.environment)
    #expect(name.output.contains("Personal Identity Verification Card"), "\(name.log)")
    let tokens = try await ChildProcess.run(
      try BuiltProducts.systemProgram("pkcs11-tool", package: "opensc"), ["--module", "opensc-pkcs11.so", "-L"],
      environment: rig.environment)
    #expect(tokens.output.contains("Yubico YubiKey OTP+FIDO+CCID 00 00"), "\(tokens.log)")
    #expect(tokens.output.contains("token initialized"), "\(tokens.log)")
    await rig.stop()
  }
}
