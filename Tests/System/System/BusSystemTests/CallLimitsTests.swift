import EventLoop
import TestKit
import Testing

@testable import Bus

/// Limits on the arguments that an exported object decodes.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CallLimitsTests {
  private static let echo = ExportedMethod("Echo", in: [Argument("value", "v")], out: [Argument("value", "v")]) {
    $1.arguments
  }

  private static func bytes(_ count: Int) -> Value { .variant(.bytes(Array(repeating: 7, count: count))) }
  private static func text(_ count: Int) -> Value { .variant(.string(String(repeating: "a", count: count))) }

  private func expect(
    _ value: Value, _ isTaken: Bool, _ fixture: BusFixture, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let error = await busError { () async throws(BusError) in try await fixture.call("Echo", [value]) }
    #expect(error?.name == (isTaken ? nil : BusError.Name.limitsExceeded), sourceLocation: sourceLocation)
  }

  @Test(arguments: [CallLimits.small, .tagMessage])
  func `an interface accepts calls up to its limits and refuses larger ones`(limits: CallLimits) async throws {
    let fixture = try await BusFixture.start([
      ExportedInterface(BusFixture.interface, methods: [Self.echo], limits: limits)
    ])
    await expect(Self.bytes(limits.bytes), true, fixture)
    await expect(Self.bytes(limits.bytes + 1), false, fixture)
    await expect(Self.text(limits.bytes), true, fixture)
    await expect(Self.text(limits.bytes + 1), false, fixture)
    // The variant and the array are values too.
    let most = Array(repeating: Value.boolean(true), count: limits.values - 2)
    await expect(.variant(.array(element: "b", most)), true, fixture)
    await expect(.variant(.array(element: "b", most + [.boolean(true)])), false, fixture)
  }

  @Test func `setting a property is refused above the small limits`() async throws {
    let property = ExportedProperty("Text", "s") { _ in
      .string("")
    } set: { _, _ in
    }
    let fixture = try await BusFixture.start([ExportedInterface(BusFixture.interface, properties: [property])])
    let text = String(repeating: "a", count: CallLimits.small.bytes)
    let error = await busError { () async throws(BusError) in
      try await fixture.client.call(
        BusFixture.name, BusFixture.path, Introspection.properties, "Set",
        [.string(BusFixture.interface), .string("Text"), .variant(.string(text))])
    }
    #expect(error?.name == BusError.Name.limitsExceeded)
  }
}

/// One user sends more calls than the limit, on a real bus.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CallFloodTests {
  /// Opens connections of one user. One call on each makes the server identify the user.
  private func connections(_ count: Int, to fixture: BusFixture) async throws -> [Connection] {
    var result: [Connection] = []
    for _ in 0..<count {
      let connection = try await Connection.open(fixture.address, on: EventLoop(label: "flood"))
      // The server asks the bus for the user before it replies, so it knows the user when the next call arrives.
      _ = try await connection.call(BusFixture.name, BusFixture.path, BusFixture.interface, "Reply")
      result.append(connection)
    }
    return result
  }

  @Test func `calls above the limit of a user are refused, and a peer with precedence is answered`() async throws {
    let gate = Gate()
    let fixture = try await BusFixture.start(
      ExportedMethod("Reply") { _, _ in [] },
      ExportedMethod("Wait") { _, _ in
        await gate.pass()
        return []
      })
    let connections = try await connections(3, to: fixture)
    _ = try await fixture.call("Reply")
    let refused = await withTaskGroup(of: String?.self) { group in
      for connection in connections {
        for _ in 0..<CallAdmission.limitOfSender {
          group.addTask {
            await busError { () async throws(BusError) in
              try await connection.call(BusFixture.name, BusFixture.path, BusFixture.interface, "Wait", timeout: nil)
            }?.name
          }
        }
      }
      await gate.arrived(CallAdmission.limitOfUser)
      let other = await busError { () async throws(BusError) in try await fixture.call("Reply") }
      #expect(other?.name == BusError.Name.limitsExceeded)
      await fixture.server.setPrecedence(of: [fixture.client.uniqueName ?? ""])
      let preferred = await busError { () async throws(BusError) in try await fixture.call("Reply") }
      #expect(preferred == nil)
      await gate.open()
      return await group.reduce(into: [String]()) { names, name in name.map { names.append($0) } }
    }
    let excess = connections.count * CallAdmission.limitOfSender - CallAdmission.limitOfUser
    #expect(refused == Array(repeating: BusError.Name.limitsExceeded, count: excess))
    for connection in connections { await connection.close() }
  }
}
