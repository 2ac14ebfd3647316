import Testing

@testable import LibNFCReader
@testable import ReaderKit

/// When a session has reported all tags that lie there together, without a chip.
@Suite struct TagRoundTests {
  @Test func `a round ends once every technology was looked for since its first tag`() {
    var round = TagRound([.typeA, .felica212])
    // A look from before the first tag does not count.
    round.looked(for: .felica212)
    #expect(round.settle() == false)
    round.reported()
    #expect(round.settle() == false)
    #expect(round.isOpen)
    round.looked(for: .felica212)
    #expect(round.settle() == false)
    round.looked(for: .typeA)
    #expect(round.settle() == true)
    #expect(!round.isOpen)
    // The next round needs another tag.
    round.looked(for: .felica212)
    round.looked(for: .typeA)
    #expect(round.settle() == false)
  }

  @Test func `a round ends in the step that finds its tag if this step looks for every technology`() {
    var round = TagRound([.typeA, .felica212])
    for modulation in [.typeA, .felica212] as [Modulation] { round.looked(for: modulation) }
    round.reported()
    #expect(round.settle() == true)
  }

  @Test func `looks that were broken off do not count`() {
    var round = TagRound([.typeA, .felica212])
    round.reported()
    round.looked(for: .typeA)
    round.brokeOff()
    round.looked(for: .felica212)
    #expect(round.settle() == false)
    round.looked(for: .typeA)
    #expect(round.settle() == true)
  }
}
