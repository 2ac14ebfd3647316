import PN53x
import ReaderModels
import Tags

/// Type 3. Every model has its own way to a FeliCa card.
extension CardLink {
  /// The time for a Check of 12 blocks (JIS X 6319-4: given by PMm). Common cards take less than 100 ms.
  private static var time: UInt32 { 200_000 }
  private static var poll: UInt8 { 0x00 }
  private static var update: UInt8 { 0x08 }
  private static var blockSize: Int { 16 }

  mutating func exchangeType3(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if let confirmedFeliCa { return try exchange(command, by: confirmedFeliCa) }
    var error = TagChannelError(.unsupported, "this reader does not pass on commands to FeliCa cards")
    for way in model.feliCa {
      do throws(TagChannelError) {
        let answer = try exchange(command, by: way)
        // The code of an answer is that of the command, plus one.
        if answer.first == command.first.map({ $0 &+ 1 }) { confirmedFeliCa = way }
        return answer
      } catch let failed {
        error = failed
        if failure?.endsConnection == true { throw error }
      }
    }
    throw error
  }

  private mutating func exchange(
    _ command: [UInt8], by way: ReaderModel.FeliCaAccess
  ) throws(TagChannelError) -> [UInt8] {
    switch way {
    case .pn532: return try exchange(command, with: FeliCaFraming())
    case .frame: return try Self.withoutLength(try fetch(PseudoAPDU(0x00, data: Self.frame(command))), command)
    case .transparent:
      return try Self.withoutLength(try transceive(Self.frame(command), .feliCa, within: Self.time), command)
    case .identiv, .springCard:
      if command.first == Self.poll { return try emulatePoll(command) }
      guard let request = FeliCaRequest(command) else {
        throw TagChannelError(.unsupported, "this reader passes on Check and Update alone")
      }
      return way == .identiv ? try exchangeInstruction(request) : try exchangeBlocks(request)
    }
  }

  private static func frame(_ command: [UInt8]) -> [UInt8] { [UInt8(truncatingIfNeeded: command.count + 1)] + command }

  /// Some readers may remove the length byte.
  private static func withoutLength(_ answer: [UInt8], _ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if let length = answer.first, Int(length) == answer.count { return Array(answer.dropFirst()) }
    guard let code = command.first, answer.first == code &+ 1 else {
      throw TagChannelError(.transmission, "the card's answer has a wrong length")
    }
    return answer
  }

  // MARK: Readers that do not pass on frames

  /// The reader has polled for every system itself. Reading a block showed whether there is the one for NDEF.
  private func emulatePoll(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let system = Array(command.dropFirst().prefix(2))
    guard system == [0xFF, 0xFF] || system == [0x12, 0xFC] && hasNDEFSystem, identifier.count == 8 else {
      throw TagChannelError(.noAnswer, "this reader cannot poll for another system")
    }
    // FF: the longest times for all commands.
    return [0x01] + identifier + [UInt8](repeating: 0xFF, count: 8)
  }

  /// FF 46 and FF 48 (Identiv, uTrust 3700 F reference manual). The answer is the card's, without its length byte.
  private mutating func exchangeInstruction(_ request: FeliCaRequest) throws(TagChannelError) -> [UInt8] {
    let answer = try fetch(
      PseudoAPDU(
        0x40 | request.code, UInt8(truncatingIfNeeded: request.services.count),
        UInt8(truncatingIfNeeded: request.blocks.count), data: request.list))
    return try Self.withoutLength(answer, [request.code])
  }

  /// SpringCard: a service is selected, then its blocks are read or written one by one.
  private mutating func exchangeBlocks(_ request: FeliCaRequest) throws(TagChannelError) -> [UInt8] {
    guard request.services.count == 1, let service = request.services.first else {
      throw TagChannelError(.unsupported, "this reader reads one service at a time")
    }
    if feliCaService != service {
      feliCaService = nil
      try fetch(PseudoAPDU(0xFB, 0xFC, 0x01, data: service.reversed()))
      feliCaService = service
    }
    var answer = [request.code + 1] + request.idm + [0x00, 0x00]
    if request.code == Self.update {
      for (index, block) in request.blocks.enumerated() {
        try fetch(.update(Int(block), Array(request.data.dropFirst(index * Self.blockSize).prefix(Self.blockSize))))
      }
      return answer
    }
    answer.append(UInt8(truncatingIfNeeded: request.blocks.count))
    for block in request.blocks {
      let data = try fetch(.read(Int(block), UInt8(Self.blockSize)))
      guard data.count == Self.blockSize else {
        throw TagChannelError(.transmission, "the reader returned \(data.count) bytes of block \(block)")
      }
      answer += data
    }
    return answer
  }
}

/// Check or Update (JIS X 6319-4): code, IDm, services, blocks, and the data to write.
struct FeliCaRequest {
  let code: UInt8
  let idm: [UInt8]
  /// As on the air: low byte first.
  let services: [[UInt8]]
  /// All of the first service.
  let blocks: [UInt8]
  let data: [UInt8]
  /// The services and blocks, without the two numbers of elements.
  let list: [UInt8]

  /// Nil for another command, or for other block elements than those of two bytes: 80 and the number.
  init?(_ command: [UInt8]) {
    guard let code = command.first, code == 0x06 || code == 0x08, command.count > 9 else { return nil }
    self.code = code
    idm = Array(command[1..<9])
    let serviceCount = Int(command[9])
    let blockCountAt = 10 + 2 * serviceCount
    guard serviceCount > 0, command.count > blockCountAt else { return nil }
    services = (0..<serviceCount).map { Array(command[10 + 2 * $0..<12 + 2 * $0]) }
    let elements = Int(command[blockCountAt])
    let dataAt = blockCountAt + 1 + 2 * elements
    guard elements > 0, command.count >= dataAt else { return nil }
    let blockList = Array(command[blockCountAt + 1..<dataAt])
    guard stride(from: 0, to: blockList.count, by: 2).allSatisfy({ blockList[$0] == 0x80 }) else { return nil }
    blocks = stride(from: 1, to: blockList.count, by: 2).map { blockList[$0] }
    data = Array(command[dataAt...])
    guard data.count == (code == 0x08 ? elements * 16 : 0) else { return nil }
    list = services.flatMap { $0 } + blockList + data
  }
}
