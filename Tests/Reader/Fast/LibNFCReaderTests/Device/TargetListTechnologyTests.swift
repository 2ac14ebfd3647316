import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderKit

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
