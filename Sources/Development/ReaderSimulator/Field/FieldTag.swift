/// A tag that draws its power from the reader's field and answers frames.
///
/// Each technology has its own conforming types, which recognise their frames by the modulation.
protocol FieldTag: Sendable {
  /// The field is off: the tag forgets everything outside its permanent memory.
  mutating func losePower()

  /// The answer to a frame on the air; nil for silence. Every tag in the field receives every frame.
  mutating func receive(_ frame: RadioFrame) -> RadioFrame?

  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }

  /// Sets how far further writes get before the tag loses its power; nil if they complete.
  mutating func tearWrites(_ tear: WriteTear?)
}
