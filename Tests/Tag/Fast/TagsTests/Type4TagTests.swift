import NDEF
import Rig
import Testing

@testable import Tags

/// A card with an NDEF application that follows its specification.
struct Type4Card: TagChannel {
  var container: [UInt8]
  var file: [UInt8]
  /// Whether the card refuses reads beyond the end of the file.
  var isStrict = false
  /// The maximum length of an answer, even if the container promises more.
  var most = 255
  /// Whether SELECT by name may have Le.
  var takesExpectedLength = true
  /// P2 of SELECT by file identifier.
  var selectsFilesWith: UInt8 = 0x0C
  private var selected: [UInt8] = []
  private(set) var commands: [[UInt8]] = []

  init(_ message: [UInt8], fileSize: Int = 4096) {
    let size = [UInt8(fileSize >> 8), UInt8(fileSize & 0xFF)]
    container = [0, 15, 0x20, 0, 246, 0, 0x34, 4, 6, 0xE1, 0x04] + size + [0, 0]
    file = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
    file += [UInt8](repeating: 0, count: max(0, fileSize - file.count))
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    commands.append(command)
    if command.prefix(4) == [0x00, 0xA4, 0x04, 0x00] {
      if command.count == 13, !takesExpectedLength { return [0x67, 0x00] }
      let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01] + (takesExpectedLength ? [0x00] : [])
      return command.dropFirst(5) == name[...] ? [0x90, 0] : [0x6A, 0x82]
    }
    if command.prefix(3) == [0x00, 0xA4, 0x00] {
      guard command[3] == selectsFilesWith else { return [0x6A, 0x86] }
      selected = Array(command.dropFirst(5))
      return selected == [0xE1, 0x03] || selected == [0xE1, 0x04] ? [0x90, 0] : [0x6A, 0x82]
    }
    guard command.count == 5, command.prefix(2) == [0x00, 0xB0] else { return [0x6D, 0x00] }
    let content = selected == [0xE1, 0x03] ? container : file
    let offset = Int(command[2]) << 8 | Int(command[3])
    let count = min(Int(command[4]), most)
    let end = offset + count
    if end > content.count, isStrict { return [0x67, 0x00] }
    guard offset < content.count else { return [0x6B, 0x00] }
    return content[offset..<min(end, content.count)] + (end > content.count ? [0x62, 0x82] : [0x90, 0x00])
  }
}

@Suite struct Type4TagTests {
  func read(_ card: Type4Card) throws -> (content: TagContent, commands: [[UInt8]]) {
    var card = card
    let content = try TagActivation.type4A.readNDEF(over: &card)
    return (content, card.commands)
  }

  func problem(_ card: Type4Card) throws -> String? { try read(card).content.problem?.description }

  /// A card with other bytes in its capability container, from `index`.
  func card(_ index: Int, _ bytes: [UInt8]) throws -> Type4Card {
    var card = Type4Card(try message(ofSize: 20))
    card.container.replaceSubrange(index..<index + bytes.count, with: bytes)
    return card
  }

