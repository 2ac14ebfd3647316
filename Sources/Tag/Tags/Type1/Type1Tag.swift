/// NFC Forum Type 1 Tag Operation Specification 1.1: Topaz and Jewel.
///
/// Block 1 begins with the capability container. A sequence of TLV blocks follows, without blocks D, E and F. If the
/// tag has only static memory, RALL reads all of it.
struct Type1Tag: NDEFTag {
  /// The four bytes of the UID that commands contain.
  let uid: [UInt8]

  init(_ tag: JewelActivation) { uid = tag.uid }

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    var access = Type1Access(uid: uid)
    try access.open(&channel)
    let block = try access.block(&channel)
    try access.require(block.messageAddresses, &channel)
    return access.memory.known(at: block.messageAddresses)
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    var survey = try Type1Survey(uid, &channel)
    let room = survey.isWritable ? try survey.room(for: survey.block.addresses, &channel) : 0
    let isWritable = survey.isWritable && room >= 2
    return NDEFStatus(
      capacity: NDEFBlock.capacity(bytes: isWritable ? room : survey.block.addresses.count), isWritable: isWritable)
  }
}
