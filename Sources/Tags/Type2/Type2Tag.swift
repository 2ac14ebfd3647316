/// NFC Forum Type 2 Tag Operation Specification 1.1.
///
/// Page 3 is the capability container. A sequence of TLV blocks begins in page 4. The first READ, from page 3, returns
/// the container and the first 12 bytes behind it.
struct Type2Tag: NDEFTag {
  /// The first byte identifies the manufacturer. All bytes together identify the tag's first page.
  let uid: [UInt8]

  func readBytes(
    over channel: inout some TagChannel
  ) throws(TagChannelError) -> Result<[UInt8], TagProblem> {
    var access = Type2Access(uid: uid)
    let content = try Self.content(&access, &channel)
    try access.close(&channel)
    return content
  }

  private static func content(
    _ access: inout Type2Access, _ channel: inout some TagChannel
  ) throws(TagChannelError) -> Result<[UInt8], TagProblem> {
    return try Result { () throws(TagStop) in
      try access.open(from: 3, &channel)
      let block = try access.block(&channel)
      try access.require(block.messageAddresses, &channel)
      return access.memory.known(at: block.messageAddresses)
    }
  }
}
