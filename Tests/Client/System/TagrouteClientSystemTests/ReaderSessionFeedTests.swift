import Bus
import EventLoop
import Names
import TestKit
import Testing

@testable import TagrouteClient

/// The end of the daemon and its last signal arrive on two streams, in any order.
@Suite(.timeLimit(.minutes(5))) struct ReaderSessionFeedTests {
  /// A feed with both streams under the control of a test.
  private struct Rig {
    let bus: PrivateBus
    let daemon: Connection
    let clock = ManualClock()
    let path: ObjectPath = "/org/tagroute/Tagroute1/sessions/1"
    let owners: AsyncStream<String?>.Continuation
    let events: AsyncStream<ReaderSessionEvent>

    init(starter: String = #function) async throws {
      bus = try await PrivateBus.start(starter: starter)
      daemon = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "daemon"))
      let client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "client"))
      let name = try #require(await daemon.uniqueName)
      let signals = try await client.signals(
        MatchRule(sender: name, interface: Names.Daemon.readerSessionInterface))
      let named: AsyncStream<String?>
      (named, owners) = AsyncStream.makeStream()
      let happening: AsyncStream<ReaderSessionEvent>.Continuation
      (events, happening) = AsyncStream.makeStream()
      let feed = ReaderSessionFeed(path: path, connection: client, daemon: name, events: happening, clock: clock)
      Task { await feed.run(signals, named) }
    }

    func say(_ member: String, _ arguments: Value...) async throws {
      try await daemon.emit(
        path: path, interface: Names.Daemon.readerSessionInterface, member: member, arguments)
    }
  }

  @Test func `a last signal within 200 ms of the end of the daemon gives the reason`() async throws {
    let rig = try await Rig()
    var events = rig.events.makeAsyncIterator()
    rig.owners.yield(nil)
    // The feed waits, and has not reported that the daemon is gone.
    for await pause in rig.clock.pauses {
      #expect(pause == .milliseconds(200))
      break
    }
    rig.clock.advance(by: .milliseconds(199))
    try await rig.say("Ended", .string(Names.SessionEnd.daemonStopping.rawValue), .string("it ends"))
    #expect(await events.next() == .ended(ReaderSessionEnd(.daemonStopping, message: "it ends")))
    #expect(await events.next() == nil)
  }

  @Test func `without a last signal the reason is that the daemon is gone`() async throws {
    let rig = try await Rig()
    var events = rig.events.makeAsyncIterator()
    try await rig.say("Activated")
    #expect(await events.next() == .activated)
    rig.owners.yield(nil)
    for await _ in rig.clock.pauses { break }
    rig.clock.advance(by: .milliseconds(200))
    #expect(await events.next() == .ended(ReaderSessionEnd(.daemonGone, message: "the daemon has gone")))
  }
}
