import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Type 1 tags whose capability container or control TLVs contradict the chip.
@Suite struct Type1BoundsTests {
  private static let claims: [UInt8] = [0x00, 0x01, 0x0B, 0x0D, 0x0E, 0x0F, 0x10, 0x3F, 0x40, 0x80, 0xFF]

  /// A tag with an empty message behind the control TLV, and a pattern in the rest of the user's memory.
  private static func image(_ model: Type1Model, _ claim: UInt8, _ control: [UInt8]) throws -> [UInt8] {
    let size = model == .topaz96 ? 90 : 460
    let contents = control + [0x03, 3, 0xD0, 0, 0, 0xFE]
    var image = try SimulatedTag.type1(
      model, contents: contents + [UInt8](repeating: 0x5A, count: size - contents.count)
    ).memory
    image[10] = claim
    return image
  }

  /// Control TLVs of both kinds, for bytes all over the memory.
  private static let controls: [[UInt8]] =
    [[]]
    + stride(from: 0, through: 0xFF, by: 17).flatMap { place in
      [(0x30, 0x33), (0x00, 0x33), (0x08, 0x34)].flatMap { (count: UInt8, page: UInt8) in
        [0x01, 0x02].map { [$0, 3, UInt8(place), count, page] }
      }
    }

  /// The addresses whose bytes an operation has changed.
  private func changes(
    _ model: Type1Model, _ image: [UInt8], _ operation: (inout TargetChannel) throws -> Void
  ) throws -> (addresses: [Int], memory: [UInt8], isDone: Bool) {
    let reader = try OpenReader()
    let id = reader.place(try .type1(model, memory: image))
    var channel = try reader.select(.jewel)
    let isDone = (try? operation(&channel)) != nil
    let memory = reader.memory(of: id) ?? []
    return (zip(image, memory).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset), memory, isDone)
  }

  @Test(arguments: Type1Model.all)
  func `no claim lets a write leave the user's memory`(model: Type1Model) throws {
    let user = Set(Array(12..<104) + (model == .topaz96 ? [] : Array(128..<512)))
    for claim in Self.claims {
      for control in claim == 0x3F ? Self.controls : [[]] {
        let image = try Self.image(model, claim, control)
        let result = try changes(model, image) { channel in
          let message = ndefMessage(ofSize: max(3, try channel.tag.queryNDEF(over: &channel).capacity))
          try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
        }
        #expect(user.isSuperset(of: result.addresses), "\(claim), \(control): \(result.addresses)")
        #expect(result.isDone || result.addresses.isEmpty, "\(claim), \(control)")
      }
    }
  }

  @Test(arguments: Type1Model.all)
  func `no claim makes a lock incomplete or change a message`(model: Type1Model) throws {
    let locks = Set([11, 112, 113] + (model == .topaz96 ? [] : Array(122..<128)))
    for (claim, control) in Self.claims.map({ ($0, []) }) + Self.controls.map({ (0x3F, $0) }) {
      let image = try Self.image(model, claim, control)
      let result = try changes(model, image) { try $0.tag.lockNDEF(over: &$0) }
      #expect(locks.isSuperset(of: result.addresses), "\(claim), \(control): \(result.addresses)")
      #expect(!result.isDone || locks.allSatisfy { result.memory[$0] != 0 }, "\(claim), \(control)")
      guard result.isDone else { continue }
      #expect(result.memory[112] == 0xFF && result.memory[113] & 0x1F == 0x1F)
      #expect(model == .topaz96 || result.memory[122..<128].allSatisfy { $0 == 0xFF })
    }
  }
}
