import Bus
import EventLoop
import Foundation
import NDEF
import Names
import TestKit
import Testing

@testable import CoreNFC

/// A program that serves activities. The test calls it like the agent and the desktop.
@Suite(.timeLimit(.minutes(5))) struct UserActivityHandlerTests {
  private static let id = "org.example.Activity-Menu"
  private static let path: ObjectPath = "/org/example/Activity_Menu"
  private static let tap = "01234567-89ab-4cde-8f01-000000000001"
  private static let link = "https://menu.example.com/7"

  private let bus: PrivateBus
  private let client: Connection

  init() async throws {
    bus = try await PrivateBus.start()
    client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test-client"))
  }

  /// Starts the program, and returns when it has its name.
  private func serve(
    _ continueActivity: @escaping @Sendable (NSUserActivity) async throws -> Bool
  ) async throws -> Task<Void, any Error> {
    let owners = try await client.owners(of: Self.id)
    let serving = Task { [bus] in
      try await NFCUserActivityHandler.serve(Self.id, on: BusAddress(bus.address), continueActivity)
    }
    for await case .some in owners { break }
    return serving
  }

  private func handleTag(_ message: [UInt8]) async throws(BusError) {
    _ = try await client.call(
      Self.id, Self.path, Names.Handler.interface, Names.Handler.handleTag,
      [.string(Self.link), .bytes(message), .dictionary(["tap-id": .string(Self.tap)])], timeout: .seconds(180))
  }

  private func application(_ member: String, _ arguments: [Value]) async throws(BusError) {
    _ = try await client.call(Self.id, Self.path, Names.Handler.applicationInterface, member, arguments)
  }

  /// The body of `application(_:continue:restorationHandler:)`, as programs of iOS have it.
  @Sendable private static func open(_ userActivity: NSUserActivity) -> Bool {
    guard userActivity.activityType == NSUserActivityTypeBrowsingWeb else { return false }
    let ndefMessage = userActivity.ndefMessagePayload
    guard !ndefMessage.records.isEmpty, ndefMessage.records[0].typeNameFormat != .empty else { return false }
    return ndefMessage.records[0].wellKnownTypeURIPayload() == userActivity.webpageURL
  }

  @Test func `a tag, links and a start are delivered one after the other`() async throws {
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let serving = try await serve { activity in
      let isUsed = Self.open(activity)
      let link = activity.webpageURL?.absoluteString ?? "none"
      line.yield("\(isUsed) \(link) \(activity.tapIdentifier ?? "none")")
      return isUsed
    }
    try await handleTag(try NDEFMessage.uri(Self.link).encoded())
    try await application("Open", [.strings(["https://a.example/", "https://b.example/"]), .dictionary([:])])
    try await application("Activate", [.dictionary([:])])
    line.finish()
    #expect(
      await lines.reduce(into: []) { $0.append($1) } == [
        "true \(Self.link) \(Self.tap)", "false https://a.example/ none", "false https://b.example/ none",
        "false none none",
      ])
    serving.cancel()
    await #expect(throws: CancellationError.self) { try await serving.value }
  }

  @Test func `a tap that the program does not use has failed, and the user sees why`() async throws {
    let serving = try await serve { activity in
      if activity.ndefMessagePayload.records.count > 1 { throw NFCReaderError(.readerErrorInvalidParameter) }
      return false
    }
    let unused = await #expect(throws: BusError.self) { try await handleTag(try NDEFMessage.uri(Self.link).encoded()) }
    #expect(unused == BusError(name: Names.Errors.failed, message: "the program did not use the tag"))
    let two = NDEFMessage(records: NDEFMessage.uri(Self.link).records + NDEFMessage.uri(Self.link).records)
    let failed = await #expect(throws: BusError.self) { try await handleTag(try two.encoded()) }
    #expect(failed?.message == NFCReaderError(.readerErrorInvalidParameter).localizedDescription)
    serving.cancel()
  }

  @Test func `a second instance, an invalid id and the end of the bus are errors of this module`() async throws {
    let serving = try await serve { _ in true }
    let address = BusAddress(bus.address)
    let second = await #expect(throws: NFCReaderError.self) {
      try await NFCUserActivityHandler.serve(Self.id, on: address) { _ in true }
    }
    #expect(second?.code == .readerSessionInvalidationErrorSystemIsBusy)
    let invalid = await #expect(throws: NFCReaderError.self) {
      try await NFCUserActivityHandler.serve("no-bus-name", on: address) { _ in true }
    }
    #expect(invalid?.code == .readerErrorInvalidParameter)
    try await bus.stop()
    let end = await #expect(throws: NFCReaderError.self) { try await serving.value }
    #expect(end?.code == .readerSessionInvalidationErrorSessionTerminatedUnexpectedly)
  }
}
