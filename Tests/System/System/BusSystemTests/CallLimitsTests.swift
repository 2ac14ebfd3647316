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