  @Test func `a message that fits into one answer takes five commands`() throws {
    let bytes = try message(ofSize: 244)
    let (content, commands) = try read(Type4Card(bytes))
    #expect(content == .message(bytes))
    #expect(
      commands == [
        [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00],
        [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03], [0x00, 0xB0, 0x00, 0x00, 0x0F],
        [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], [0x00, 0xB0, 0x00, 0x00, 246],
      ])
  }

  @Test func `a card that refuses one form of SELECT is asked in the other`() throws {
    let bytes = try message(ofSize: 20)
    var card = Type4Card(bytes)
    (card.takesExpectedLength, card.selectsFilesWith) = (false, 0x00)
    let (content, commands) = try read(card)
    #expect(content == .message(bytes))
    #expect(commands.count == 8)
  }

  @Test func `a card without an NDEF application is asked once for each name`() throws {
    let names: [[UInt8]] = [[0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01], [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]]
    var card = ScriptedChannel(names.map { ([0x00, 0xA4, 0x04, 0x00, 0x07] + $0 + [0x00], [0x6A, 0x82]) })
    #expect(try TagActivation.type4A.readNDEF(over: &card).problem != nil)
    #expect(card.remaining == 0)
  }

  @Test func `no read goes beyond the file`() throws {
    let bytes = try message(ofSize: 20)
    var card = Type4Card(bytes, fileSize: 22)
    card.isStrict = true
    let (content, commands) = try read(card)
    #expect(content == .message(bytes))
    #expect(commands.last == [0x00, 0xB0, 0x00, 0x00, 22])
  }

  @Test func `the length is read alone if the card refuses a longer read`() throws {
    let bytes = try message(ofSize: 20)
    var card = Type4Card(bytes)
    card.file = Array(card.file.prefix(22))
    card.isStrict = true
    let (content, commands) = try read(card)
    #expect(content == .message(bytes))
    #expect(commands.suffix(2) == [[0x00, 0xB0, 0, 0, 2], [0x00, 0xB0, 0, 2, 20]])
  }

  @Test func `a card without a supported NDEF application is reported with the reason`() throws {
    let select: [UInt8] = [0, 0xA4, 4, 0, 7, 0xD2, 0x76, 0, 0, 0x85, 1]
    var card = ScriptedChannel([(select + [1, 0], [0x6A, 0x82]), (select + [0, 0], [0x6A, 0x82])])
    #expect(
      try TagActivation.type4A.readNDEF(over: &card)
        == .notNDEF("an ISO/IEC 14443-4 card without an NDEF application, such as a payment or identity card"))
    #expect(card.remaining == 0)

    var former = ScriptedChannel([(select + [1, 0], [0x6A, 0x82]), (select + [0, 0], [0x90, 0x00])])
    #expect(
      try TagActivation.type4A.readNDEF(over: &former)
        == .unsupported("it is formatted for mapping version 1.0 of Type 4"))
  }

  @Test func `an empty, damaged or unsupported card is reported with the reason`() throws {
    #expect(try problem(Type4Card([])) == "empty: the tag holds no message")
    var liar = Type4Card(try message(ofSize: 20), fileSize: 200)
    liar.file.replaceSubrange(0..<2, with: [0xFF, 0xFF])
    #expect(try problem(liar) == "damaged: the NDEF message is longer than the file that holds it")

    var short = Type4Card(try message(ofSize: 20), fileSize: 200)
    short.file = Array(short.file.prefix(10))
    #expect(try problem(short) == "damaged: the NDEF file cannot be read whole")

    var trickle = Type4Card(try message(ofSize: 200))
    trickle.most = 1
    #expect(try problem(trickle) == "damaged: the capability container is cut off")

    var truncated = Type4Card([])
    truncated.container = [0, 15, 0x20]
    #expect(try problem(truncated) == "damaged: the capability container is cut off")

    #expect(try problem(card(3, [0, 14])) == "damaged: the capability container contradicts itself")
    #expect(try problem(card(0, [0, 14])) == "damaged: the capability container contradicts itself")
    #expect(try problem(card(7, [5])) == "damaged: the capability container does not name the NDEF file")
    #expect(try problem(card(9, [0xE1, 0x03])) == "damaged: the NDEF file has a reserved identifier")
    #expect(try problem(card(9, [0xE1, 0x05])) == "damaged: the NDEF file is not there")
    #expect(try problem(card(11, [0, 2])) == "damaged: the NDEF file has no room for a message")
    #expect(try problem(card(2, [0x10])) == "unsupported: it is formatted for mapping version 1 of Type 4")
    #expect(try problem(card(13, [0x80])) == "unsupported: the card does not let everybody read it")
  }

  @Test func `the problem of a damaged card has the bytes that were read`() throws {
    var liar = Type4Card(try message(ofSize: 20), fileSize: 200)
    liar.file.replaceSubrange(0..<2, with: [0, 199])
    #expect(try read(liar).content.problem?.contents == liar.file)
    var short = Type4Card(try message(ofSize: 20), fileSize: 200)
    short.file = Array(short.file.prefix(10))
    #expect(try read(short).content.problem?.contents == short.file)
    short.file = [0]
    #expect(try read(short).content.problem?.contents == [0])
  }

  @Test func `a few short answers are tolerated`() throws {
    let bytes = try message(ofSize: 300)
    var card = Type4Card(bytes)
    card.most = 100
    #expect(try read(card).content == .message(bytes))
  }

  @Test(arguments: [false, true])
  func `reading a hostile card ends after a bounded number of exchanges`(plausible: Bool) throws {
    for seed in 0..<300 as Range<UInt64> {
      var channel = HostileChannel(seed: seed, plausible: plausible)
      _ = try TagActivation.type4A.readNDEF(over: &channel)
      // 32 KiB in pieces of 15 bytes.
      #expect(channel.count <= 5 + 8 + 0x8000 / 15, "seed \(seed)")
    }
  }
}

