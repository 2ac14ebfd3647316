import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// A chip that sends an answer twice: for its own command, and for the next one of the same kind.
@Suite struct RepetitionTests {
  struct Finding {
    let answer: [UInt8]
    let expected: [UInt8]
    let exchanges: UInt64
    let commands: Int
  }

  /// Reads eight pages, four at a time.
  private func read(_ fault: Fault?, doubts: Bool, _ message: [UInt8] = variedMessage(ofSize: 80)) throws -> Finding {
    let reader = try OpenReader()
    let id = reader.place(try .type2(.ntag213, message: message))
    var channel = try reader.select(.typeA, doubtsRepetitions: doubts)
    _ = reader.takeCounters()
    _ = try channel.exchange([0x30, 6])
    if let fault { reader.add(fault) }
    let answer = try channel.exchange([0x30, 10])
    let memory = reader.memory(of: id) ?? []
    return Finding(
      answer: answer, expected: Array(memory.dropFirst(40).prefix(16)), exchanges: channel.exchanges,
      commands: reader.takeCounters().commands)
  }

  @Test func `an answer that equals the previous one is requested again`() throws {
    let finding = try read(.staleAnswer(), doubts: true)
    #expect(finding.answer == finding.expected)
    #expect(finding.exchanges == 3 && finding.commands == 4)
    // Without the check, the reader process accepts the stale answer.
    let taken = try read(.staleAnswer(), doubts: false)
    #expect(taken.answer != taken.expected)
  }

  @Test func `the same data twice takes one more exchange, and different data none`() throws {
    let different = try read(nil, doubts: true)
    #expect(different.answer == different.expected)
    #expect(different.exchanges == 2 && different.commands == 2)
    let same = try read(nil, doubts: true, ndefMessage(ofSize: 120))
    #expect(same.answer == same.expected)
    #expect(same.exchanges == 3)
  }
}
