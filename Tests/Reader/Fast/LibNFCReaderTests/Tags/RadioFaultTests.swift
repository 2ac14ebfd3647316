import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Each kind of radio fault at every exchange, while the tag stays on the reader. The long tests try more kinds of tags.
///
/// Reading returns the message, or it fails and the next attempt returns the message. Writing leaves the old message,
/// the new one or none.
@Suite struct RadioFaultTests {
  /// Kinds of tags, with the size of their messages. Reading or writing such a message takes several exchanges.
  static let samples: [(TagSample, Int)] = [(.type2(.ntag215), 60), (.type3(.liteS), 40), (.type4(.typeA), 150)]
  private let faults = TearWalk.Accident.radioFaults

  @Test(arguments: samples) func `reading returns the message or a temporary failure`(tag: TagSample, size: Int) throws
  {
    let message = ndefMessage(ofSize: size)
    #expect(try tag.walk(message, faults).reading(message).findings == [])
  }

  @Test(arguments: samples) func `writing leaves the old message, the new one or none`(tag: TagSample, size: Int) throws
  {
    let old = ndefMessage(ofSize: size - 3, filledWith: 0x42)
    #expect(try tag.walk(old, faults).writing(ndefMessage(ofSize: size), over: old).findings == [])
  }

  @Test(arguments: samples) func `locking keeps the message`(tag: TagSample, size: Int) throws {
    let message = ndefMessage(ofSize: size)
    #expect(try tag.walk(message, faults).locking(message).findings == [])
  }

  /// The second part of the directory names a sector that the message does not reach. If a radio frame for this part is
  /// lost, locking must not leave that sector writable and report success.
  @Test func `locking leaves no sector writable after lost radio frames`() throws {
    let message = ndefMessage(ofSize: 20)
    let deafness = (1...4).map { times in
      TearWalk.Accident(words: "unheard \(times) times from exchange", leavesTag: true) {
        .radio(.unheard, exchange: $0, times: times)
      }
    }
    let walk = TagSample.classic(.classic4K, sectors: [15, 17]).walk(message, faults + deafness)
    #expect(try walk.locking(message).findings == [])
  }
}

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
