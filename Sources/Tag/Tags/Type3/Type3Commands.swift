/// The commands of JIS X 6319-4 that a Type 3 tag supports, for the NDEF services.
extension TagChannel {
  /// Check, READ WITHOUT ENCRYPTION. Takes the numbers of 1 to 15 blocks. Returns 16 bytes per block; nil if the tag
  /// refuses.
  mutating func check(_ blocks: some Collection<Int>, _ idm: [UInt8]) throws(TagWriteError) -> [UInt8]? {
    let answer = try send(0x06, idm, service: [0x0B, 0x00], blocks)
    guard answer.count > 2, answer[0] == 0x00, answer[1] == 0x00 else { return nil }
    let data = answer.dropFirst(3)
    guard answer[2] == blocks.count, data.count == blocks.count * 16 else { return nil }
    return Array(data)
  }

  /// Update, WRITE WITHOUT ENCRYPTION. A card writes all blocks or none. Takes 16 bytes per block, for 1 to 12 blocks.
  /// Fails with a problem if the tag refuses.
  mutating func update(from first: Int, _ data: [UInt8], _ idm: [UInt8]) throws(TagWriteError) {
    let answer = try send(0x08, idm, service: [0x09, 0x00], first..<first + data.count / 16, data)
    // 71h means that the write succeeded, but the memory has exceeded its specified number of writes.
    guard answer.count >= 2, answer[0] == 0x00 && answer[1] == 0x00 || answer[1] == 0x71 else {
      throw .refused(.unsupported, "the tag refuses to be written")
    }
  }

  /// Returns the answer without the response code and the identifier.
  private mutating func send(
    _ command: UInt8, _ idm: [UInt8], service: [UInt8], _ blocks: some Collection<Int>, _ data: [UInt8] = []
  ) throws(TagWriteError) -> [UInt8] {
    let list = blocks.flatMap { block -> [UInt8] in
      // Block numbers from 256 on take three bytes, with the low byte of the number first.
      block < 0x100 ? [0x80, UInt8(truncatingIfNeeded: block)] : [0x00] + block.bytes(2).reversed()
    }
    let count = UInt8(truncatingIfNeeded: blocks.count)
    let answer = try ask([command] + idm + [0x01] + service + [count] + list + data)
    guard answer.count >= 9, answer[0] == command + 1, Array(answer[1...8]) == idm else {
      throw .channel(TagChannelError(.transmission, "the answer is of another command or another tag"))
    }
    return Array(answer[9...])
  }
}
