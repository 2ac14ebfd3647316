import Bus
import EventLoop
import Foundation
import Names
import TestKit
import Testing

/// How the command reads a large inbox, from a stand-in for the agent.
@Suite(.timeLimit(.minutes(5))) struct InboxPagesTests {
  /// An inbox of 2,500 taps; a page with messages has at most 800 of them. The last tap of a page is removed before the
  /// command reads the next page.
  private actor Inbox {
    private(set) var calls: [String: Int] = [:]

    func list(_ options: [String: Value]) -> [Value] {
      calls["ListInbox", default: 0] += 1
      // That tap was removed.
      if options["before"] != nil || options["id"] != nil { return [.dictionaries([])] }
      let withMessages = options["messages"]?.asBool ?? false
      let end = options["before-sequence"]?.asUInt64 ?? 2501
      let limit = min(UInt64(options["limit"]?.asUInt32 ?? 100), withMessages ? 800 : 1000)
      let numbers = (end > limit ? end - limit : 1)..<end
      return [.dictionaries(numbers.reversed().map { Self.tap($0, withMessages) })]
    }

    private static func tap(_ number: UInt64, _ withMessage: Bool) -> [String: Value] {
      var tap: [String: Value] = [
        "id": .string("01234567-89ab-4cde-8f01-\(String(format: "%012d", number))"), "sequence": .uint64(number),
        "time": .uint64(1_795_000_000_000_000), "uri": .string(""), "title": .string("tap \(number)"),
        "state": .string("expired"), "handler": .string(""),
      ]
      if withMessage { tap["message"] = .bytes([0xD0, 0, 0]) }
      return tap
    }
  }

  private func run(_ arguments: [String]) async throws -> (output: String, calls: Int?) {
    let bus = try await PrivateBus.start()
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    let inbox = Inbox()
    let list = ExportedMethod(
      "ListInbox", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]
    ) { _, call in await inbox.list(call.arguments.first?.asDictionary ?? [:]) }
    try await connection.export(
      [ExportedInterface(Names.Agent.interface, methods: [list])], at: try ObjectPath(Names.Agent.path))
    try await connection.standIn(for: Names.Agent.busName)
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), arguments, environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    #expect(result.status == .exited(0), "\(result.log)")
    await connection.close()
    return (result.output, await inbox.calls["ListInbox"])
  }

  @Test func `a list continues after the last tap of a page was removed`() async throws {
    let (output, calls) = try await run(["inbox", "--limit", "2500"])
    // With the header.
    #expect(output.split(separator: "\n").count == 2501)
    #expect(calls == 3)
  }

  @Test func `an export of all taps needs one call per page`() async throws {
    let directory = try TemporaryDirectory()
    let (_, calls) = try await run(["inbox", "export", "--all", directory.file("all")])
    let lines = String(decoding: try readFile(directory.file("all")), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 2500 && lines.allSatisfy { $0.contains(#""message":"D00000""#) })
    // The last page is empty.
    #expect(calls == 5)
  }
}
