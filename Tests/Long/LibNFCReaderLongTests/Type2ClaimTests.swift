import Testing

@testable import LibNFCReaderTests
@testable import ReaderSimulator

/// Every claim of a container, and every place that a control TLV can name.
@Suite struct Type2ClaimTests {
  private let bounds = Type2Bounds(claims: Array(UInt8.min...UInt8.max), step: 1)

  @Test(arguments: SimulatedType2Model.all)
  func `with any claim, only the memory of the user changes`(model: SimulatedType2Model) throws {
    try bounds.checkWrites(model)
    try bounds.checkLocks(model)
    try bounds.checkControls(model)
  }
}
