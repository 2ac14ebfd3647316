import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct TargetListTests {
  func typeA(_ answer: [UInt8]) throws -> TypeAActivation? {
    guard case .typeA(let tag)? = try TargetList.all(of: answer, .typeA).first else { return nil }
    return tag
  }

  @Test(
    arguments: [
      ([0x00, 0x44, 0x00, 7, 4, 1, 2, 3, 4, 5, 6], .init(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6])),
      (
        [0x03, 0x44, 0x20, 4, 8, 1, 2, 3, 3, 0x75, 0x77],
        .init(atqa: [3, 0x44], sak: 0x20, uid: [8, 1, 2, 3], ats: [3, 0x75, 0x77])
      ),
      ([0x03, 0x44, 0x20, 4, 4, 1, 2, 3, 0], .init(atqa: [3, 0x44], sak: 0x20, uid: [4, 1, 2, 3], ats: [0])),
      // Cascade tags are removed.
      ([0, 0x44, 0, 8, 0x88, 1, 2, 3, 4, 5, 6, 7], .init(atqa: [0, 0x44], sak: 0, uid: [1, 2, 3, 4, 5, 6, 7])),
      (
        [0, 0x44, 0, 12, 0x88, 1, 2, 3, 0x88, 5, 6, 7, 8, 9, 10, 11],
        .init(atqa: [0, 0x44], sak: 0, uid: [1, 2, 3, 5, 6, 7, 8, 9, 10, 11])
      ),
    ] as [([UInt8], TypeAActivation)])
  func `a Type A tag is read`(fields: [UInt8], tag: TypeAActivation) throws {
    #expect(try typeA([1, 1] + fields) == tag)
  }

  @Test(
    arguments: [
      [], [1], [1, 1, 0, 0x44], [1, 1, 0, 0x44, 0], [1, 1, 0, 0x44, 0, 0], [1, 1, 0, 0x44, 0, 7, 1, 2, 3],
      [1, 1, 0, 0x44, 0, 0xFF, 1, 2, 3],
    ] as [[UInt8]])
  func `a truncated list is rejected`(_ answer: [UInt8]) {
    #expect(throws: TargetList.Malformed.self) { try typeA(answer) }
  }

  @Test func `two Type A tags are read`() throws {
    let card: [UInt8] = [0x03, 0x44, 0x20, 4, 8, 1, 2, 3, 3, 0x75, 0x77]
    let plain: [UInt8] = [0x00, 0x44, 0x00, 7, 4, 1, 2, 3, 4, 5, 6]
    for (first, second) in [(card, plain), (plain, card), (card, card)] {
      let tags = try TargetList.all(of: [2, 1] + first + [2] + second, .typeA)
      #expect(tags == [try alone(first), try alone(second)])
    }
    // A wrong length of the first tag may hide the second one. It has no other effect.
    for length in [0, 1, 20, 0xFF] as [UInt8] {
      let liar: [UInt8] = [0x03, 0x44, 0x20, 4, 4, 1, 2, 3, length]
      let tags = try TargetList.all(of: [2, 1] + liar + [2] + plain, .typeA)
      #expect(tags.first?.identifier == [4, 1, 2, 3])
      #expect(tags.count <= 2)
    }
  }

  @Test func `two Type B cards are read`() throws {
    let first: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x51, 0x80, 0x01, 0x00]
    let second: [UInt8] = [0x50, 5, 6, 7, 8, 0, 0, 0, 0, 0x00, 0x51, 0x80, 0x02, 0x00, 0x07]
    for (one, other) in [(first, second), (second, first)] {
      let tags = try TargetList.all(of: [2, 1] + one + [2] + other, .typeB)
      #expect(tags == [try alone(one, .typeB), try alone(other, .typeB)])
    }
    // A second card that is truncated or missing is left out.
    for rest in [[], [2], [2] + first.dropLast()] as [[UInt8]] {
      #expect(try TargetList.all(of: [2, 1] + first + rest, .typeB) == [try alone(first, .typeB)])
    }
    #expect(throws: TargetList.Malformed.self) { try TargetList.all(of: [2, 1] + first.dropLast() + [], .typeB) }
  }

  private func alone(_ fields: [UInt8], _ modulation: Modulation = .typeA) throws -> TagActivation {
    try #require(try TargetList.all(of: [1, 1] + fields, modulation).first)
  }
}
