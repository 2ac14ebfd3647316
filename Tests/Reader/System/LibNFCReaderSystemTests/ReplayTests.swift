import EventLoop
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import LibNFCReaderTests
@testable import ReaderSimulator

/// A tap that was recorded comes again, through the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReplayTests {
  @Test(arguments: TagKind.ofPN53x)
  func `a recorded tap comes again, without a tag`(kind: TagKind) async throws {
    let recorder = try await ReaderRig.scanning()
    let trace = try await recorder.record {
      try await recorder.place(try kind.make(uri("https://example.com/\(kind)")))
      _ = try await recorder.message()
    }
    let rig = try await ReaderRig(recording: TraceReplay(trace))
    try await rig.scan(true)
    let report = try await rig.tag()
    let tap = try #require(trace.lazy.compactMap { if case .tap(let tap) = $0.event { tap } else { nil } }.first)
    #expect(report.placement.technology.rawValue == tap.type && report.placement.uid == tap.uid)
    #expect(report.content == .message(try #require(tap.message)))
    #expect(await rig.simulator.tags.isEmpty)
  }

  /// libnfc's error for a chip that answers no more, and the one for a frame that it does not understand.
  @Test(arguments: [(-6, "does not answer any more"), (-1, "was unplugged or stopped working")])
  func `a recorded failure of the reader comes again`(result: Int, reason: String) async throws {
    let lines = [
      #""trace":1"#, #""t":0.1,"to":"3205000100","from":"","ms":5"#, #""t":0.2,"to":"4A0100","from":"00","ms":9"#,
      #""t":0.4,"to":"4A0100","result":\#(result)"#,
    ]
    let rig = try await ReaderRig(recording: try TraceReplay(Array(lines.map { "{\($0)}\n" }.joined().utf8)))
    await rig.setScanning(true)
    #expect(try await rig.failed().hasSuffix(reason))
  }

  /// The chip finds it as published. The contents are simulated.
  @Test(arguments: [
    ChipCapture.serialType2, .clone, .spiClassic, .cardWithoutATS, .dualCard, .ntag424,
  ])
  func `a published tag is read through libnfc`(capture: ChipCapture) async throws {
    let (type, digits) = try #require(capture.tag)
    let uid = try #require(Hexadecimal.bytes(digits))
    let message = try uri("https://example.com/\(capture)")
    let rig = try await ReaderRig(recording: Capture.replay(capture.rawValue))
    let tag: SimulatedTag =
      switch type {
      case .type2: try .type2(.ntag215, message: message, uid: .fixed(uid))
      case .mifareClassic: try .mifareClassic(.classic1K, message: message, uid: .fixed(uid))
      default: try .type4(message: message, uid: .fixed(uid))
      }
    try await rig.place(tag)
    try await rig.scan(true)
    let report = try await rig.tag()
    #expect(report.placement.technology == type && report.placement.uid == uid)
    #expect(report.content == .message(message))
    let looks = await rig.simulator.remainingRecording.filter { line in
      if case .exchange(let exchange) = line { exchange.command == [0x4A, 0x01, 0x00] } else { false }
    }
    #expect(looks.isEmpty, "the tag was not found as published")
  }

  @Test func `a published chip that libnfc cannot open is named as failing`() async throws {
    let rig = try await ReaderRig(recording: Capture.replay(ChipCapture.unopenable.rawValue))
    let device = await rig.simulator.connectionString
    let reason = try await rig.failed()
    #expect(reason.hasPrefix("\(device) does not answer; check that"), "\(reason)")
  }
}
