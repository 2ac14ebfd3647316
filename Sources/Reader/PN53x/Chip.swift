/// The chip cannot be used any more, and its device has to be closed.
package struct ChipFailure: Error {
  package let reason: String
  /// Whether the device's setup, which switches the field on, has begun but not finished.
  package var isFieldInDoubt: Bool

  package init(reason: String, isFieldInDoubt: Bool = false) {
    self.reason = reason
    self.isFieldInDoubt = isFieldInDoubt
  }
}

/// The result of a command, if the chip is alive.
package enum ChipAnswer {
  case bytes([UInt8])
  /// The chip got no answer from the tag.
  case silence
  /// The tag does not have that key.
  case wrongKey
  /// Any other result, with libnfc's number for it.
  case refused(Int32)
}

/// The commands of a PN53x for an exchange with the selected tag.
package protocol Chip {
  /// Sends a command to the selected tag with the firmware's method for its kind (UM0701-02, 7.3.8).
  func exchange(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer

  /// Sends a raw frame to the selected tag. The chip adds the CRC and removes it from the answer (UM0701-02, 7.3.9).
  func communicateThru(_ frame: [UInt8]) throws(ChipFailure) -> ChipAnswer

  /// Sets how long the chip waits for a tag's answer to a raw frame (RFConfiguration, item 2). Code n means
  /// 100 µs × 2^(n − 1). The chip starts with 0A, 51.2 ms.
  func setAnswerTimeout(code: UInt8) throws(ChipFailure)

  /// Reads registers of the chip in the given order (UM0701-02, 7.2.4). Returns one byte for each address, and none if
  /// the chip refuses.
  func readRegisters(_ addresses: [UInt16]) throws(ChipFailure) -> [UInt8]

  /// Writes registers of the chip in the given order (UM0701-02, 7.2.5).
  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(ChipFailure)
}