/// A card that enforces the limits in its capability container, in every form of the container.
private struct StrictCard: TagChannel {
  var container: [UInt8]
  var file: [UInt8]
  let mostRead: Int
  let mostWritten: Int
  /// The status word for UPDATE BINARY of the container and of the file.
  var containerStatus: [UInt8] = [0x90, 0x00]
  var fileStatus: [UInt8] = [0x90, 0x00]
  private var isContainer = true
  private(set) var commands: [[UInt8]] = []

  init(_ controls: [UInt8], version: UInt8 = 0x20, mostRead: Int = 59, mostWritten: Int = 52, file: [UInt8]) {
    container = (7 + controls.count).bytes(2) + [version] + mostRead.bytes(2) + mostWritten.bytes(2) + controls
    (self.mostRead, self.mostWritten, self.file) = (mostRead, mostWritten, file)
  }

  var reads: [[UInt8]] { commands.filter { $0[1] & 0xFE == 0xB0 } }
  var updates: [[UInt8]] { commands.filter { $0[1] & 0xFE == 0xD6 } }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    commands.append(command)
    let data = Array(command.dropFirst(5))
    switch command[1] {
    case 0xA4 where command[2] == 0x04: return [0x90, 0x00]
    case 0xA4:
      isContainer = data == [0xE1, 0x03]
      return [0x90, 0x00]
    case 0xB0:
      let (offset, count) = (command[2...3].bigEndian, command[4] == 0 ? 256 : Int(command[4]))
      let contents = isContainer ? container : file
      guard count <= mostRead, offset + count <= contents.count else { return [0x67, 0x00] }
      return contents[offset..<offset + count] + [0x90, 0x00]
    case 0xB1:
      let (offset, count) = (data[2...4].bigEndian, data[5] == 0 ? 256 : Int(data[5]))
      guard data.prefix(2) == [0x54, 0x03], count <= mostRead else { return [0x67, 0x00] }
      let size = count - (count < 0x82 ? 2 : 3)
      guard offset + size <= file.count else { return [0x6B, 0x00] }
      return DataObject.data(Array(file[offset..<offset + size])) + [0x90, 0x00]
    case 0xD6:
      let status = isContainer ? containerStatus : fileStatus
      guard status == [0x90, 0x00] else { return status }
      let offset = command[2...3].bigEndian
      guard !data.isEmpty, data.count <= mostWritten else { return [0x67, 0x00] }
      if isContainer { return update(&container, offset, data) }
      return update(&file, offset, data)
    case 0xD7:
      guard data.count <= mostWritten, let contents = DataObject.contents(data[5...]) else { return [0x67, 0x00] }
      return update(&file, data[2...4].bigEndian, Array(contents))
    default: return [0x6D, 0x00]
    }
  }

  private func update(_ contents: inout [UInt8], _ offset: Int, _ data: [UInt8]) -> [UInt8] {
    guard offset + data.count <= contents.count else { return [0x6B, 0x00] }
    contents.replaceSubrange(offset..<offset + data.count, with: data)
    return [0x90, 0x00]
  }
}

