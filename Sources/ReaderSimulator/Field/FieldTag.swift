/// A tag that draws its power from the reader's field and answers frames.
///
/// Each technology has its own conforming types, which recognise their frames by the modulation.
protocol FieldTag: Sendable {
  /// The field is off: the tag forgets everything outside its permanent memory.
  mutating func losePower()

  /// - Parameter frame: the frame on the air. Every tag in the field receives every frame.
  /// - Returns: the answer; nil for silence.
  mutating func receive(_ frame: RadioFrame) -> RadioFrame?

  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }

  /// How far further writes get before the tag loses its power; nil if they complete.
  var writeTear: WriteTear? { get set }
}
