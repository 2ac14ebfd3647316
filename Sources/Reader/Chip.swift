/// The chip cannot be used any more, and its device has to be closed.
struct ChipFailure: Error {
  let reason: String
  /// Whether setting its device up was begun, which switches the field on, and came to no end.
  var isFieldInDoubt = false
}

/// What a command came to, where the chip is alive.
enum ChipAnswer {
  case bytes([UInt8])
  /// The chip did not get through to the tag.
  case silence
  /// The tag does not have that key.
  case wrongKey
  /// Anything else, with libnfc's number for it.
  case refused(Int32)
}

/// What a PN53x does for an exchange with the selected tag.
protocol Chip {
  /// Sends a command to the selected tag, in the way that the chip's firmware has for its kind (UM0701-02, 7.3.8).
  func exchange(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer

  /// Sends a frame to the selected tag as it is; the chip adds the CRC and takes it off the answer (UM0701-02, 7.3.9).
  func communicateThru(_ frame: [UInt8]) throws(ChipFailure) -> ChipAnswer

  /// Sets how long the chip waits for a tag's answer to a frame that is sent as it is (RFConfiguration, item 2).
  /// The code stands for 100 µs times two to the power of one less; the chip starts with 0A, 51.2 ms.
  func setAnswerTimeout(code: UInt8) throws(ChipFailure)

  /// Reads registers of the chip in their order (UM0701-02, 7.2.4).
  ///
  /// - Returns: as many bytes as there are addresses; none where the chip refuses.
  func readRegisters(_ addresses: [UInt16]) throws(ChipFailure) -> [UInt8]

  /// Writes registers of the chip in their order (UM0701-02, 7.2.5).
  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(ChipFailure)
}
