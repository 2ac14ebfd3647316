/// The tag's side of ISO/IEC 14443-4: RATS, blocks, chaining, deselect; a Type 4 application behind it.
struct BlockProtocolTag: TypeAApplication {
  private static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]
  /// More than any extended APDU.
  private static let maximumCommand = 65_544

  private let options: Type4Options
  private var application: Type4Application

  /// Set from RATS to deselect.
  private(set) var isInBlockProtocol = false
  private var readerFrameSize = 16
  private var cardIdentifier: UInt8 = 0
  private var blockNumber: UInt8 = 1
  private var command: [UInt8] = []
  private var answer: ArraySlice<UInt8> = []
  private var lastBlock: [UInt8] = []

  init(_ application: Type4Application, options: Type4Options) {
    self.application = application
    self.options = options
  }

  var atqa: [UInt8] { [0x44, 0x03] }
  var sak: UInt8 { options.sak }
  var memory: [UInt8] { application.ndefFile }

  mutating func deactivate() {
    isInBlockProtocol = false
    blockNumber = 1
    command = []
    answer = []
    lastBlock = []
    application.deselect()
  }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    // A damaged frame is met with silence; the reader asks again.
    guard let data, let first = data.first else { return .ignore }
    guard isInBlockProtocol else {
      guard first == 0xE0, data.count == 2, data[1] & 0x0F < 15 else { return .ignore }
      isInBlockProtocol = true
      cardIdentifier = data[1] & 0x0F
      readerFrameSize = Self.frameSizes[min(Int(data[1] >> 4), Self.frameSizes.count - 1)]
      return .data(options.ats)
    }
    if first & 0xF0 == 0xD0, data.count >= 2, lastBlock.isEmpty {
      // PPS, right behind the ATS: the same bit rate is all there is.
      return .data([first])
    }
    guard let header = header(data) else { return .ignore }
    let contents = Array(data.dropFirst(header.count))
    switch first & 0xC0 {
    case 0x00: return receiveInformation(first, header, contents)
    case 0x80: return receiveAcknowledgement(first, header)
    case 0xC0 where first & 0x30 == 0x00: return .dataThenHalt(header)
    default: return .ignore
    }
  }

  /// Control byte and card identifier as the reader sent them, nil where another tag is meant.
  private func header(_ block: [UInt8]) -> [UInt8]? {
    guard block[0] & 0x08 != 0 else { return cardIdentifier == 0 ? [block[0]] : nil }
    guard block.count >= 2, block[1] & 0x0F == cardIdentifier else { return nil }
    return Array(block[0..<2])
  }

  private mutating func receiveInformation(_ control: UInt8, _ header: [UInt8], _ contents: [UInt8]) -> TypeAReply {
    blockNumber ^= 1
    command += contents
    guard command.count <= Self.maximumCommand else {
      command = []
      return .ignore
    }
    if control & 0x10 != 0 { return send([0xA2 | blockNumber | control & 0x08] + header.dropFirst()) }
    let apdu = command
    command = []
    answer = application.respond(to: apdu)[...]
    return sendAnswer(header)
  }

  /// ISO/IEC 14443-4, 7.5.4.3: the number tells an answer that was lost from one that arrived.
  private mutating func receiveAcknowledgement(_ control: UInt8, _ header: [UInt8]) -> TypeAReply {
    if control & 1 == blockNumber { return lastBlock.isEmpty ? .ignore : .data(lastBlock) }
    guard control & 0x10 == 0 else { return send([0xA2 | blockNumber | control & 0x08] + header.dropFirst()) }
    guard !answer.isEmpty else { return .ignore }
    blockNumber ^= 1
    return sendAnswer(header)
  }

  private mutating func sendAnswer(_ header: [UInt8]) -> TypeAReply {
    let piece = answer.prefix(readerFrameSize - header.count - 2)
    answer = answer.dropFirst(piece.count)
    let chaining: UInt8 = answer.isEmpty ? 0x00 : 0x10
    return send([0x02 | chaining | blockNumber | header[0] & 0x08] + header.dropFirst() + piece)
  }

  private mutating func send(_ block: [UInt8]) -> TypeAReply {
    lastBlock = block
    return .data(block)
  }
}
