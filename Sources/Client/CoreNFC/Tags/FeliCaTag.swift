import EventLoop
import Foundation
import TagrouteClient

/// A FeliCa card with a system that the program has declared.
///
/// A command goes to the system that is selected when the command is called. So wait for Polling before the next one.
final class FeliCaTag: DetectedTag, NFCFeliCaTag {
  private let selection = FeliCaSelection()

  var type: __NFCTagType { .feliCa }

  var currentSystemCode: Data {
    if let selected = selection.current { return selected.systemCode }
    return tag.systemCode.map { Data([UInt8($0 >> 8), UInt8($0 & 0xFF)]) } ?? Data()
  }

  var currentIDm: Data { selection.current?.idm ?? Data(tag.idm) }

  func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
    completionHandler: @escaping Handler<Data, Data>
  ) {
    let (selection, former) = (self.selection, currentSystemCode)
    start {
      let exchange = try FeliCaExchanges.polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot)
      guard isDeclared(systemCode) else { throw NFCReaderError(.readerErrorSecurityViolation) }
      return exchange
    } _: { (result: Result<FeliCaExchanges.Polled, any Error>) in
      switch result {
      case .success(let polled):
        selection.current = (Data(polled.idm), systemCode)
        completionHandler(Data(polled.pmm), Data(polled.requestData), nil)
      case .failure(let error):
        // The card did not answer. Other errors leave the selection as it is.
        if (error as? NFCReaderError)?.code == .readerTransceiveErrorTagResponseError {
          selection.current = (Data(), former)
        }
        completionHandler(Data(), Data(), error)
      }
    }
  }

  /// Whether the session looks for this system. The daemon would also accept the NDEF system, which Core NFC does not.
  private func isDeclared(_ systemCode: Data) -> Bool {
    // Without a session, the call fails with code 103.
    guard let owner = owner as? NFCTagReaderSession else { return true }
    return owner.polling.systems.contains(systemCode.reduce(0) { $0 << 8 | UInt16($1) })
  }

  func requestService(nodeCodeList: [Data], completionHandler: @escaping Handler<[Data]>) {
    start({ try selected().requestService(nodeCodeList) }, or: [], completionHandler)
  }

  func requestResponse(completionHandler: @escaping Handler<Int>) {
    start({ try selected().requestResponse() }, or: 0, completionHandler)
  }

  func readWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], completionHandler: @escaping Handler<Int, Int, [Data]>
  ) {
    start({ try selected().readWithoutEncryption(serviceCodeList, blockList) }, or: (0, 0, [])) {
      completionHandler($0.0, $0.1, $0.2, $1)
    }
  }

  func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data], completionHandler: @escaping Handler<Int, Int>
  ) {
    start({ try selected().writeWithoutEncryption(serviceCodeList, blockList, blockData) }, or: (0, 0)) {
      completionHandler($0.0, $0.1, $1)
    }
  }

  func requestSystemCode(completionHandler: @escaping Handler<[Data]>) {
    start({ try selected().requestSystemCode() }, or: [], completionHandler)
  }

  func requestServiceV2(
    nodeCodeList: [Data], completionHandler: @escaping Handler<Int, Int, NFCFeliCaEncryptionId, [Data], [Data]>
  ) {
    start({ try selected().requestServiceV2(nodeCodeList) }, or: (0, 0, .AES, [], [])) {
      completionHandler($0.0, $0.1, $0.2, $0.3, $0.4, $1)
    }
  }

  func requestSpecificationVersion(completionHandler: @escaping Handler<Int, Int, Data, Data>) {
    start({ try selected().requestSpecificationVersion() }, or: (0, 0, Data(), Data())) {
      completionHandler($0.0, $0.1, $0.2, $0.3, $1)
    }
  }

  func resetMode(completionHandler: @escaping Handler<Int, Int>) {
    start({ try selected().resetMode() }, or: (0, 0)) { completionHandler($0.0, $0.1, $1) }
  }

  func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping Handler<Data>) {
    start({ try FeliCaExchanges.command(commandPacket) }, or: Data(), completionHandler)
  }

  /// The commands to the selected system. Throws code 102 if the card did not answer the last Polling.
  private func selected() throws -> FeliCaExchanges {
    let idm = currentIDm
    guard !idm.isEmpty else { throw NFCReaderError.wrongAnswer }
    return FeliCaExchanges(idm: Array(idm))
  }
}

/// What Polling has selected. It is renewed on the session's queue, and read by the program anywhere.
private final class FeliCaSelection: Sendable {
  private let selected = Locked<(idm: Data, systemCode: Data)?>(nil)

