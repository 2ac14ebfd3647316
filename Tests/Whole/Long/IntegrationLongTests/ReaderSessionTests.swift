import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

@testable import IntegrationTests

/// Many clients with sessions at one reader.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct SessionLoadTests {
  private static let clients = 20
  private static let sessionsEach = 50

  /// The session numbers in the order of their turns.
  private actor Turns {
    private(set) var numbers: [Int] = []
    /// How many sessions each client could see at its end.
    private(set) var left: [Int] = []

    func leave(_ count: Int) { left.append(count) }

    func take(_ path: ObjectPath) { numbers.append(path.string.split(separator: "/").last.flatMap { Int($0) } ?? 0) }
  }

  private func descriptors(of process: Int32) throws -> Int {
    guard let folder = opendir("/proc/\(process)/fd") else {
      throw RigError("cannot list the descriptors of process \(process)")
    }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
  }

  @Test func `a thousand sessions of twenty clients take turns and leave no descriptors open`() async throws {
    let desktop = try await Desktop(log: "info")
    _ = try await desktop.startPolkit()
    try await desktop.startScanning()
    let daemon = try await desktop.daemon.identifier
    let reader = try await desktop.reader.identifier
    // Runs one session first, so that all lasting descriptors are open.
    let warmUp = try await desktop.program()
    let open = try await warmUp.start()
    try await open.activated()
    await warmUp.die()
    try await desktop.scanning()
    let before = (try descriptors(of: daemon), try descriptors(of: reader))

    let turns = Turns()
    let bus = desktop.systemBus
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.clients {
        group.addTask {
          let program = try await SessionProgram(on: bus)
          for _ in 0..<Self.sessionsEach {
            let open = try await program.start()
            try await open.activated()
            // The next session starts after the end of this one.
            await turns.take(open.session.path)
            try await open.session.invalidate()
            guard try await open.end().reason == .invalidated else {
              throw RigError("the session ended for another reason")
            }
          }
          // Each client sees only its own sessions, and only its last one is left.
          let document = try await program.connection.call(
            Names.Daemon.busName, ObjectPath(Names.Daemon.readerSessionsPath), "org.freedesktop.DBus.Introspectable",
            "Introspect")
          let left = document.first?.asString?.count(of: "<node name=") ?? 0
          await turns.leave(left)
          await program.die()
        }
      }
      try await group.waitForAll()
    }
    let numbers = await turns.numbers
    #expect(await turns.left == [Int](repeating: 1, count: Self.clients))
    #expect(numbers.count == Self.clients * Self.sessionsEach)
    #expect(numbers == numbers.sorted())
    try await desktop.scanning()
    #expect((try descriptors(of: daemon), try descriptors(of: reader)) == before)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `clients that die at any moment leave no descriptors open`(_ seed: UInt64) async throws {
    let desktop = try await Desktop(log: "info")
    _ = try await desktop.startPolkit()
    try await desktop.startScanning()
    let daemon = try await desktop.daemon.identifier
    let reader = try await desktop.reader.identifier
    let before = (try descriptors(of: daemon), try descriptors(of: reader))
    try await desktop.place(Tag(1))
    let bus = desktop.systemBus
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<8 as Range<UInt64> {
        group.addTask {
          var random = SeededGenerator(seed: seed << 8 | client)
          for _ in 0..<10 {
            let program = try await SessionProgram(on: bus)
            let open = try await program.start()
            switch UInt8.random(in: 0..<5, using: &random) {
            case 0: break
            case 1: try await open.activated()
            case 2:
              let tag = try await open.tag()
              Task { _ = try? await tag.readNDEF() }
            case 3: try await open.session.invalidate()
            default:
              _ = try await program.start()
              try await open.activated()
              try await open.session.restartPolling()
            }
            await program.die()
          }
        }
      }
      try await group.waitForAll()
    }
    try await desktop.scanning()
    #expect((try descriptors(of: daemon), try descriptors(of: reader)) == before)
    let last = try await desktop.program().start()
    try await desktop.within("a turn") { try await last.activated() }
    try await last.session.invalidate()
    try await desktop.scanning()
  }
}

