import Names
import Testing

@testable import ReaderProtocol

@Suite struct TagFingerprintTests {
  private static let key = TagFingerprint.Key(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

  /// Test vectors of the reference implementation, with 0, 1, 2, … as the key and the message
  /// (github.com/veorq/SipHash, vectors.h).
  @Test(
    arguments: [
      (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (7, 0xab02_00f5_8b01_d137), (8, 0x93f5_f579_9a93_2462),
      (15, 0xa129_ca61_49be_45e5),
    ] as [(Int, UInt64)]) func `the hash is SipHash-2-4`(count: Int, hash: UInt64)
  {
    #expect(TagFingerprint.hash((0..<count).map(UInt8.init), Self.key) == hash)
  }

  @Test func `technology, UID and key all change the fingerprint`() {
    let one = TagFingerprint(.type2, [4, 1, 2, 3], Self.key)
    #expect(one == TagFingerprint(.type2, [4, 1, 2, 3], Self.key))
    #expect(one != TagFingerprint(.type4A, [4, 1, 2, 3], Self.key))
    #expect(one != TagFingerprint(.type2, [4, 1, 2, 4], Self.key))
    #expect(one != TagFingerprint(.type2, [4, 1, 2, 3], .random()))
  }
}
