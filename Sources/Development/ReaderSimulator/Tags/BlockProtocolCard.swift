/// An application of a card that receives its commands in blocks, usually as APDUs.
protocol CardApplication: Sendable {
  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }
  /// How far further writes get before the card loses its power; nil if they complete.
  var writeTear: WriteTear? { get set }

  /// The card is deselected or without power.
  mutating func deselect()

  /// Answers a command that is joined from its blocks.
  mutating func respond(to command: [UInt8]) -> [UInt8]
}

/// The card's side of the block protocol (ISO/IEC 14443-4, section 7), after its activation. It is the same for Type A
/// and Type B.
struct BlockProtocolCard: Sendable {
  enum Reply: Equatable {
    case block([UInt8])
    case ignore
    /// The last block before the card is halted.
    case blockThenHalt([UInt8])
  }

  /// The longest extended APDU, in bytes.
  private static let maximumCommand = 65_544

  var application: any CardApplication
  /// How many times the card asks for more time before each answer.
  private let timeExtensions: Int

  private var readerFrameSize = 16
  private var cardIdentifier: UInt8 = 0
  private var blockNumber: UInt8 = 1
  private var command: [UInt8] = []
  private var answer: ArraySlice<UInt8> = []
  private var lastBlock: [UInt8] = []
  private var extensionsLeft = 0

  init(_ application: any CardApplication, timeExtensions: Int = 0) {
    self.application = application
    self.timeExtensions = timeExtensions
  }

  /// Whether the card has sent a block since its activation.
  var hasAnswered: Bool { !lastBlock.isEmpty }

  /// `readerFrameSize` is the largest frame that the reader accepts, in bytes; `cardIdentifier` is CID, which the
  /// reader gives the card.
  mutating func begin(readerFrameSize: Int, cardIdentifier: UInt8) {
    self.readerFrameSize = readerFrameSize
    self.cardIdentifier = cardIdentifier
  }

  mutating func deactivate() {
    blockNumber = 1
    command = []
    answer = []
    lastBlock = []
    extensionsLeft = 0
    application.deselect()
  }

  /// Replies to a block, not empty, without its checksum.
  mutating func receive(_ block: [UInt8]) -> Reply {
    guard let header = header(block) else { return .ignore }
    let contents = Array(block.dropFirst(header.count))
    switch block[0] & 0xC0 {
    case 0x00: return receiveInformation(block[0], header, contents)
    case 0x80: return receiveAcknowledgement(block[0], header)
    case 0xC0 where block[0] & 0x30 == 0x00: return .blockThenHalt(header)
    // S(WTX): the reader grants the time.
    case 0xC0 where block[0] & 0x30 == 0x30 && extensionsLeft > 0:
      extensionsLeft -= 1
      return sendAnswer(header)
    default: return .ignore
    }
  }

  /// The control byte and the card identifier as the reader sent them; nil if the reader means another card.
  private func header(_ block: [UInt8]) -> [UInt8]? {
    guard block[0] & 0x08 != 0 else { return cardIdentifier == 0 ? [block[0]] : nil }
    guard block.count >= 2, block[1] & 0x0F == cardIdentifier else { return nil }
    return Array(block[0..<2])
  }

  private mutating func receiveInformation(_ control: UInt8, _ header: [UInt8], _ contents: [UInt8]) -> Reply {
    blockNumber ^= 1
    command += contents
    guard command.count <= Self.maximumCommand else {
      command = []
      return .ignore
    }
    if control & 0x10 != 0 { return send([0xA2 | blockNumber | control & 0x08] + header.dropFirst()) }
    let complete = command
    command = []
    answer = application.respond(to: complete)[...]
    extensionsLeft = timeExtensions
    return sendAnswer(header)
  }

  /// ISO/IEC 14443-4, 7.5.4.3: the block number shows whether the last answer was lost or arrived.
  private mutating func receiveAcknowledgement(_ control: UInt8, _ header: [UInt8]) -> Reply {
    if control & 1 == blockNumber { return lastBlock.isEmpty ? .ignore : .block(lastBlock) }
    guard control & 0x10 == 0 else { return send([0xA2 | blockNumber | control & 0x08] + header.dropFirst()) }
    guard !answer.isEmpty else { return .ignore }
    blockNumber ^= 1
    return sendAnswer(header)
  }

  private mutating func sendAnswer(_ header: [UInt8]) -> Reply {
    if extensionsLeft > 0 { return send([0xF2 | header[0] & 0x08] + header.dropFirst() + [0x01]) }
    let piece = answer.prefix(readerFrameSize - header.count - 2)
    answer = answer.dropFirst(piece.count)
    let chaining: UInt8 = answer.isEmpty ? 0x00 : 0x10
    return send([0x02 | chaining | blockNumber | header[0] & 0x08] + header.dropFirst() + piece)
  }

  private mutating func send(_ block: [UInt8]) -> Reply {
    lastBlock = block
    return .block(block)
  }
}

/// A card of Type A: RATS and its answer, then the block protocol.
struct BlockProtocolTag: TypeAApplication {
  let sak: UInt8
  let leavesOnRequest: Bool
  private let ats: [UInt8]
  private var card: BlockProtocolCard

  /// Whether the card is between RATS and deselection.
  private(set) var isInBlockProtocol = false

  init(_ card: BlockProtocolCard, options: Type4Options) {
    self.card = card
    sak = options.sak
    ats = options.ats
    leavesOnRequest = options.leavesOnRequest
  }

  var atqa: [UInt8] { [0x44, 0x03] }
  var memory: [UInt8] { card.application.memory }
  mutating func tearWrites(_ tear: WriteTear?) { card.application.writeTear = tear }

  mutating func deactivate() {
    isInBlockProtocol = false
    card.deactivate()
  }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    // The card does not answer a damaged frame; the reader asks again.
    guard let data, let first = data.first else { return .ignore }
    guard isInBlockProtocol else {
      guard first == 0xE0, data.count == 2, data[1] & 0x0F < 15 else { return .ignore }
      isInBlockProtocol = true
      card.begin(readerFrameSize: ISODEP.frameSize(code: data[1] >> 4), cardIdentifier: data[1] & 0x0F)
      return .data(ats)
    }
    // PPS, right after the ATS. The card supports only the present bit rate.
    if first & 0xF0 == 0xD0, data.count >= 2, !card.hasAnswered { return .data([first]) }
    switch card.receive(data) {
    case .block(let block): return .data(block)
    case .ignore: return .ignore
    case .blockThenHalt(let block): return .dataThenHalt(block)
    }
  }
}
