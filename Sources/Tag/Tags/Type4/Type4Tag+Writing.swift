/// Writing: the length is set to zero, then the message is written, then its length.
extension Type4Tag {
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    let file = try openContainer(&channel)
    guard file.isWritable else { throw .readOnly }
    guard message.count <= file.capacity else { throw .tooLong(capacity: file.capacity) }
    let far = DataObject.roomBehindOffset(in: file.mostWritten)
    // The length must fit into one command. Between two commands, the tag would have a third, wrong length.
    guard file.mostWritten >= file.lengthSize,
      far >= 1 || message.count + file.lengthSize <= Type4File.farthestOffset + 1
    else { throw .refused(.unsupported, "the card takes too few bytes at once") }
    guard try channel.select(file.identifier) else { throw .refused(.damaged, "the NDEF file is not there") }
    try update(0, 0.bytes(file.lengthSize), &channel)
    var offset = 0
    while offset < message.count {
      let position = file.lengthSize + offset
      let most = position > Type4File.farthestOffset ? far : file.mostWritten
      let piece = Array(message[offset..<min(offset + most, message.count)])
      try update(position, piece, &channel)
      offset += piece.count
    }
    // The length and the message are never written together, even if both are short. A card that is removed may have
    // stored any part of a command.
    if !message.isEmpty { try update(0, message.count.bytes(file.lengthSize), &channel) }
  }

  /// Forbids writing in the capability container, if the card lets anyone change it (section 5.5). This is permanent. A
  /// card that enforces the setting refuses all further writes.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    let file = try openContainer(&channel)
    guard file.isWritable else { throw .readOnly }
    let status = try channel.update(file.writeAccessOffset, [0xFF])
    guard status == 0x9000 else {
      throw .cannotLock(
        "the card lets only its owner make it read-only, with keys that are not known here (it answered \(hex(status)))"
      )
    }
    let access = try channel.read(file.writeAccessOffset, 1)
    guard access == [0xFF] else {
      throw .cannotLock("the card accepted to be made read-only, and is not")
    }
  }

  private func update(_ offset: Int, _ data: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) {
    let status = try channel.update(offset, data)
    guard status == 0x9000 else {
      throw .refused(.unsupported, "the card refuses to be written (it answered \(hex(status)))")
    }
  }

  /// Four hexadecimal digits.
  private func hex(_ status: Int) -> String {
    let digits = String(status, radix: 16)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
