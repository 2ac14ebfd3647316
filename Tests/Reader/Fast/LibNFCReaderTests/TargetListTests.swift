import ReaderSimulator
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

/// Target lists of the chip for technologies other than Type A.
@Suite struct TargetListTechnologyTests {
  private static let polled: [UInt8] = [0x01, 0x01, 0x2E, 1, 2, 3, 4, 5, 6, 0x00, 0xF1, 0, 0, 0, 1, 0x43, 0x00]
  private static let atqb: [UInt8] = [0x50, 1, 2, 3, 4, 5, 6, 7, 8, 0x00, 0x51, 0x80]

  private func target(_ fields: [UInt8], _ modulation: Modulation) throws -> TagActivation? {
    try TargetList.all(of: [1, 1] + fields, modulation).first
  }

  @Test(arguments: Modulation.allCases) func `an empty list has no target`(modulation: Modulation) throws {
    #expect(try TargetList.all(of: [0], modulation).first == nil)
    #expect(throws: TargetList.Malformed.self) { try TargetList.all(of: [], modulation).first }
  }

  @Test(arguments: [(Modulation.felica212, 212), (.felica424, 424)])
  func `a FeliCa card is read with its system code`(modulation: Modulation, bitRate: Int) throws {
    let idm: [UInt8] = [0x01, 0x2E, 1, 2, 3, 4, 5, 6]
    let pmm: [UInt8] = [0x00, 0xF1, 0, 0, 0, 1, 0x43, 0x00]
    #expect(
      try target([20] + Self.polled + [0x12, 0xFC], modulation)
        == .felica(FeliCaActivation(idm: idm, pmm: pmm, systemCode: [0x12, 0xFC], bitRate: bitRate)))
    // Some cards do not support the request for the system code.
    #expect(
      try target([18] + Self.polled, modulation)
        == .felica(FeliCaActivation(idm: idm, pmm: pmm, systemCode: nil, bitRate: bitRate)))
    // Bytes that another target or the chip adds behind the card are not the system code.
    #expect(
      try target([18] + Self.polled + [0x88, 0xB4], modulation)
        == .felica(FeliCaActivation(idm: idm, pmm: pmm, systemCode: nil, bitRate: bitRate)))
  }

  private static let malformedFeliCa: [[UInt8]] = [
    [], [20], [18] + polled.dropLast(), [20] + polled, [20] + polled + [0x12], [19] + polled + [0x12],
    [17] + polled.dropLast(), [0] + polled, [0xFF] + polled + [0x12, 0xFC],
    [20, 0x00] + polled.dropFirst() + [0x12, 0xFC],
  ]
  private static let malformedTypeB: [[UInt8]] = [
    [], [0x50], atqb, atqb.dropLast() + [], atqb + [1], atqb + [2, 0x00], atqb + [0xFF, 0x00],
    [0x51] + atqb.dropFirst() + [1, 0x00],
  ]
  private static let malformedTopaz: [[UInt8]] = [[], [0x00], [0x00, 0x0C], [0x00, 0x0C, 1, 2, 3]]

  @Test(arguments: [
    (Modulation.felica212, malformedFeliCa), (.felica424, malformedFeliCa), (.typeB, malformedTypeB),
    (.jewel, malformedTopaz),
  ])
  func `a malformed target is rejected`(modulation: Modulation, targets: [[UInt8]]) {
    for fields in targets {
      #expect(throws: TargetList.Malformed.self, "\(fields)") { try target(fields, modulation) }
    }
  }

  @Test func `a Type B card and a Topaz tag are read`() throws {
    for response in [[0x00], []] as [[UInt8]] {
      let card = TypeBActivation(
        pupi: [1, 2, 3, 4], applicationData: [5, 6, 7, 8], protocolInfo: [0x00, 0x51, 0x80], attribResponse: response)
      #expect(try target(Self.atqb + [UInt8(response.count)] + response, .typeB) == .typeB(card))
    }
    let topaz = JewelActivation(atqa: [0x00, 0x0C], uid: [0x1A, 2, 3, 4])
    #expect(try target([0x00, 0x0C, 0x1A, 2, 3, 4], .jewel) == .jewel(topaz))
  }

  @Test(arguments: Modulation.allCases) func `random bytes are read as a target or rejected`(modulation: Modulation) {
    var state: UInt64 = 1
    func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
    for _ in 0..<5_000 {
      var answer = (0..<Int(next() % 40)).map { _ in next() }
      if !answer.isEmpty { answer[0] = next() % 3 }
      if answer.count > 3, next() % 2 == 0 { (answer[2], answer[3]) = (next() % 2 == 0 ? 20 : 0x50, 0x01) }
      guard let tag = try? TargetList.all(of: answer, modulation).first else { continue }
      #expect((1...10).contains(tag.identifier.count))
    }
  }
}

/// One of several tags is selected after the field was off.
@Suite struct SelectingTests {
  /// The cards differ only in their identifiers. The chip does not always find the same one first.
  @Test func `one of two Type B cards is selected again`() throws {
    let reader = try OpenReader()
    for last in 1...2 as ClosedRange<UInt8> {
      _ = reader.place(try .type4B(message: [], pupi: .fixed([0x70, 0x11, 0x22, last])))
    }
    let tags = try reader.device.list(.typeB, atMost: 2)
    #expect(tags.count == 2)
    for _ in 1...60 {
      for tag in tags {
        let again = try #require(try reader.device.selectAnew(tag))
        #expect(again.isSameTag(as: tag))
        // The selected card is the one that answers.
        #expect(try reader.device.isCardPresent())
      }
    }
  }

  @Test func `a card with a random PUPI is selected again beside another card of its make`() throws {
    let reader = try OpenReader()
    let fixed = try TagPUPI.fixed([0x70, 0x11, 0x22, 0x33])
    _ = reader.place(try .type4B(message: [], pupi: .random))
    let random = try #require(try reader.device.select(.typeB))
    let id = reader.place(try .type4B(message: [], pupi: fixed))
    #expect(try reader.device.selectAnew(random)?.isAlike(random) == true)
    _ = reader.remove(id)
    let again = try #require(try reader.device.selectAnew(random))
    #expect(again.isAlike(random) && !again.isSameTag(as: random))
  }

  /// Between two commands, the field may be off for less time than a tag keeps its power.
  @Test(arguments: [Modulation.typeA, .felica212])
  func `a tag has lost its power when it is selected again`(modulation: Modulation) throws {
    let reader = try OpenReader(timing: .immediate.keepingPower)
    _ = reader.place(
      try modulation.isFeliCa
        ? .type3(message: [], options: Type3Options(.phone)) : .type4(message: [], uid: .random))
    var tag = try #require(try reader.device.select(modulation))
    for _ in 1...5 {
      let again = try #require(try reader.device.selectAnew(tag))
      #expect(again.identifier != tag.identifier)
      tag = again
    }
  }
}
