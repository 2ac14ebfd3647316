import EventLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SignalTests {
  private func emit(_ fixture: BusFixture, _ member: String, _ arguments: [Value], path: ObjectPath = BusFixture.path)
    async throws
  {
    try await fixture.server.emit(path: path, interface: BusFixture.interface, member: member, arguments)
  }

  @Test func `a match rule passes only the signals that it describes`() async throws {
    let fixture = try await BusFixture.start([])
    let rules = [
      MatchRule(path: "/a", member: "S"), MatchRule(pathNamespace: "/a", member: "S"),
      MatchRule(interface: "org.example.Other"), MatchRule(member: "S", arg0: "it's"),
      MatchRule(sender: "org.example.Stranger"), MatchRule(sender: await fixture.server.uniqueName),
    ]
    var streams: [SignalStream] = []
    for rule in rules { streams.append(try await fixture.client.signals(rule)) }
    try await emit(fixture, "S", [.string("it's")], path: "/a")
    try await emit(fixture, "S", [.string("no")], path: "/a/b")
    try await emit(fixture, "S", [.bytes([1])], path: "/ab")
    try await emit(fixture, "T", [], path: "/a")
    try await fixture.server.emit(path: "/end", interface: "org.example.Other", member: "End")
    var seen: [[String]] = []
    // The stream for the sender gets every signal. After it gets `End`, the other streams have their signals too.
    for try await signal in streams[5] where signal.member == "End" { break }
    await fixture.client.close()
    for stream in streams.prefix(5) {
      var own: [String] = []
      for await signal in stream { own.append("\(signal.path) \(signal.member)") }
      seen.append(own)
    }
    #expect(seen == [["/a S"], ["/a S", "/a/b S"], ["/end End"], ["/a S"], []])
  }

  @Test func `a rule with a well-known name matches only its current owner`() async throws {
    let fixture = try await BusFixture.start([])
    let signals = try await fixture.client.signals(MatchRule(sender: BusFixture.name, member: "S"))
    let other = try await Connection.open(fixture.address, on: EventLoop(label: "other"))
    // Sent directly to the client. A match rule does not prevent that.
    let client = try #require(await fixture.client.uniqueName)
    try await other.emit(path: "/", interface: "a.b", member: "S", [.string("forged")], destination: client)
    _ = try await other.call(Bus.name, Bus.path, Bus.interface, "GetId")
    try await fixture.server.emit(path: "/", interface: "a.b", member: "S", [.string("genuine")], destination: client)
    var iterator = signals.makeAsyncIterator()
    #expect(await iterator.next()?.arguments == [.string("genuine")])
    // The name gets a new owner. Only signals of the new owner match.
    try await fixture.server.releaseName(BusFixture.name)
    _ = try await other.requestName(BusFixture.name)
    try await fixture.server.emit(path: "/", interface: "a.b", member: "S", [.string("late")], destination: client)
    _ = try await fixture.server.call(Bus.name, Bus.path, Bus.interface, "GetId")
    try await other.emit(path: "/", interface: "a.b", member: "S", [.string("new")])
    #expect(await iterator.next()?.arguments == [.string("new")])
    await other.close()
  }

  @Test func `a slow reader loses the oldest signals and learns how many`() async throws {
    let fixture = try await BusFixture.start([])
    let signals = try await fixture.client.signals(MatchRule(member: "S"))
    let all = try await fixture.client.signals(MatchRule(member: "End"))
    let count = SignalStream.limit + 44
    for number in 0..<count { try await emit(fixture, "S", [.uint32(UInt32(number))]) }
    try await emit(fixture, "End", [])
    _ = try await first(in: all) { $0 }
    var iterator = signals.makeAsyncIterator()
    let oldest = try #require(await iterator.next())
    #expect(oldest.missed == 44)
    #expect(oldest.arguments == [.uint32(44)])
    let next = try #require(await iterator.next())
    #expect(next.missed == 0)
    #expect(next.arguments == [.uint32(45)])
  }

  @Test func `a signal that is too large is counted as missed`() async throws {
    let fixture = try await BusFixture.start([])
    let signals = try await fixture.client.signals(MatchRule(member: "S"))
    try await emit(fixture, "S", [.bytes(Array(repeating: 0, count: DecodingLimits.signal.bytes + 1))])
    try await emit(fixture, "S", [.byte(1)])
    var iterator = signals.makeAsyncIterator()
    let signal = try #require(await iterator.next())
    #expect(signal.arguments == [.byte(1)])
    #expect(signal.missed == 1)
  }

  @Test func `releasing a stream removes its match rules`() async throws {
    let fixture = try await BusFixture.start([])
    var stream: SignalStream? = try await fixture.client.signals(MatchRule(sender: BusFixture.name))
    #expect(await fixture.client.subscriptions.count == 1)
    #expect(await fixture.client.trackers.count == 1)
    withExtendedLifetime(stream) {}
    stream = nil
    // The loop runs the removal before this call.
    #expect(await fixture.client.subscriptions.isEmpty)
    #expect(await fixture.client.trackers.isEmpty)
    let unique = try #require(await fixture.client.uniqueName)
    let stats = try await fixture.client.call(
      Bus.name, Bus.path, "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", [.string(unique)])
    #expect(stats.first?.asDictionary?["MatchRules"] == .uint32(0))
  }

  @Test func `a signal that does not match its declaration is not sent`() async throws {
    let interface = ExportedInterface(BusFixture.interface, signals: [ExportedSignal("S", [Argument("text", "s")])])
    let fixture = try await BusFixture.start([interface])
    await #expect(throws: BusError.self) { try await emit(fixture, "S", [.int32(1)]) }
    await #expect(throws: BusError.self) { try await emit(fixture, "S", [.string("\u{0}")]) }
    try await emit(fixture, "S", [.string("a")])
  }

  @Test func `an invalid match rule is an error, and a valid one escapes apostrophes`() async throws {
    #expect(throws: BusError.self) { try MatchRule(path: "/a", pathNamespace: "/a").text() }
    #expect(throws: BusError.self) { try MatchRule(sender: "no name").text() }
    #expect(throws: BusError.self) { try MatchRule(arg0: "\u{0}").text() }
    #expect(try MatchRule(member: "S", arg0: "it's").text() == #"type='signal',member='S',arg0='it'\''s'"#)
  }
}
