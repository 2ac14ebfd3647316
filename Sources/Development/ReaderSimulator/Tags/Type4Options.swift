/// The parameters of a Type 4 tag: its description of itself, and how it stores its message.
package struct Type4Options: Sendable, Hashable {
  /// The major version of the mapping. Version 2 has lengths of two bytes, version 3 of four.
  package var mappingVersion = 2
  /// Whether everyone may write the capability container and so lock the tag. A DESFire or NTAG 424 does not allow it.
  package var containerIsWritable = false
  /// The most bytes that one READ BINARY returns.
  package var maximumRead = 59
  /// The most bytes that one UPDATE BINARY accepts.
  package var maximumWrite = 52
  /// The bytes of the NDEF file, including its length field; nil for as many as the message needs, but at least 256.
  package var fileSize: Int?
  /// A false length for the length field of the NDEF file; nil for the true one.
  package var declaredLength: Int?
  /// Whether the capability container forbids writing.
  package var isReadOnly = false
  /// The answer to select, starting with its length byte. A wrong length byte is sent as it is: libnfc crashes on a 0.
  package var ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
  /// SAK. Bit 6 means that the tag speaks ISO/IEC 14443-4.
  package var sak: UInt8 = 0x20

  /// Whether REQA and WUPA end the block protocol. A card that follows the standard ignores them there. The tools of
  /// libfreefare leave a card in the block protocol, and can select it again only if this is set.
  package var leavesOnRequest = false
  /// Whether a reader must run anticollision in a cascade level before it can select the tag there. Some clones are
  /// like this: a reader that already knows the UID cannot select them directly.
  package var needsAnticollision = false
  /// How many times the tag asks for more time (S(WTX)) before each answer.
  package var timeExtensions = 0

  /// Whether lengths have four bytes.
  var isExtended: Bool { mappingVersion == 3 }

  /// The parameters of a DESFire in its NDEF configuration.
  package init() {}

  /// The same with a change: `Type4Options { $0.fileSize = 4 }`.
  package init(_ change: (inout Type4Options) -> Void) {
    self.init()
    change(&self)
  }
}
