/// Anything that draws its power from the reader's field and answers frames.
///
/// Type A is here; the other technologies are further conformances, told apart by the frame's modulation.
protocol FieldTag: Sendable {
  /// The field is gone: all that is not in permanent memory is forgotten.
  mutating func losePower()

  /// - Parameter frame: what is on the air; every tag in the field hears every frame.
  /// - Returns: the answer, nil for silence.
  mutating func receive(_ frame: RadioFrame) -> RadioFrame?

  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }

  /// How far what is written now gets; nil where it gets to its end.
  var writeTear: WriteTear? { get set }
}