@Suite struct Type4ContainerTests {
  private static func control(_ size: Int, access: [UInt8] = [0, 0]) -> [UInt8] {
    [0x04, 6, 0xE1, 0x04] + size.bytes(2) + access
  }

  private static func extendedControl(_ size: Int, access: [UInt8] = [0, 0]) -> [UInt8] {
    [0x06, 8, 0xE1, 0x04] + size.bytes(4) + access
  }

  private static let proprietary: [UInt8] = [0x05, 6, 0xE1, 0x05, 0x00, 0x80, 0x82, 0x83]

  private func file(_ message: [UInt8], _ size: Int, lengthSize: Int = 2) -> [UInt8] {
    message.count.bytes(lengthSize) + message + [UInt8](repeating: 0, count: size - lengthSize - message.count)
  }

  @Test(arguments: [TagActivation.type4A, .type4B])
  func `control TLVs may be in any order`(_ activation: TagActivation) throws {
    let bytes = try message(ofSize: 30)
    for (controls, reads) in [
      (Self.control(100) + Self.proprietary, 2), (Self.proprietary + Self.control(100), 3),
      (Self.proprietary + Self.proprietary + Self.control(100) + Self.proprietary, 3),
    ] {
      var card = StrictCard(controls, file: file(bytes, 100))
      #expect(try activation.readNDEF(over: &card) == .message(bytes))
      #expect(card.reads.count == reads)
    }
  }

  @Test func `a container without the NDEF file is reported as damaged`() throws {
    let reason = "damaged: the capability container does not name the NDEF file"
    for controls in [
      Self.proprietary, [0x05, 0xFF, 0, 0, 0, 0, 0, 0], Self.proprietary + [0x04, 7, 0, 0, 0, 0, 0, 0, 0],
    ] {
      var card = StrictCard(controls, file: [0, 0])
      #expect(try TagActivation.type4A.readNDEF(over: &card).problem?.description == reason)
    }
  }

  @Test(arguments: [15, 131, 132, 256, 1_000])
  func `offsets above 32 KiB are sent in data objects`(mostRead: Int) throws {
    let bytes = try message(ofSize: 33_500)
    var card = StrictCard(
      Self.extendedControl(33_504), version: 0x30, mostRead: mostRead, file: file(bytes, 33_504, lengthSize: 4))
    #expect(try TagActivation.type4A.readNDEF(over: &card) == .message(bytes))
    let atOnce = min(mostRead, 246)
    let near = (0x8000 + atOnce - 1) / atOnce
    let far = 33_504 - near * atOnce
    let room = DataObject.room(in: atOnce)
    #expect(card.reads.filter { $0[1] == 0xB1 }.count == (far + room - 1) / room)
    #expect(card.commands.count == 5 - 1 + 1 + near + (far + room - 1) / room)
  }

  @Test(arguments: [8, 13, 140, 255, 600]) func `writes above 32 KiB stay within MLc`(mostWritten: Int) throws {
    let bytes = try message(ofSize: 33_500)
    var card = StrictCard(
      Self.extendedControl(33_504), version: 0x30, mostWritten: mostWritten, file: file([], 33_504, lengthSize: 4))
    try TagActivation.type4A.writeNDEF(bytes, over: &card)
    #expect(card.file == file(bytes, 33_504, lengthSize: 4))
    #expect(card.updates.first == [0x00, 0xD6, 0, 0, 4, 0, 0, 0, 0])
    #expect(card.updates.last == [0x00, 0xD6, 0, 0, 4] + 33_500.bytes(4))
    #expect(card.updates.contains { $0[1] == 0xD7 })
  }

  @Test func `mapping version 3 with a short control TLV has a length of two bytes`() throws {
    let bytes = try message(ofSize: 30)
    var card = StrictCard(Self.control(100), version: 0x30, file: file(bytes, 100))
    #expect(try TagActivation.type4A.readNDEF(over: &card) == .message(bytes))
    #expect(card.commands.count == 5)
  }

