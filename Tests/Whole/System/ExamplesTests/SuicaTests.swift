import Bus
import TestKit
import Testing

/// Both example programs work and print the same.
@Suite(.timeLimit(.minutes(5))) struct SuicaTests {
  enum Language: Sendable, CaseIterable {
    case swift
    case python
  }

  private func start(_ language: Language, on bus: PrivateBus, starter: String = #function) throws -> ChildProcess {
    let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
    return switch language {
    case .swift: try ChildProcess(BuiltProducts.program("suica"), environment: environment, starter: starter)
    // Only Debian's Python has python3-gi.
    case .python:
      try ChildProcess(
        "/usr/bin/python3", ["\(repositoryRoot)/Examples/suica.py"],
        environment: environment, starter: starter)
    }
  }

  /// A block of the history.
  private static func block(_ year: Int, _ month: Int, _ day: Int, _ stations: [UInt8], _ balance: Int) -> [UInt8] {
    let date = (year - 2000) << 9 | month << 5 | day
    let bytes = [0x16, 0x01, 0, 0, date >> 8, date & 0xFF] + stations.map(Int.init) + [balance & 0xFF, balance >> 8]
    return bytes.map { UInt8($0) } + [0, 0, 9, 0]
  }

  private static let journeys = [
    block(2026, 11, 3, [0x01, 0x03, 0x02, 0x07], 1234), block(2025, 1, 31, [0xE3, 0x0A, 0xFF, 0x00], 40000),
  ]

  @Test(arguments: Language.allCases) func `the history of a card is printed`(language: Language) async throws {
    let bus = try await PrivateBus.start(starter: "`the history of a card is printed`_\(language)")
    let daemon = try await ReaderSessionStandIn(on: bus.address)
    let empty = Array(repeating: [UInt8](repeating: 0, count: 16), count: 17)
    let last = Self.block(2000, 12, 1, [0, 0, 0, 0], 0)
    try await daemon.place(SessionCard.transit(blocks: Self.journeys + empty + [last]))
    let process = try start(language, on: bus)
    #expect(try await process.exit() == .exited(0))
    #expect(
      await process.log() == [
        "2026-11-03  0103 → 0207  ¥1234", "2025-01-31  E30A → FF00  ¥40000", "2000-12-01  0000 → 0000  ¥0",
      ])
    var requests: [ReaderSessionStandIn.Request] = []
    for await request in daemon.requests {
      requests.append(request)
      if case .invalidate = request { break }
    }
    guard case .start(let options)? = requests.first else { throw RigError("\(requests)") }
    #expect(options["system-codes"] == .array(element: "q", [.uint16(3)]))
    // Start, Request Service, reads of 12 and 8 blocks, and invalidate.
    #expect(requests.count == 5)
  }

  @Test(arguments: Language.allCases) func `a failure ends the program with an error`(language: Language) async throws {
    let bus = try await PrivateBus.start(starter: "`a failure ends the program with an error`_\(language)")
    let without = try start(language, on: bus)
    #expect(try await without.exit() != .exited(0))
    let daemon = try await ReaderSessionStandIn(on: bus.address)
    var process = try start(language, on: bus)
    for await request in daemon.requests { if case .start = request { break } }
    try await daemon.end("timed-out")
    #expect(try await process.exit() != .exited(0))
    #expect(await process.log().contains { $0.contains("no card was read: timed-out") })

    var card = SessionCard.transit(blocks: [])
    card.answer = { command in [0x03] + command[1..<9] + [1, 0xFF, 0xFF] }
    try await daemon.place(card)
    process = try start(language, on: bus)
    #expect(try await process.exit() != .exited(0))
    #expect(await process.log().contains { $0.contains("the card keeps no history") })
  }

  @Test(arguments: Language.allCases)
  func `the program ends when the daemon goes away`(language: Language) async throws {
    let bus = try await PrivateBus.start(starter: "`the program ends when the daemon goes away`_\(language)")
    let daemon = try await ReaderSessionStandIn(on: bus.address)
    let process = try start(language, on: bus)
    for await request in daemon.requests { if case .start = request { break } }
    // Each of these calls waits for the daemon's loop, which sends its reply first.
    for _ in 0..<16 { await daemon.refuse(nil) }
    await daemon.leave()
    #expect(try await process.exit() != .exited(0))
    #expect(await process.log().contains { $0.contains("gone") })
  }
}
