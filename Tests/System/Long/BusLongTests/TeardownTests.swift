import EventLoop

import TestKit
import Testing

@testable import Bus
@testable import BusSystemTests

/// Ends connections during calls and signals, many times. Thread Sanitizer finds more than the assertions.
@Suite(.timeLimit(.minutes(60))) struct TeardownTests {
  private enum End: CaseIterable { case close, letGo, both }

  @Test func `two hundred connections end during calls and signals`() async throws {
    let bus = try await PrivateBus.start()
    let address = BusAddress(bus.address)
    let observer = try await Connection.open(address, on: EventLoop(label: "observer"))
    var names: [String] = []
    for round in 0..<200 {
      let end = End.allCases[round % 3]
      let gate = Gate()
      let loops = (EventLoop(label: "server"), EventLoop(label: "client"))
      var server: Connection? = try await Connection.open(address, on: loops.0)
      let client = try await Connection.open(address, on: loops.1)
      let interface = ExportedInterface(
        "org.example.T",
        methods: [
          ExportedMethod("Wait", in: [Argument("data", "ay")], out: [Argument("data", "ay")]) { _, call in
            await gate.pass()
            return call.arguments
          }
        ], properties: [ExportedProperty("P", "u") { _ in .uint32(1) }], limits: BusFixture.large)
      try await server?.export([], at: "/", objectManager: true)
      try await server?.export([interface], at: "/t")
      let name = try #require(await server?.uniqueName)
      names += [name, try #require(await client.uniqueName)]
      _ = try await client.signals(MatchRule(sender: name))
      let kept = try await client.signals(MatchRule(member: "S"))
      let owners = try await client.owners(of: name)
      let calls = (0..<4).map { number in
        Task {
          await busError { () async throws(BusError) in
            try await client.call(
              name, "/t", "org.example.T", "Wait", [.bytes(Array(repeating: 7, count: number * 300_000))])
          }
        }
      }
      await gate.arrived()
      try await server?.emit(path: "/t", interface: "org.example.T", member: "S", [.byte(1)])
      if end != .letGo { await server?.close() }
      if end != .close { server = nil }
      if round % 2 == 0 { await gate.open() }
      if round % 5 == 0 { await client.close() }
      // A running handler keeps the server alive until it returns. Without one, the calls fail when the server ends.
      await gate.open()
      for call in calls { _ = await call.value }
      await client.close()
      for await _ in kept {}
      for await _ in owners {}
    }
    // The bus sees a connection end when the last copy of its descriptor is closed.
    for name in names { _ = try await first(in: observer.owners(of: name)) { $0 == nil ? true : nil } }
    await observer.close()
    try await bus.stop()
  }

  @Test func `opening a connection can be cancelled at any time`() async throws {
    let bus = try await PrivateBus.start()
    for round in 0..<50 {
      let task = Task {
        await busError { () async throws(BusError) in
          try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test"))
        }
      }
      if round % 2 == 0 { await Task.yield() }
      task.cancel()
      let error = await task.value
      #expect(error == nil || error?.name == BusError.Name.cancelled)
    }
    try await bus.stop()
  }
}