  @Test func `a card that needs a key for reading is not supported`() throws {
    var control = Self.control(100)
    control[6] = 0xFF
    var card = StrictCard(control, file: [0, 0])
    let status = try TagActivation.type4A.queryNDEF(over: &card)
    #expect(status.access == .notSupported)
    #expect(status.problem?.description == "unsupported: the card does not let everybody read it")
  }

  @Test func `mapping version 2 ends at 32 KiB`() throws {
    var card = StrictCard(Self.control(0xFFFE), file: [0, 0])
    #expect(try TagActivation.type4A.queryNDEF(over: &card).capacity == 0x8000 - 2)
  }

  @Test func `a card that cannot take the message is not written`() throws {
    func error(_ card: StrictCard, _ size: Int = 10) -> TagWriteError? {
      var card = card
      let error = #expect(throws: TagWriteError.self) {
        try TagActivation.type4A.writeNDEF([UInt8](repeating: 0, count: size), over: &card)
      }
      #expect(card.updates.isEmpty)
      return error
    }
    #expect(error(StrictCard(Self.control(100, access: [0, 0xFF]), file: file([], 100))) == .readOnly)
    #expect(error(StrictCard(Self.control(100, access: [0, 0x82]), file: file([], 100))) == .readOnly)
    #expect(error(StrictCard(Self.control(100), file: file([], 100)), 99) == .tooLong(capacity: 98))
    #expect(
      error(StrictCard(Self.control(100), mostWritten: 1, file: file([], 100)))?.description
        == "unsupported: the card takes too few bytes at once")
  }

  @Test func `a refused write is reported with the status word`() throws {
    var card = StrictCard(Self.control(100), file: file([], 100))
    card.fileStatus = [0x69, 0x82]
    let error = #expect(throws: TagWriteError.self) { try TagActivation.type4A.writeNDEF([1], over: &card) }
    #expect(error?.description == "unsupported: the card refuses to be written (it answered 6982)")
    #expect(card.updates.count == 1)
  }

  @Test func `locking changes one byte of the container`() throws {
    for (controls, offset) in [
      (Self.control(100), 14), (Self.proprietary + Self.control(100), 22), (Self.extendedControl(100), 16),
    ] {
      var card = StrictCard(controls, version: 0x30, file: file([], 100, lengthSize: controls[0] == 6 ? 4 : 2))
      var expected = card.container
      expected[offset] = 0xFF
      try TagActivation.type4A.lockNDEF(over: &card)
      #expect(card.container == expected)
      #expect(throws: TagWriteError.readOnly) { try TagActivation.type4A.lockNDEF(over: &card) }
    }
    var keyed = StrictCard(Self.control(100), file: file([], 100))
    keyed.containerStatus = [0x69, 0x82]
    guard
      case .cannotLock? = #expect(
        throws: TagWriteError.self, performing: { try TagActivation.type4A.lockNDEF(over: &keyed) })
    else { throw RigError("the card was locked without a key") }
  }

  @Test(arguments: [false, true])
  func `writing or locking a hostile card ends after a bounded number of exchanges`(plausible: Bool) throws {
    for seed in 0..<100 as Range<UInt64> {
      var channel = HostileChannel(seed: seed, plausible: plausible)
      _ = try? TagActivation.type4B.queryNDEF(over: &channel)
      _ = try? TagActivation.type4B.writeNDEF([UInt8](repeating: 1, count: 300), over: &channel)
      _ = try? TagActivation.type4B.lockNDEF(over: &channel)
      #expect(channel.count <= 3 * 8 + 303 + 2, "seed \(seed)")
    }
  }
}

extension TagActivation {
  /// A card with ISO-DEP over Type B.
  static let type4B = TagActivation.typeB(
    TypeBActivation(
      pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0x00, 0x51, 0x80], attribResponse: [0x00]))
}
