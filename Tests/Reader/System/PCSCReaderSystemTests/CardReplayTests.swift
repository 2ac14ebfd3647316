import Names
import ReaderProtocol
import TestKit
import Testing

@testable import LibNFCReaderTests
@testable import ReaderSimulator

/// A tap that was recorded comes again, through the real pcscd.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardReplayTests {
  @Test(arguments: TagKind.allCases)
  func `a recorded tap comes again, without a card`(kind: TagKind) async throws {
    let model: CardReaderModel = kind == .type5 ? .acr1552U : .acr122U
    let recorder = try await CardReaderRig.scanning(model)
    let trace = try await recorder.record {
      let card = try await recorder.insert(try kind.make(uri("https://example.com/\(kind)")))
      _ = try await recorder.message()
      await recorder.remove(card)
      _ = try await recorder.removal()
    }
    let rig = try await replay(TraceReplay(trace))
    #expect(rig.name.hasPrefix(model.friendlyName))
    let report = try await rig.tag()
    let tap = try #require(trace.lazy.compactMap { if case .tap(let tap) = $0.event { tap } else { nil } }.first)
    #expect(report.placement.technology.rawValue == tap.type && report.placement.uid == tap.uid)
    #expect(report.content == .message(try #require(tap.message)))
    #expect(try await rig.removal() == report.placement.number)
  }

  /// Its contents were not published.
  @Test(arguments: CardCapture.allCases.filter { $0.card != nil })
  func `a published card is announced through pcscd`(capture: CardCapture) async throws {
    let rig = try await replay(Capture.replay(capture.rawValue))
    let (report, card) = (try await rig.tag(), try #require(capture.card))
    #expect(report.placement.technology == card.type && report.placement.uid == Hexadecimal.bytes(card.uid))
    if case .message(let message) = report.content { Issue.record("\(message)") }
  }

  @Test func `a published card without power is announced through pcscd`() async throws {
    let report = try await replay(Capture.replay(CardCapture.mute.rawValue)).tag()
    #expect(report.problem?.hasPrefix("damaged: the reader finds the card but cannot give it power") == true)
  }

  @Test func `a card that the recorded reader gave no power comes again`() async throws {
    let rig = try await replay(
      try trace(
        #""device":"pcsc:ACS ACR122U PICC Interface 00 00""#, #""slot":66082"#,
        #""call":"transmit","to":"FF00400004","from":"9000""#, #""slot":131088"#))
    let report = try await rig.tag()
    #expect(
      report.problem == "damaged: the reader finds the card but cannot give it power; hold it to the reader again")
    // The recorded program has sent a command since, which this one does not send.
    #expect(await rig.readers.nextRecordedChange())
    #expect(try await rig.removal() == report.placement.number)
  }

  /// The card that follows is read.
  @Test func `a recorded removal in the middle of reading is no tap`() async throws {
    let atr = "3B8F8001804F0CA0000003060300030000000068"
    let page = "E1103E000300FE000000000000000000"
    let rig = try await replay(
      try trace(
        #""device":"pcsc:Example Contactless 00 00""#, #""t":0,"slot":65570,"atr":"\#(atr)""#,
        #""t":0.1,"call":"transmit","to":"FFCA000000","from":"04010203040506079000""#,
        #""t":0.2,"call":"transmit","to":"FFB0000310","result":"80100069""#, #""t":0.2,"slot":131088"#,
        #""t":0.5,"slot":196642,"atr":"\#(atr)""#,
        #""t":0.6,"call":"transmit","to":"FFCA000000","from":"049999999999999000""#,
        #""t":0.7,"call":"transmit","to":"FFB0000310","from":"\#(page)9000""#, #""t":5,"slot":262160"#))
    let report = try await rig.tag()
    #expect(report.placement.uid == [0x04, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99])
    #expect(report.isBare, "\(report)")
    #expect(rig.announced.count == 1)
  }

  private func trace(_ lines: String...) throws -> TraceReplay {
    try TraceReplay(Array((["\"trace\":1"] + lines).map { "{\($0)}\n" }.joined().utf8))
  }

  /// A reader that scans before the first recorded card comes.
  private func replay(_ recording: TraceReplay) async throws -> CardReaderRig {
    let rig = try await CardReaderRig.scanning(.recorded(as: try #require(recording.readerName)))
    await rig.readers.replay(recording, in: rig.slot)
    return rig
  }
}
