/// The Data Encryption Standard (FIPS 46-3) with a key of single length, for one block. A DESFire in its factory state
/// authenticates with it. The cipher protects no secret here.
struct DES {
  private static let initialPermutation: [Int] = [58, 60, 62, 64, 57, 59, 61, 63].flatMap { first in
    (0..<8).map { first - 8 * $0 }
  }
  private static let expansion: [Int] = (0..<8).flatMap { group in (0..<6).map { (group * 4 + $0 + 31) % 32 + 1 } }
  private static let permutation = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4,
    25,
  ]
  private static let keyChoice1 = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
  ]
  private static let keyChoice2 = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
  ]
  private static let shifts = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1]
  /// The selection functions. Each row is a hexadecimal number of sixteen digits.
  private static let selections: [[UInt64]] = [
    [0xE4D1_2FB8_3A6C_5907, 0x0F74_E2D1_A6CB_9538, 0x41E8_D62B_FC97_3A50, 0xFC82_4917_5B3E_A06D],
    [0xF18E_6B34_972D_C05A, 0x3D47_F28E_C01A_69B5, 0x0E7B_A4D1_58C6_932F, 0xD8A1_3F42_B67C_05E9],
    [0xA09E_63F5_1DC7_B428, 0xD709_346A_285E_CBF1, 0xD649_8F30_B12C_5AE7, 0x1AD0_6987_4FE3_B52C],
    [0x7DE3_069A_1285_BC4F, 0xD8B5_6F03_472C_1AE9, 0xA690_CB7D_F13E_5284, 0x3F06_A1D8_945B_C72E],
    [0x2C41_7AB6_853F_D0E9, 0xEB2C_47D1_50FA_3986, 0x421B_AD78_F9C5_630E, 0xB8C7_1E2D_6F09_A453],
    [0xC1AF_9268_0D34_E75B, 0xAF42_7C95_61DE_0B38, 0x9EF5_28C3_704A_1DB6, 0x432C_95FA_BE17_608D],
    [0x4B2E_F08D_3C97_5A61, 0xD0B7_491A_E35C_2F86, 0x14BD_C37E_AF68_0592, 0x6BD8_14A7_950F_E23C],
    [0xD284_6FB1_A93E_50C7, 0x1FD8_A374_C56B_0E92, 0x7B41_9CE2_06AD_F358, 0x21E7_4A8D_FC90_356B],
  ]

  private let roundKeys: [UInt64]

  /// The key has eight bytes. The lowest bit of each is parity, and is ignored.
  init(key: UInt64) {
    let chosen = Self.pick(Self.keyChoice1, of: key, width: 64)
    var (left, right) = (chosen >> 28, chosen & 0x0FFF_FFFF)
    var keys: [UInt64] = []
    for shift in Self.shifts {
      left = (left << UInt64(shift) | left >> UInt64(28 - shift)) & 0x0FFF_FFFF
      right = (right << UInt64(shift) | right >> UInt64(28 - shift)) & 0x0FFF_FFFF
      keys.append(Self.pick(Self.keyChoice2, of: left << 28 | right, width: 56))
    }
    roundKeys = keys
  }

  func encipher(_ block: UInt64) -> UInt64 {
    let permuted = Self.pick(Self.initialPermutation, of: block, width: 64)
    var (left, right) = (permuted >> 32, permuted & 0xFFFF_FFFF)
    for key in roundKeys {
      let mixed = Self.pick(Self.expansion, of: right, width: 32) ^ key
      var selected: UInt64 = 0
      for (index, rows) in Self.selections.enumerated() {
        let six = Int(mixed >> UInt64(42 - 6 * index) & 0x3F)
        let (row, column) = (six >> 4 & 2 | six & 1, six >> 1 & 0x0F)
        selected = selected << 4 | rows[row] >> UInt64(60 - 4 * column) & 0x0F
      }
      (left, right) = (right, left ^ Self.pick(Self.permutation, of: selected, width: 32))
    }
    let joined = right << 32 | left
    // The inverse of the initial permutation.
    var result: UInt64 = 0
    for (index, position) in Self.initialPermutation.enumerated() where joined >> UInt64(63 - index) & 1 == 1 {
      result |= 1 << UInt64(64 - position)
    }
    return result
  }

  /// The bits at these positions, counted from 1 at the highest bit.
  private static func pick(_ positions: [Int], of value: UInt64, width: Int) -> UInt64 {
    positions.reduce(0) { $0 << 1 | value >> UInt64(width - $1) & 1 }
  }
}
