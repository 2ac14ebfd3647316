import EventLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PropertyTests {
  private static let properties = "org.freedesktop.DBus.Properties"

  private actor Thermostat {
    var target: UInt32 = 20
    func set(_ value: UInt32) throws {
      guard value <= 30 else { throw BusError(name: "org.example.Error.TooHot", message: "30 is the most") }
      target = value
    }
  }

  private func start() async throws -> (BusFixture, Thermostat) {
    let thermostat = Thermostat()
    let interface = ExportedInterface(
      BusFixture.interface,
      properties: [
        ExportedProperty("Target", "u") { _ in
          .uint32(await thermostat.target)
        } set: { value, call in
          #expect(call.interface == BusFixture.interface)
          try await thermostat.set(value.asUInt32 ?? 0)
        },
        ExportedProperty("Model", "s", emits: .const) { _ in .string("T1") },
        ExportedProperty("History", "au", emits: .invalidated) { _ in .array(element: "u", []) },
        ExportedProperty("Secret", "s", emits: .none) { _ in .string("x") },
        ExportedProperty("Anything", "v") { _ in .variant(.byte(1)) },
        ExportedProperty("Broken", "s") { _ in .int32(1) },
      ])
    return (try await BusFixture.start([interface]), thermostat)
  }

  private func call(_ fixture: BusFixture, _ member: String, _ arguments: Value...) async -> Result<[Value], BusError> {
    do throws(BusError) {
      return .success(
        try await fixture.client.call(BusFixture.name, BusFixture.path, Self.properties, member, arguments))
    } catch {
      return .failure(error)
    }
  }

  @Test func `Get, Set and GetAll read and change properties`() async throws {
    let (fixture, _) = try await start()
    let name = Value.string(BusFixture.interface)
    #expect(await call(fixture, "Get", name, .string("Target")) == .success([.variant(.uint32(20))]))
    #expect(await call(fixture, "Set", name, .string("Target"), .variant(.uint32(25))) == .success([]))
    #expect(await call(fixture, "Get", .string(""), .string("Target")) == .success([.variant(.uint32(25))]))
    let all = try await call(fixture, "GetAll", name).get().first
    // `Anything` is a variant in a variant. `Broken` is omitted, because its value does not match its declaration.
    #expect(
      all
        == .dictionary(
          key: "s", value: "v",
          [
            DictionaryEntry(.string("Anything"), .variant(.variant(.byte(1)))),
            DictionaryEntry(.string("History"), .variant(.array(element: "u", []))),
            DictionaryEntry(.string("Model"), .variant(.string("T1"))),
            DictionaryEntry(.string("Secret"), .variant(.string("x"))),
            DictionaryEntry(.string("Target"), .variant(.uint32(25))),
          ]))
  }

  @Test func `each failed property call has its own error name`() async throws {
    let (fixture, thermostat) = try await start()
    func name(_ member: String, _ arguments: Value...) async -> String? {
      let result =
        switch arguments.count {
        case 2: await call(fixture, member, arguments[0], arguments[1])
        case 3: await call(fixture, member, arguments[0], arguments[1], arguments[2])
        default: await call(fixture, member, arguments[0])
        }
      guard case .failure(let error) = result else { return nil }
      return error.name
    }
    let interface = Value.string(BusFixture.interface)
    #expect(await name("Get", interface, .string("Absent")) == BusError.Name.unknownProperty)
    #expect(await name("Get", .string("a.b"), .string("Target")) == BusError.Name.unknownInterface)
    #expect(await name("Get", interface, .string("Broken")) == BusError.Name.failed)
    #expect(await name("Get", interface) == BusError.Name.invalidArguments)
    #expect(await name("GetAll", .string("a.b")) == BusError.Name.unknownInterface)
    #expect(await name("Set", interface, .string("Model"), .variant(.string("T2"))) == BusError.Name.propertyReadOnly)
    #expect(await name("Set", interface, .string("Target"), .variant(.int32(1))) == BusError.Name.invalidArguments)
    #expect(await name("Set", interface, .string("Target"), .variant(.uint32(31))) == "org.example.Error.TooHot")
    #expect(await thermostat.target == 20)
  }

  @Test func `a change is signalled as the property declares`() async throws {
    let (fixture, _) = try await start()
    let signals = try await fixture.client.signals(MatchRule(sender: BusFixture.name, member: "PropertiesChanged"))
    await fixture.server.propertiesChanged(
      ["Target", "Model", "History", "Secret"], of: BusFixture.interface, at: BusFixture.path)
    var iterator = signals.makeAsyncIterator()
    let signal = try #require(await iterator.next())
    #expect(signal.interface == Self.properties)
    #expect(
      signal.arguments
        == [.string(BusFixture.interface), .dictionary(["Target": .uint32(20)]), .strings(["History"])])
    // A change of only these two sends no signal.
    await fixture.server.propertiesChanged(["Model", "Secret"], of: BusFixture.interface, at: BusFixture.path)
    await fixture.server.propertiesChanged(["Anything"], of: BusFixture.interface, at: BusFixture.path)
    let next = try #require(await iterator.next())
    #expect(next.arguments[1].asDictionary?.keys.sorted() == ["Anything"])
  }

  @Test func `busctl and gdbus read and set the same properties`() async throws {
    let (fixture, _) = try await start()
    let object = [BusFixture.name, BusFixture.path.string, BusFixture.interface]
    #expect(try await fixture.busctl("get-property", object[0], object[1], object[2], "Target") == "u 20\n")
    _ = try await fixture.busctl("set-property", object[0], object[1], object[2], "Target", "u", "22")
    #expect(try await fixture.busctl("get-property", object[0], object[1], object[2], "Target") == "u 22\n")
    #expect(try await fixture.busctl("get-property", object[0], object[1], object[2], "History") == "au 0\n")
    let text = try await fixture.gdbus(
      "call", "-d", object[0], "-o", object[1], "-m", Self.properties + ".GetAll", object[2])
    #expect(text.contains("'Target': <uint32 22>"))
    #expect(text.contains("'Anything': <<byte 0x01>>"))
  }
}
