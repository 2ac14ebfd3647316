import EventLoop
import Glibc
import ReaderLink
import ReaderSimulator
import Rig
import Testing

/// Two readers of one daemon, which has one thread for both.
@Suite(.timeLimit(.minutes(5))) struct SeveralReadersFaultTests {
  @Test func tapsOfOneComeInOrderWhileTheOtherIsWedged() async throws {
    let loop = EventLoop(label: "daemon")
    let good = try await ReaderRig.scanning(loop: loop)
    let bad = try await ReaderRig.scanning(loop: loop)
    let wedged = try #require(await bad.process.processID)
    kill(wedged, SIGSTOP)
    let before = good.seen.count
    var placements: [UInt64] = []
    for number in 1...5 {
      let message = try uri("https://example.com/\(number)")
      let id = await good.simulator.place(try .type2(.ntag213, message: message))
      let tap = try await good.message()
      #expect(tap.message == message)
      await good.simulator.remove(id)
      #expect(try await good.removal() == tap.placement.number)
      placements.append(tap.placement.number)
    }
    #expect(placements == placements.sorted())
    let crash = try await bad.crash()
    #expect(crash.reason == "it was not heard of in time")
    try await bad.isReady()
    try await bad.expect(.scanning(true))
    for event in good.seen[before...] {
      switch event {
      case .state, .scanning, .crashed: Issue.record("it was disturbed: \(event)")
      default: break
      }
    }
    let message = try uri("https://example.com/again")
    await bad.simulator.place(try .type2(.ntag213, message: message))
    #expect(try await bad.message().message == message)
    for rig in [good, bad] { await rig.stop() }
  }

  @Test(arguments: [Fault.stall(), .silence(), .corruptChecksum(), .delay(.milliseconds(1300)), .unplug()])
  func tapsOfOneComeInOrderWhateverTheOtherDoes(fault: Fault) async throws {
    let loop = EventLoop(label: "daemon")
    let good = try await ReaderRig.scanning(loop: loop)
    let bad = try await ReaderRig.scanning(loop: loop)
    await bad.simulator.add(fault)
    let before = good.seen.count
    for number in 1...3 {
      let message = try uri("https://example.com/\(number)")
      let id = await good.simulator.place(try .type2(.ntag213, message: message))
      #expect(try await good.message().message == message)
      await good.simulator.remove(id)
      _ = try await good.removal()
    }
    try await bad.next("a reader that has failed") { event in
      switch event {
      case .state(.failed), .state(.absent): true
      default: nil
      }
    }
    #expect(good.seen[before...].allSatisfy { if case .state = $0 { false } else { true } })
    for rig in [good, bad] { await rig.stop() }
  }
}
