/// One placement of a tag on the simulated reader: a tag that is taken away and put back has a new one.
public struct TagID: Hashable, Sendable, CustomStringConvertible {
  let number: UInt64

  /// The number of the placement, from 1.
  public var description: String { "\(number)" }
}