extension String {
  fileprivate func count(of part: String) -> Int {
    var (count, rest) = (0, self[...])
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}

/// A client may die at any step of a reader session, and during each tag operation. The daemon scans again after that.
/// `tagroute-bench session` measures the times.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct ClientDeathTests {
  private func dies(_ program: SessionProgram, _ desktop: Desktop) async throws {
    await program.die()
    try await desktop.scanning()
  }

  @Test func `scanning resumes after a client dies during a tag operation`() async throws {
    let (desktop, _) = try await Desktop.scanning()
    let daemon = try await desktop.daemon
    let message = try Tag(9).message
    let steps: [(String, @Sendable (ReaderTag) async throws -> Void)] = [
      ("query", { _ = try await $0.queryNDEF() }), ("read", { _ = try await $0.readNDEF() }),
      ("write", { try await $0.writeNDEF(message) }), ("lock", { try await $0.lock() }),
      ("send a command to", { _ = try await $0.transceive([0x30, 0x00]) }),
    ]
    for (number, (step, work)) in steps.enumerated() {
      let seen = await daemon.log().count
      let program = try await desktop.program()
      let open = try await program.start(ReaderSessionOptions(access: .write))
      try await desktop.within("the session") { try await open.activated() }
      try await desktop.place(Tag(number + 1))
      let tag = try await desktop.within("a tag") { try await open.tag() }
      // The chip's next answer comes late, so the reader is in the middle of the operation. libnfc waits 300 ms.
      try await desktop.installation.simulate("fault delay 100")
      let working = Task { try? await work(tag) }
      try await daemon.line(containing: "is to \(step) tag", after: seen)
      try await dies(program, desktop)
      await working.value
      // The next session must not find this tag.
      try await desktop.installation.simulate("remove")
    }
  }

  @Test func `scanning resumes after a client dies during a first read or an invalidation`() async throws {
    let (desktop, _) = try await Desktop.scanning()
    let daemon = try await desktop.daemon
    let seen = await daemon.log().count
    let reader = try await desktop.program()
    let first = try await reader.start(ReaderSessionOptions(endsAfterFirstRead: true))
    try await desktop.within("the session") { try await first.activated() }
    try await desktop.place(Tag(1))
    try await daemon.line(containing: "is to read tag", after: seen)
    try await dies(reader, desktop)

    let ender = try await desktop.program()
    let second = try await ender.start()
    try await desktop.within("the session") { try await second.activated() }
    // The reader process has not confirmed the end of the session yet.
    try await second.session.invalidate()
    try await dies(ender, desktop)
  }

  @Test func `scanning resumes after a client dies while polkit decides or the reader is being lent`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    await polkit.fallSilent()
    for isLoan in [false, true] {
      let program = try await desktop.program()
      let asking = Task {
        guard isLoan else { return _ = try? await program.start() }
        _ = try? await program.connection.call(
          Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "InhibitWithOptions",
          [.string("a"), .string("b"), .dictionary(["release-reader": .boolean(true)])])
      }
      for await _ in polkit.asked { break }
      try await dies(program, desktop)
      await asking.value
    }
    await polkit.fallSilent(false)
    // The daemon now receives the decisions for the dead clients, and does not give them the reader.
    let last = try await desktop.program().start()
    try await desktop.within("a turn") { try await last.activated() }
    try await last.session.invalidate()
    try await desktop.scanning()

    // A client that dies while the reader process closes the device for it.
    let daemon = try await desktop.daemon
    let seen = await daemon.log().count
    let program = try await desktop.program()
    let lending = Task {
      _ = try? await program.connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "InhibitWithOptions",
        [.string("a"), .string("b"), .dictionary(["release-reader": .boolean(true)])])
    }
    try await daemon.line(containing: "inhibits scanning: b", after: seen)
    try await dies(program, desktop)
    await lending.value
  }
}
