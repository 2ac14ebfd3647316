/// The capability container at the start of block 0 (NFC Forum Type 5 Tag Technical Specification 1.0).
///
/// | Byte | Contents |
/// |---|---|
/// | 0 | E1: all block numbers have one byte; E2: those from 256 on have two |
/// | 1 | bits 7 and 6: major version; 5 and 4: minor; 3 and 2: read access; 1 and 0: write access |
/// | 2 | the size of the data area in units of eight bytes; 0: it is in bytes 6 and 7, and the container has eight |
/// | 3 | bit 0: READ MULTIPLE BLOCKS; bit 3: LOCK BLOCK; bit 4: special frame format |
///
/// An access of 0 means everybody. A write access of 3 means nobody.
struct Type5Container {
  /// The first four bytes, or more.
  private let bytes: [UInt8]

  /// `bytes` are block 0, with at least four bytes. Fails with a problem if it is not the start of a container, or if
  /// the tag does not let everybody read it.
  init(_ bytes: [UInt8]) throws(TagWriteError) {
    self.bytes = bytes
    guard bytes[0] == 0xE1 || bytes[0] == 0xE2 else { throw Self.absence }
    guard bytes[1] >> 6 == 1 else {
      throw .refused(.unsupported, "it is formatted for mapping version \(bytes[1] >> 6) of Type 5")
    }
    guard bytes[1] & 0x0C == 0 else {
      throw .refused(.unsupported, "the tag does not let everybody read it")
    }
  }

  /// Why a tag without a container cannot be read.
  static let absence = TagWriteError.refused(.notNDEF, "there is no capability container in block 0")

  /// The size of the container, in bytes.
  var size: Int { bytes[2] == 0 ? 8 : 4 }

  /// The size of the data area behind the container, in bytes. The tag may be smaller. `memory` begins with the whole
  /// container.
  func dataSize(_ memory: [UInt8]) -> Int { 8 * (size == 8 ? memory[6...7].bigEndian : Int(memory[2])) }

  /// The number of blocks that have a number.
  var mostBlocks: Int { bytes[0] == 0xE1 ? 0x100 : 0x1_0000 }
  /// Whether anyone may write.
  var isWritable: Bool { bytes[1] & 0x03 == 0 }
  /// Whether nobody may write.
  var isReadOnly: Bool { bytes[1] & 0x03 == 3 }
  var hasReadMultiple: Bool { bytes[3] & 0x01 != 0 }
  /// Whether the tag supports LOCK BLOCK. Most programs that format a tag do not set this bit, because only a lock,
  /// which is permanent, could tell.
  var hasLock: Bool { bytes[3] & 0x08 != 0 }
  /// Whether write and lock requests need the option flag.
  var isSpecial: Bool { bytes[3] & 0x10 != 0 }
}
