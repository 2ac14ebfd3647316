import Bus
import EventLoop
import Glibc
import Names
import ReaderSimulator
import TagrouteClient
import TestKit

/// The time of calls to a tag over Core NFC, next to the same calls over TagrouteClient. Then the start-up and the size
/// of programs that use one or the other. Daemon, reader process and libnfc are real, with the timing of a real PN532.
struct CoreNFCBenchmark {
  /// How many sessions have each form of each call.
  let sessions: Int
  private let callsPerSession = 25
  private let starts = 100

  /// How a program makes a call.
  private enum Form: String, CaseIterable {
    case client = "TagrouteClient"
    case handler = "CoreNFC, completion handler"
    case async = "CoreNFC, async"
  }

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ProgramCost.programs)
    let reader = try await SimulatedReader.start(timing: .realistic, clock: MachineClock())
    let installation = try await Installation()
    guard symlink(await reader.path, installation.directory.file("reader")) == 0 else {
      throw SystemError("make a link to the simulated reader")
    }
    // A program cannot tell Core NFC which bus to use.
    guard setenv("DBUS_SYSTEM_BUS_ADDRESS", installation.systemBus.address, 1) == 0 else {
      throw SystemError("set an environment variable")
    }
    let address = BusAddress(installation.systemBus.address)
    let polkit = try await PolkitStandIn.start(
      on: address, allowing: [Names.PolkitAction.readTags, Names.PolkitAction.writeTags])
    try await installation.startDaemon()
    try await installation.startAgent()
    try await installation.waitUntilScanning()

    let rig = Rig(reader: reader, address: address, loop: EventLoop(label: "client"))
    for kind in TagCall.allCases { results += try await measure(kind, rig) }
    results += try await ProgramCost(installation: installation).measure(starts: starts)
    await polkit.stop()
    await installation.stop()
    await reader.stop()
  }

  /// Measures one call in all forms. Their sessions take turns, so that all of them meet the same load.
  private func measure(_ kind: TagCall, _ rig: Rig) async throws -> [Results.Series] {
    let forms = Form.allCases
    var times: [Form: [Duration]] = [:]
    for number in 0..<sessions {
      // Another form comes first each time.
      for offset in forms.indices {
        let form = forms[(number + offset) % forms.count]
        times[form, default: []] += try await rig.times(of: kind, form, callsPerSession)
      }
    }
    return forms.map { .init("time", times[$0, default: []], ["Call": kind.name, "Over": $0.rawValue]) }
  }

  private struct Rig {
    let reader: SimulatedReader
    let address: BusAddress
    /// The thread of the connections of TagrouteClient. Core NFC has one for its connections, too.
    let loop: EventLoop

    /// Measures calls of one session, from the call until the program has the answer.
    func times(of kind: TagCall, _ form: Form, _ calls: Int) async throws -> [Duration] {
      let session: any CallingSession =
        switch form {
        case .client: try await ClientSession(kind, on: address, loop: loop)
        case .handler: CoreNFCSession(kind, usesHandler: true)
        case .async: CoreNFCSession(kind, usesHandler: false)
        }
      try await session.activation()
      await reader.place(try kind.makeTag())
      try await session.detection()
      // For the first call, the reader also selects the tag.
      _ = try await session.call()
      var times: [Duration] = []
      for _ in 0..<calls {
        let begun = ContinuousClock.now
        let answered = try await session.call()
        times.append(answered - begun)
      }
      // Before the end of the session, because scanning would find the tag after it.
      await reader.removeAll()
      try await session.end()
      return times
    }
  }
}

/// A call to a tag that Core NFC and TagrouteClient both have.
enum TagCall: CaseIterable, Sendable {
  /// Reads a message of 37 bytes from an NTAG215.
  case message
  /// READ of four pages of an NTAG215, as a raw command.
  case pages
  /// SELECT of the NDEF application of a Type 4A card. Its answer does not depend on the commands before.
  case selection

  /// The name in the tables.
  var name: String {
    switch self {
    case .message: "readNDEF, NTAG215, 37 bytes"
    case .pages: "sendMiFareCommand, READ of an NTAG215"
    case .selection: "sendCommand, SELECT on a Type 4A card"
    }
  }

  /// READ from page 4 (NTAG213/215/216 data sheet, 10.2).
  static let read: [UInt8] = [0x30, 0x04]
  /// The NDEF application (Type 4 Tag Technical Specification).
  static let application: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
  /// SELECT of that application by its name (ISO/IEC 7816-4, 11.2.2).
  static let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, UInt8(application.count)] + application + [0x00]

  /// What a session of Core NFC for this call asks the daemon for. With the same options, the reader looks for the same
  /// tags in a session of TagrouteClient.
  var options: ReaderSessionOptions {
    switch self {
    case .message:
      ReaderSessionOptions(
        access: .write, technologies: ["type-1", "type-2", "type-3", "type-4a", "type-4b", "type-5"])
    case .pages, .selection:
      ReaderSessionOptions(
        access: .write, technologies: ["type-2", "type-4a", "type-4b"], applicationIdentifiers: [Self.application],
        reportsUndeclaredCards: true)
    }
  }

  func makeTag() throws -> SimulatedTag {
    let message = try BenchmarkTag.message(size: 37)
    return switch self {
    case .message, .pages: try .type2(.ntag215, message: message)
    case .selection: try .type4(message: message)
    }
  }
}
