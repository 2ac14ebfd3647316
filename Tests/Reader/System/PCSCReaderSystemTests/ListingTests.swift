import EventLoop
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon
@testable import ReaderSimulator

extension ServiceRig {
  fileprivate func run(
    _ arguments: String..., starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, output: String, log: [String]) {
    try await ChildProcess.run(
      try BuiltProducts.program(Names.Files.pcscReaderProgram), arguments, environment: environment, starter: starter)
  }

  /// Asks for the readers, as the daemon does.
  fileprivate func watch() async throws -> Watch {
    let watch = PCSCWatch(
      program: try BuiltProducts.program(Names.Files.pcscReaderProgram),
      environment: environment.map { "\($0.key)=\($0.value)" }, on: EventLoop(label: "daemon"))
    atEndOfTest { await watch.stop() }
    await watch.start()
    return Watch(watch)
  }
}

/// The lists that the daemon gets.
private final class Watch {
  private let watch: PCSCWatch
  private var events: AsyncStream<PCSCWatch.Event>.Iterator
  private let timers = EventLoop(label: "watch")

  init(_ watch: PCSCWatch) {
    self.watch = watch
    events = watch.events.makeAsyncIterator()
  }

  /// The next list or problem; nil if none comes.
  func next() async -> PCSCWatch.Event? {
    let watchdog = timers.schedule(after: ChildProcess.timeout) { [watch] in Task { await watch.stop() } }
    defer { watchdog.cancel() }
    return await events.next(isolation: #isolation)
  }

  /// The next list of this many readers.
  func list(_ count: Int) async throws -> [PCSCReader] {
    var seen: [PCSCWatch.Event] = []
    while let event = await next() {
      seen.append(event)
      if case .readers(let readers) = event, readers.count == count { return readers }
    }
    throw RigError("expected a list of \(count) readers, got \(seen)")
  }
}

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ListingTests {
  private static let isPossible = DeviceTestbed.isPossible && geteuid() == 0
  private static let obstacle: Comment = "needs root, and a running udev or a devtmpfs at /dev"

  /// Readers of all kinds, and what their drivers tell: only that of a reader with an antenna is asked.
  private static let models: [CardReaderModel] = [.acr1252U, .pcTwin, .omnikey5427, .yubiKey]
  private static let expected = [
    PCSCReader(
      name: "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00",
      identity: .init(vendor: 0x072F, product: 0x223B), place: .init(bus: 1, number: 10)),
    PCSCReader(name: "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00"),
    PCSCReader(name: "Gemalto PC Twin Reader 02 00"),
    PCSCReader(
      name: "HID OMNIKEY 5427 CK 03 00", identity: .init(vendor: 0x076B, product: 0x5427),
      place: .init(bus: 1, number: 12)),
    PCSCReader(name: "Yubico YubiKey OTP+FIDO+CCID 04 00"),
  ]

  @Test func `the program prints the name of each reader`() async throws {
    let rig = try await ServiceRig(Self.models)
    let ended = try await rig.run("--list")
    #expect(ended.status == .exited(0))
    #expect(ended.output.split(separator: "\n").map(String.init) == Self.expected.map(\.name))
  }

  @Test func `the daemon gets the list, with the numbers of those that have an antenna, and each change of it`()
    async throws
  {
    let rig = try await ServiceRig(Self.models)
    let watch = try await rig.watch()
    #expect(try await watch.list(5) == Self.expected)
    await rig.pcscd.kill()
    guard case .problem(let problem)? = await watch.next() else { throw RigError("expected a problem") }
    #expect(problem.kind == .noService)
    #expect(problem.text.hasPrefix("pcscd does not run; start it: "))
    try await rig.pcscd.restart()
    #expect(try await watch.list(5) == Self.expected)
  }

  /// pcscd starts because a client connects, as with its socket unit.
  @Test func `pcscd is started by the list`() async throws {
    let rig = try await ServiceRig([.acr122U], isOnDemand: true)
    #expect(await !rig.pcscd.isRunning)
    let ended = try await rig.run("--list")
    #expect(ended.output == "ACS ACR122U PICC Interface 00 00\n", "\(ended.log)")
  }

  @Test func `a system without a reader has an empty list`() async throws {
    let rig = try await ServiceRig([])
    let ended = try await rig.run("--list")
    #expect(ended.status == .exited(0) && ended.output.isEmpty)
    #expect(try await rig.watch().list(0) == [])
  }

  @Test func `without pcscd the list is a problem with its remedy`() async throws {
    let rig = try await ServiceRig([.acr122U])
    await rig.pcscd.kill()
    let ended = try await rig.run("--list")
    #expect(ended.status == .exited(Names.ExitCode.failure))
    #expect(ended.output.isEmpty)
    #expect(ended.log.contains { $0.contains("pcscd does not run; start it: ") }, "\(ended.log)")
  }

  @Test func `sixteen readers are listed`() async throws {
    let rig = try await ServiceRig([CardReaderModel](repeating: .acr122U, count: 16))
    let readers = try await rig.watch().list(16)
    #expect(Set(readers.map(\.name)).count == 16)
    #expect(readers.allSatisfy { $0.identity == .init(vendor: 0x072F, product: 0x2200) })
  }

  @Test(.enabled(if: isPossible, obstacle)) func `readers come and go`() async throws {
    let testbed = try await DeviceTestbed()
    let rig = try await ServiceRig([.acr1252U, .pcTwin], testbed: testbed)
    let watch = try await rig.watch()
    #expect(try await watch.list(0) == [])
    for number in 1...3 {
      let models: [CardReaderModel] = [.acr1252U, .pcTwin]
      var paths: [String] = []
      for (index, model) in models.enumerated() {
        paths.append(
          try await testbed.plugCardReader(
            "1-\(2 * number + index)", model.usbIdentity, interfaces: model.slots.map(\.interfaceName),
            number: 2 * number + index))
      }
      let names = try await watch.list(3).map { Names.PCSC.withoutNumbers($0.name) }
      #expect(
        Set(names) == [
          "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC]", "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM]",
          "Gemalto PC Twin Reader",
        ])
      for path in paths { try await testbed.unplug(path) }
      #expect(try await watch.list(0) == [])
    }
  }

