import Names
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// A report leaves out what a client has sent to a card. It knows that by the mark of a session in the trace.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionTraceTests {
  @Test func `a command whose answer comes after the end of its session is marked`() async throws {
    let application: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
    let command = try hex("00CA010100")
    let rig = try await CardReaderRig.scanning()
    let lines = try await rig.record {
      try await rig.begin(TagSessionOptions(number: 1, applicationIdentifiers: [application]))
      let card = try await rig.finds(.applicationCard()).tag
      await rig.add(.hold())
      await rig.ask(.transceive(command, timeout: 5000), card)
      try await rig.isHolding()
      try await rig.end()
      await rig.readers.release(rig.slot)
      // The next session finds its card after the call has ended.
      try await rig.begin(TagSessionOptions(number: 2, applicationIdentifiers: [application]))
      _ = try await rig.sessionTag()
    }
    let marks = lines.compactMap { line in
      if case .exchange(let exchange) = line.event, exchange.command == command { exchange.isOfSession } else { nil }
    }
    #expect(marks == [true])
  }
}
