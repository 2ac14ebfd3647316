/// NFC Forum Type 2 Tag Operation Specification 1.1.
///
/// Page 3 is the capability container. A sequence of TLV blocks begins in page 4. The first READ, from page 3, returns
/// the container and the first 12 bytes behind it.
struct Type2Tag: NDEFTag {
  /// The first byte identifies the manufacturer. All bytes together identify the tag's first page.
  let uid: [UInt8]

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      try Self.read(&access, &channel).bytes
    }
  }

  /// Reads the message. Returns its bytes, and their addresses.
  private static func read(
    _ access: inout Type2Access, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> (bytes: [UInt8], addresses: ArraySlice<Int>) {
    try access.open(from: 3, &channel)
    let addresses = try access.block(&channel).messageAddresses
    try access.require(addresses, &channel)
    return (access.memory.known(at: addresses), addresses)
  }

  /// The UID or counter that an NTAG may put into the message does not count.
  func holds(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    try opening(&channel) { (access, channel) throws(TagWriteError) in
      let (read, addresses) = try Self.read(&access, &channel)
      guard read != message, read.count == message.count else { return read == message }
      let mirrored = try access.mirroredAddresses(&channel)
      return zip(addresses, zip(read, message)).allSatisfy { $1.0 == $1.1 || mirrored.contains($0) }
    }
  }

  /// Runs `body`, and then leaves the tag in the state in which it was found, unless an exchange failed.
  func opening<Channel: TagChannel, Value>(
    _ channel: inout Channel, _ body: (inout Type2Access, inout Channel) throws(TagWriteError) -> Value
  ) throws(TagWriteError) -> Value {
    var access = Type2Access(uid: uid)
    let result: Result<Value, TagWriteError>
    do throws(TagWriteError) {
      result = .success(try body(&access, &channel))
    } catch {
      if case .channel = error { throw error }
      result = .failure(error)
    }
    try access.close(&channel)
    return try result.get()
  }
}
