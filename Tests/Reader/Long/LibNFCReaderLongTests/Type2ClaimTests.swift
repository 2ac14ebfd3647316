import Testing

@testable import LibNFCReaderTests
@testable import ReaderSimulator

/// Every claim of a container, on every model and on copies of it by another manufacturer, and every place that a
/// control TLV can name.
@Suite struct Type2ClaimTests {
  private let bounds = Type2Bounds(claims: Array(UInt8.min...UInt8.max), step: 1)

  @Test(arguments: Type2Bounds.models)
  func `with any claim, only the memory of the user changes`(model: SimulatedType2Model) throws {
    try bounds.checkControls(model)
    for model in [model, model.copied(knowsVersion: true), model.copied(knowsVersion: false)] {
      try bounds.checkWrites(model)
      try bounds.checkLocks(model)
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `with any claim and control TLVs, only the memory of the user changes`(seed: UInt64) throws {
    try bounds.checkSample(1_000, seed: seed)
  }
}
