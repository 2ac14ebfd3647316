/// One placement of a tag on the simulated reader. A tag that is removed and placed again gets a new id.
package struct TagID: Hashable, Sendable, CustomStringConvertible {
  let number: UInt64

  /// The number of the placement, from 1.
  package var description: String { "\(number)" }
}
