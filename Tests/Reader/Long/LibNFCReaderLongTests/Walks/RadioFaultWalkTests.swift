import ReaderSimulator
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests

/// Each kind of radio fault at every exchange of other kinds of tags than `RadioFaultTests` has.
@Suite struct RadioFaultWalkTests {
  /// Kinds of tags, with the size of their messages. Reading or writing such a message takes several exchanges.
  private static let samples: [(TagSample, Int)] = [
    (.type1(.topaz96), 12), (.type1(.topaz512), 120), (.type2(.ultralight), 40), (.sectors(before: 20), 40),
    (.type3(.standardWithSeveralSystems, .felica424), 400), (.type4(.typeB), 150),
    (.classic(.mini, sectors: [1, 2]), 60), (.classic(.classic4K, sectors: [15, 17]), 60),
  ]

  @Test(arguments: samples) func `the attempt after a fault has the right result`(tag: TagSample, size: Int) throws {
    let (message, old) = (ndefMessage(ofSize: size), ndefMessage(ofSize: size - 3, filledWith: 0x42))
    let faults = TearWalk.Accident.radioFaults
    #expect(try tag.walk(message, faults).reading(message).findings == [])
    #expect(try tag.walk(old, faults).writing(message, over: old).findings == [])
    #expect(try tag.walk(message, faults).locking(message).findings == [])
  }
}
