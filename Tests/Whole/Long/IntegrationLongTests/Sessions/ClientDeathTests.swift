import Bus
import Names
import TagrouteClient
import TestKit
import Testing

@testable import IntegrationTests

/// A client may die at any step of a reader session, and during each tag operation. The daemon scans again after that.
/// `tagroute-bench session` measures the times.
@Suite(.timeLimit(.minutes(5))) struct ClientDeathTests {
  private func dies(_ program: SessionProgram, _ desktop: Desktop) async throws {
    await program.die()
    try await desktop.scanning()
  }

  @Test func `scanning resumes after a client dies during a tag operation`() async throws {
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
      try await dies(program, desktop)
      await working.value
      // The next session must not find this tag.
      try await desktop.installation.simulate("remove")
    }
    await polkit.stop()
    await desktop.stop()
  }

  @Test func `scanning resumes after a client dies during a first read or an invalidation`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
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
    await polkit.stop()
    await desktop.stop()
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
    // The daemon now receives the decisions for the dead clients, and none of them gets the reader.
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
    await polkit.stop()
    await desktop.stop()
  }
}