  // MARK: Neighbours

  /// A contact card, a card in the module's slot, and a tag.
  @Test func `no list touches a card, or asks the driver of a reader without an antenna`() async throws {
    let rig = try await ServiceRig(Self.models)
    let slots = await rig.readers.attachedReaders.flatMap(\.slots)
    let client = try await PCSCClient(socket: rig.pcscd.socket)
    let tag = SimulatedCard(try .type2(.ntag213, message: try uri("https://example.com")))
    let cards: [SimulatedCard] = [tag, .contact(), .openPGP(), tag, .piv()]
    var ids: [TagID] = []
    for (slot, card) in zip(slots, cards) {
      ids.append(try await rig.readers.insert(card, into: slot))
      try await client.ask("await present \(await rig.readers.name(of: slot))")
    }
    for _ in 1...2 {
      _ = try await rig.run("--list")
      _ = try await rig.watch().list(5)
    }
    for (slot, id) in zip(slots, ids) {
      #expect(await rig.readers.commands(to: id).isEmpty)
      #expect(await rig.readers.powerUps(of: id) == 1)
      let state = try await client.ask("state \(await rig.readers.name(of: slot))")
      #expect(state.prefix(8).hasSuffix("022"), "\(state)")
    }
    for index in [1, 2, 4] {
      let asked = await rig.readers.exchanges(in: slots[index]).filter { $0.kind != .powerUp && $0.kind != .powerDown }
      #expect(asked.isEmpty, "\(asked)")
    }
  }

  /// Other readers must not wait for it.
  @Test(arguments: [["connect exclusive "], ["connect shared ", "begin"]])
  func `the list does not wait for a program that uses a card`(commands: [String]) async throws {
    let rig = try await ServiceRig([.acr1252U, .omnikey5427])
    let slots = await rig.readers.attachedReaders.map(\.slot)
    let name = await rig.readers.name(of: slots[0])
    let client = try await PCSCClient(socket: rig.pcscd.socket)
    try await rig.readers.insert(SimulatedCard(try .type2(.ntag213, message: [])), into: slots[0])
    try await client.ask("await present \(name)")
    for command in commands { try await client.ask(command.hasSuffix(" ") ? command + name : command) }
    let readers = try await rig.watch().list(3)
    #expect(readers.map(\.name).contains(name))
    #expect(readers.last?.identity == .init(vendor: 0x076B, product: 0x5427))
  }

  // MARK: The command line

  @Test func `the program prints its version and that of the library`() async throws {
    let ended = try await ChildProcess.run(try BuiltProducts.program(Names.Files.pcscReaderProgram), ["--version"])
    #expect(ended.status == .exited(0))
    let lines = ended.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.count == 2)
    #expect(lines.first == [Names.Files.pcscReaderProgram, Names.version])
    #expect(lines.last?.first == "pcsc-lite" && lines.last?.last?.first?.isNumber == true)
  }

  /// The link closes with the daemon, or by it.
  @Test(arguments: [true, false]) func `the process ends with its link`(isRunning: Bool) async throws {
    let rig = try await ServiceRig([.acr122U])
    if !isRunning { await rig.pcscd.kill() }
    let loop = EventLoop(label: "daemon")
    let (events, continuation) = AsyncStream.makeStream(of: ListProcess.Event.self)
    let process = ListProcess(on: loop, endAllowance: .seconds(60)) { continuation.yield($0) }
    let (program, environment) = (
      try BuiltProducts.program(Names.Files.pcscReaderProgram), rig.environment.map { "\($0.key)=\($0.value)" }
    )
    try await process.start(program, environment: environment)
    for await event in events {
      switch event {
      case .list: await process.stop()
      case .failed(let error): throw error
      case .ended(let how):
        #expect(how == ReaderChild.success)
        return
      }
    }
  }

  @Test(arguments: [
    [], ["--nonsense"], ["--list", "--version"], ["--link", "3"], ["--link", "1", "--device", "pcsc:x"],
    ["--link", "3", "--device", "pn532_uart:/dev/x"], ["--device", "pcsc:x"], ["--link", "3", "--device", "pcsc:"],
  ])
  func `a wrong command line is a mistake with the usage`(arguments: [String]) async throws {
    let ended = try await ChildProcess.run(try BuiltProducts.program(Names.Files.pcscReaderProgram), arguments)
    #expect(ended.status == .exited(Names.ExitCode.usage))
    #expect(ended.log.contains { $0.hasPrefix("usage: tagroute-reader-pcsc") })
  }

  /// The link is not that of a daemon, or the daemon is gone.
  @Test func `a process without a daemon ends`() async throws {
    let rig = try await ServiceRig([.acr122U])
    let ended = try await rig.run("--link", "3", "--device", "pcsc:ACS ACR122U PICC Interface")
    #expect(ended.status == .exited(Names.ExitCode.unavailable))
  }
}
