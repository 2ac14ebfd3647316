import Glibc
import ReaderSimulator
import TestSupport
import Testing

/// 1,008 random taps with random faults on four readers at once, with kills of pcscd, of the daemon and of reader
/// processes. No tap is lost whose tag could be read, none is announced twice, and no card with contacts gets a command.
///
/// Each run has another seed, which an error names. `TAGROUTE_WALK_SEED` repeats a run.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardWalkTests {
  private static let tapsPerPart = 84

  private static func seed() -> UInt64 {
    getenv("TAGROUTE_WALK_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0...UInt64(UInt32.max))
  }

  @Test func `of 1,008 random taps none is lost and none is announced twice`() async throws {
    let seed = Self.seed()
    let folder = try TemporaryDirectory()
    let desk = try await CardDesktop(
      [.acr1252U, .acr1552U, .omnikey5427, .acr122U, .pcTwin, .yubiKey], log: "notice",
      environment: ["RUNTIME_DIRECTORY": folder.path])
    let contact = [desk.attached[0].slots[1], desk.attached[1].slots[1], desk.attached[4].slot, desk.attached[5].slot]
    let cards = [
      try await desk.readers.insert(.contact(), into: contact[0]),
      try await desk.readers.insert(.paymentChip(), into: contact[1]),
      try await desk.readers.insert(.openPGP(), into: contact[2]),
      try await desk.readers.insert(.piv(), into: contact[3]),
    ]
    let announcements = Announcements()
    let following = await announcements.follow(desk.server)
    defer {
      following.cancel()
      withExtendedLifetime(folder) {}
    }
    try await desk.start()

    var walks = (0..<4).map { CardWalk(desk, announcements, reader: $0, seed: seed) }
    walks = try await Self.run(walks)
    // Their next tags are placed while pcscd is dead, and while the daemon is.
    await desk.pcscd.kill()
    try await desk.pcscd.restart()
    walks = try await Self.run(walks)
    try await desk.desktop.daemon.exit(after: SIGKILL)
    try await desk.desktop.installation.startDaemon()
    walks = try await Self.run(walks)
    for index in walks.indices { try await walks[index].finish() }

    var expected: [String: Int] = [:]
    for walk in walks { expected.merge(walk.expected) { $0 + $1 } }
    let shown = await announcements.all
    for text in Set(expected.keys).union(shown.keys) {
      #expect(shown[text] == expected[text], "\(text), seed \(seed)")
    }
    for card in cards {
      #expect(await desk.readers.commands(to: card).isEmpty, "seed \(seed)")
      // Each pcscd gives it power once.
      #expect(await desk.readers.powerUps(of: card) <= 2, "seed \(seed)")
    }
    for slot in contact { #expect(await desk.requests(in: slot).isEmpty, "seed \(seed)") }
    try await desk.scanning()
  }

  /// Makes the taps of one part, on all readers at once.
  private static func run(_ walks: [CardWalk]) async throws -> [CardWalk] {
    try await withThrowingTaskGroup(of: (Int, CardWalk).self) { group in
      for (index, walk) in walks.enumerated() {
        group.addTask {
          var walk = walk
          try await walk.run(Self.tapsPerPart)
          return (index, walk)
        }
      }
      var done = walks
      for try await (index, walk) in group { done[index] = walk }
      return done
    }
  }
}