  /// Nil before the first Polling of the program's own. The IDm is empty if the card did not answer the last one.
  var current: (idm: Data, systemCode: Data)? {
    get { selected.withLock { $0 } }
    set { selected.withLock { $0 = newValue } }
  }
}

/// The commands to one system of a FeliCa card (JIS X 6319-4, and Sony's “FeliCa Card User's Manual”, chapter 4).
///
/// A command begins with its code, an answer with the response code, which is the next number. The reader adds and
/// removes length byte and checksum. Lists that `NFCFeliCaTag` takes are sent as they are, since both have the low byte
/// first. What the answers hold is what `NFCFeliCaTag` passes to completion handlers.
///
/// Each function throws the error of a wrong parameter, whose codes `NFCFeliCaTag` lists.
struct FeliCaExchanges: Sendable {
  /// The manufacture ID of the system, eight bytes.
  let idm: [UInt8]

  /// What a card has sent for Polling.
  struct Polled: Sendable, Hashable {
    var idm: [UInt8]
    /// The manufacture parameters, eight bytes.
    var pmm: [UInt8]
    /// Two bytes, or none.
    var requestData: [UInt8]
  }

  // MARK: Commands without an IDm

  /// Polling: finds a system, and its IDm.
  static func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot
  ) throws -> TagExchange<Polled> {
    guard systemCode.count == 2 else { throw NFCReaderError(.readerErrorInvalidParameterLength) }
    let options = [UInt8(truncatingIfNeeded: requestCode.rawValue), UInt8(truncatingIfNeeded: timeSlot.rawValue)]
    return try packet([0x00] + Array(systemCode) + options) { answer in
      guard answer.first == 0x01 else { throw NFCReaderError.wrongAnswer }
      // A card sends no request data if it does not know the request code.
      guard answer.count == 17 || answer.count == 19 && requestCode != .noRequest else {
        throw NFCReaderError.wrongLength(answer.count)
      }
      return Polled(idm: Array(answer[1...8]), pmm: Array(answer[9...16]), requestData: Array(answer[17...]))
    }
  }

  /// A command of the program's own. The answer is read as it is.
  static func command(_ packet: Data) throws -> TagExchange<Data> {
    guard !packet.isEmpty else { throw NFCReaderError(.readerErrorInvalidParameterLength) }
    return try Self.packet(Array(packet)) { answer in
      guard !answer.isEmpty else { throw NFCReaderError.wrongLength(0) }
      return Data(answer)
    }
  }

  // MARK: Commands with an IDm

  /// Request Service: the key versions of nodes.
  func requestService(_ nodes: [Data]) throws -> TagExchange<[Data]> {
    let count = nodes.count
    return try exchange(0x02, try Self.codes(nodes, 1...32)) { content in
      content.first.map { Int($0) } == count ? content.dropFirst().pieces(count, of: 2) : nil
    }
  }

  /// Request Response: the mode.
  func requestResponse() throws -> TagExchange<Int> {
    try exchange(0x04) { content in content.count == 1 ? Int(content[0]) : nil }
  }

  /// Read Without Encryption: status flags, and 16 bytes for each block.
  func readWithoutEncryption(_ services: [Data], _ blocks: [Data]) throws -> TagExchange<(Int, Int, [Data])> {
    let count = blocks.count
    return try exchange(0x06, try Self.codes(services, 1...16) + Self.elements(blocks)) { content in
      guard let (flag1, flag2, rest) = Self.flags(content) else { return nil }
      guard flag1 == 0 else { return (flag1, flag2, []) }
      guard rest.first.map({ Int($0) }) == count, let data = rest.dropFirst().pieces(count, of: 16) else { return nil }
      return (flag1, flag2, data)
    }
  }

  /// Write Without Encryption: status flags.
  func writeWithoutEncryption(_ services: [Data], _ blocks: [Data], _ data: [Data]) throws -> TagExchange<(Int, Int)> {
    let list = try Self.codes(services, 1...16) + Self.elements(blocks)
    guard data.count == blocks.count else { throw NFCReaderError(.readerErrorInvalidParameter) }
    guard data.allSatisfy({ $0.count == 16 }) else { throw NFCReaderError(.readerErrorInvalidParameterLength) }
    return try exchange(0x08, list + data.flatMap { Array($0) }, Self.onlyFlags)
  }

  /// Request System Code: the codes, in the card's order of bytes.
  func requestSystemCode() throws -> TagExchange<[Data]> {
    try exchange(0x0C) { content in
      content.first.flatMap { content.dropFirst().pieces(Int($0), of: 2) }
    }
  }

  /// Request Service v2: status flags, the kind of encryption, AES and DES key versions of nodes.
  func requestServiceV2(_ nodes: [Data]) throws -> TagExchange<(Int, Int, NFCFeliCaEncryptionId, [Data], [Data])> {
    let count = nodes.count
    return try exchange(0x32, try Self.codes(nodes, 1...32)) { content in
      guard let (flag1, flag2, rest) = Self.flags(content) else { return nil }
      guard flag1 == 0 else { return (flag1, flag2, .AES, [], []) }
      guard rest.count >= 2, let encryption = NFCFeliCaEncryptionId(rawValue: Int(rest[0])), Int(rest[1]) == count,
        let versions = rest.dropFirst(2).pieces(encryption == .AES_DES ? 2 * count : count, of: 2)
      else { return nil }
      return (flag1, flag2, encryption, Array(versions.prefix(count)), Array(versions.dropFirst(count)))
    }
  }

  /// Request Specification Version: status flags, the basic version, and those of the options.
  func requestSpecificationVersion() throws -> TagExchange<(Int, Int, Data, Data)> {
    try exchange(0x3C, [0x00, 0x00]) { content in
      guard let (flag1, flag2, rest) = Self.flags(content) else { return nil }
      guard flag1 == 0 else { return (flag1, flag2, Data(), Data()) }
      // The only format there is, the basic version, the number of options.
      guard rest.count >= 4, rest[0] == 0x00, rest.count == 4 + 2 * Int(rest[3]) else { return nil }
      return (flag1, flag2, Data(rest[1...2]), Data(rest[4...]))
    }
  }

  /// Reset Mode: status flags.
  func resetMode() throws -> TagExchange<(Int, Int)> {
    try exchange(0x3E, [0x00, 0x00], Self.onlyFlags)
  }

  // MARK: Packets

  /// An exchange with an IDm. `read` gets the bytes after response code and IDm, and returns nil if they have a wrong
  /// form.
  private func exchange<Answer: Sendable>(
    _ code: UInt8, _ parameters: [UInt8] = [], _ read: @escaping @Sendable ([UInt8]) -> Answer?
  ) throws -> TagExchange<Answer> {
    let idm = self.idm
    return try Self.packet([code] + idm + parameters) { answer in
      guard answer.count >= 9 else { throw NFCReaderError.wrongLength(answer.count) }
      guard answer[0] == code + 1, Array(answer[1...8]) == idm else { throw NFCReaderError.wrongAnswer }
      guard let content = read(Array(answer[9...])) else { throw NFCReaderError.wrongLength(answer.count) }
      return content
    }
  }

  private static func packet<Answer: Sendable>(
    _ command: [UInt8], _ read: @escaping @Sendable ([UInt8]) throws -> Answer
  ) throws -> TagExchange<Answer> {
    // With the length byte, a packet has at most 255 bytes.
    guard command.count <= 254 else { throw NFCReaderError(.readerTransceiveErrorPacketTooLong) }
    return TagExchange(command: command, read: read)
  }

  /// A list of codes of nodes or services, with its length.
  private static func codes(_ codes: [Data], _ count: ClosedRange<Int>) throws -> [UInt8] {
    guard count.contains(codes.count) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    guard codes.allSatisfy({ $0.count == 2 }) else { throw NFCReaderError(.readerErrorInvalidParameterLength) }
    return [UInt8(truncatingIfNeeded: codes.count)] + codes.flatMap { Array($0) }
  }

  /// A block list, with its length. A list of 256 elements or more makes the packet too long.
  private static func elements(_ blocks: [Data]) throws -> [UInt8] {
    guard !blocks.isEmpty else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    guard blocks.allSatisfy({ $0.count == 2 || $0.count == 3 }) else {
      throw NFCReaderError(.readerErrorInvalidParameterLength)
    }
    return [UInt8(truncatingIfNeeded: blocks.count)] + blocks.flatMap { Array($0) }
  }

  /// Status flags 1 and 2, and the bytes after them. Nil if there are no flags, or if bytes follow a flag 1 other than
  /// 0.
  private static func flags(_ content: [UInt8]) -> (Int, Int, [UInt8])? {
    guard content.count >= 2, content[0] == 0 || content.count == 2 else { return nil }
    return (Int(content[0]), Int(content[1]), Array(content[2...]))
  }

  /// Status flags 1 and 2 of an answer that has nothing else.
  @Sendable private static func onlyFlags(_ content: [UInt8]) -> (Int, Int)? {
    content.count == 2 ? (Int(content[0]), Int(content[1])) : nil
  }
}
