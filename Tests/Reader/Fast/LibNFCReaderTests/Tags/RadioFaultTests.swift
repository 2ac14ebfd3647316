import ReaderSimulator
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
