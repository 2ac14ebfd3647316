import Bus
import Names
import TagrouteClient
import TestSupport
import Testing

/// A client may die at any step of a reader session, and in the middle of each thing that it does: scanning is back soon.
@Suite(.timeLimit(.minutes(5))) struct ClientDeathTests {
  /// `tagroute-bench session` has the times; this is what a machine in the middle of all tests keeps to.
  private static let limit = Duration.seconds(5)

  private func dies(_ program: SessionProgram, _ step: String, _ desktop: Desktop) async throws {
    let died = SuspendingClock.now
    await program.die()
    try await desktop.scanning()
    let time = SuspendingClock.now - died
    #expect(time < Self.limit, "\(step): \(time)")
  }

  @Test func inTheMiddleOfWhatItDoesWithATag() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
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
      try await dies(program, step, desktop)
      await working.value
    }
    await polkit.stop()
    await desktop.stop()
  }

  @Test func whileAFirstMessageIsReadAndWhileASessionIsEnded() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    let daemon = try await desktop.daemon
    let seen = await daemon.log().count
    let reader = try await desktop.program()
    let first = try await reader.start(ReaderSessionOptions(endsAfterFirstRead: true))
    try await desktop.within("the session") { try await first.activated() }
    try await desktop.place(Tag(1))
    try await daemon.line(containing: "is to read tag", after: seen)
    try await dies(reader, "first-read", desktop)

    let ender = try await desktop.program()
    let second = try await ender.start()
    try await desktop.within("the session") { try await second.activated() }
    // The process has not said yet that it is done.
    try await second.session.invalidate()
    try await dies(ender, "invalidated", desktop)
    await polkit.stop()
    await desktop.stop()
  }

  @Test func whilePolkitIsAskedAndWhileTheReaderIsLent() async throws {
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
      try await dies(program, "polkit is asked", desktop)
      await asking.value
    }
    await polkit.fallSilent(false)
    // What was asked for the dead is answered now, and nobody has the reader for it.
    let last = try await desktop.program().start()
    try await desktop.within("a turn") { try await last.activated() }
    try await last.session.invalidate()
    try await desktop.scanning()

    // One that dies while the device is being closed for it.
    let daemon = try await desktop.daemon
    let seen = await daemon.log().count
    let program = try await desktop.program()
    let lending = Task {
      _ = try? await program.connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "InhibitWithOptions",
        [.string("a"), .string("b"), .dictionary(["release-reader": .boolean(true)])])
    }
    try await daemon.line(containing: "inhibits scanning: b", after: seen)
    try await dies(program, "lending", desktop)
    await lending.value
    await polkit.stop()
    await desktop.stop()
  }
}
