/// A MIFARE DESFire EV1 in its NDEF configuration (NXP AN11004). It has the ISO commands of a Type 4 tag, and those
/// native commands that are needed to read the message. Native commands may be wrapped into APDUs of class 90.
///
/// All keys are in their factory state: DES, all zero.
struct DESFireApplication: CardApplication {
  private enum Status {
    static let success: UInt8 = 0x00
    static let unknownCommand: UInt8 = 0x1C
    static let noSuchKey: UInt8 = 0x40
    static let wrongLength: UInt8 = 0x7E
    static let applicationNotFound: UInt8 = 0xA0
    static let authentication: UInt8 = 0xAE
    static let additionalFrame: UInt8 = 0xAF
    static let boundary: UInt8 = 0xBE
    static let fileNotFound: UInt8 = 0xF0
  }

  /// The purpose of the next "additional frame".
  private enum Pending {
    /// The rest of an answer, frame by frame.
    case frames([[UInt8]])
    /// The second part of an authentication. `number` is the card's random number.
    case authentication(number: UInt64)
  }

  /// The most data bytes in an answer, after its status.
  private static let frameData = 59
  private static let ndefApplication: [UInt8] = [0x01, 0x00, 0x00]

  private var type4: Type4Application
  private let uid: [UInt8]
  private let cipher = DES(key: 0)
  private var isNDEFSelected = false
  private var pending: Pending?
  /// How many native commands the card has received.
  private(set) var nativeCommands = 0

  /// `type4` answers ISO commands. `uid` has 7 bytes.
  init(_ type4: Type4Application, uid: [UInt8]) {
    self.type4 = type4
    self.uid = uid
  }

  var memory: [UInt8] { type4.memory }
  var writeTear: WriteTear? {
    get { type4.writeTear }
    set { type4.writeTear = newValue }
  }

  mutating func deselect() {
    type4.deselect()
    isNDEFSelected = false
    pending = nil
  }

  mutating func respond(to command: [UInt8]) -> [UInt8] {
    guard let first = command.first, first != 0x00 else { return type4.respond(to: command) }
    guard first == 0x90 else {
      let (status, data) = run(first, Array(command.dropFirst()))
      return [status] + data
    }
    guard let wrapped = CardAPDU(command), wrapped.parameter1 == 0, wrapped.parameter2 == 0 else {
      return [0x91, Status.wrongLength]
    }
    let (status, data) = run(wrapped.instruction, wrapped.data)
    return data + [0x91, status]
  }

  private mutating func run(_ code: UInt8, _ data: [UInt8]) -> (UInt8, [UInt8]) {
    nativeCommands += 1
    let before = pending
    pending = nil
    switch code {
    case 0x60 where data.isEmpty: return answer(version)
    case 0x5A where data.count == 3: return selectApplication(data)
    case 0x0A where data.count == 1: return authenticate(key: data[0])
    case 0xF5 where data.count == 1: return fileSettings(data[0])
    case 0xBD where data.count == 7: return readData(data)
    case 0xAF:
      switch before {
      case .frames(let frames)? where data.isEmpty: return answer(frames)
      case .authentication(let number)? where data.count == 16: return finishAuthentication(number, data)
      default: return (Status.unknownCommand, [])
      }
    case 0x60, 0x5A, 0x0A, 0xF5, 0xBD: return (Status.wrongLength, [])
    default: return (Status.unknownCommand, [])
    }
  }

  private mutating func answer(_ frames: [[UInt8]]) -> (UInt8, [UInt8]) {
    guard let first = frames.first else { return (Status.success, []) }
    guard frames.count > 1 else { return (Status.success, first) }
    pending = .frames(Array(frames.dropFirst()))
    return (Status.additionalFrame, first)
  }

  /// Hardware, software and card data of an EV1 with 4 KiB.
  private var version: [[UInt8]] {
    [
      [0x04, 0x01, 0x01, 0x01, 0x00, 0x18, 0x05], [0x04, 0x01, 0x01, 0x01, 0x04, 0x18, 0x05],
      uid + [0xBA, 0x54, 0x55, 0x1D, 0x20, 0x33, 0x12],
    ]
  }

  private mutating func selectApplication(_ name: [UInt8]) -> (UInt8, [UInt8]) {
    isNDEFSelected = name == Self.ndefApplication
    return (isNDEFSelected || name == [0, 0, 0] ? Status.success : Status.applicationNotFound, [])
  }

  private mutating func authenticate(key: UInt8) -> (UInt8, [UInt8]) {
    guard key == 0 else { return (Status.noSuchKey, []) }
    let number = UInt64.random(in: 0...UInt64.max)
    pending = .authentication(number: number)
    return (Status.additionalFrame, Self.bytes(cipher.encipher(number)))
  }

  /// The reader sends its own number, and the card's number rotated by a byte, both deciphered in one chain. The card
  /// returns the reader's number, rotated.
  private func finishAuthentication(_ number: UInt64, _ data: [UInt8]) -> (UInt8, [UInt8]) {
    let blocks = [Self.number(data[0..<8]), Self.number(data[8..<16])]
    let theirs = cipher.encipher(blocks[0])
    let mine = cipher.encipher(blocks[1]) ^ blocks[0]
    guard mine == number << 8 | number >> 56 else { return (Status.authentication, []) }
    return (Status.success, Self.bytes(cipher.encipher(theirs << 8 | theirs >> 56)))
  }

  private func file(_ number: UInt8) -> [UInt8]? {
    guard isNDEFSelected else { return nil }
    switch number {
    case 1: return type4.capabilityContainer
    case 2: return type4.ndefFile
    default: return nil
    }
  }

  /// A standard file without encryption, which everyone may read and write.
  private func fileSettings(_ number: UInt8) -> (UInt8, [UInt8]) {
    guard let file = file(number) else { return (Status.fileNotFound, []) }
    return (Status.success, [0x00, 0x00, 0xEE, 0xEE] + Self.littleEndian(file.count))
  }

  /// File number, offset and length. The last two have three bytes, the lowest first. Length zero reads to the end.
  private mutating func readData(_ data: [UInt8]) -> (UInt8, [UInt8]) {
    guard let file = file(data[0]) else { return (Status.fileNotFound, []) }
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
    let (offset, length) = (number(data[1..<4]), number(data[4..<7]))
    guard offset + length <= file.count else { return (Status.boundary, []) }
    let contents = Array(file[offset..<(length == 0 ? file.count : offset + length)])
    return answer(
      stride(from: 0, to: contents.count, by: Self.frameData).map {
        Array(contents[$0..<min($0 + Self.frameData, contents.count)])
      })
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }

  private static func littleEndian(_ value: Int) -> [UInt8] {
    (0..<3).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

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
