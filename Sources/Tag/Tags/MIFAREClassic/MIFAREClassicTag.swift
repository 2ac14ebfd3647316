/// NDEF on MIFARE Classic 1K, 4K and Mini (NXP AN1304 and AN1305; the application directory according to AN10787).
///
/// The directory has a public key A, and names the sectors that hold NDEF. These sectors have another public key A.
/// Their data blocks hold the TLV blocks of Type 2. An authentication opens one sector.
struct MIFAREClassicTag: NDEFTag {
  let uid: [UInt8]
  /// Select acknowledge. It determines the number of sectors. Nil if the reader does not report it.
  let sak: UInt8?

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    try access.open(&channel)
    let block = try access.block(&channel)
    try access.require(block.messageAddresses, &channel)
    return access.memory.known(at: block.messageAddresses)
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    try access.open(&channel)
    try access.extend(&channel)
    let block = try access.block(&channel)
    var isWritable = true
    for sector in access.sectors where isWritable {
      isWritable = try access.trailer(of: sector, .ndef, &channel).letsEverybodyWrite
    }
    return NDEFStatus(capacity: NDEFBlock.capacity(bytes: block.addresses.count), isWritable: isWritable)
  }
}
