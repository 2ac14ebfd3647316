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
    guard let wrapped = CommandAPDU(command), wrapped.parameter1 == 0, wrapped.parameter2 == 0 else {
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
