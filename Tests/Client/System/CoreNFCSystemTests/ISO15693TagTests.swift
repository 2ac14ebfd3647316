import Bus
import TestKit
import Testing

@testable import CoreNFC

/// The tags of a session, with a card that answers to each command.
@Suite(.timeLimit(.minutes(5))) struct ISO15693TagTests {
  /// A session that is connected to one tag.
  private struct Call {
    let place: Place
    let recorder = TagRecorder()
    let session: NFCTagReaderSession
    let tag: any NFCISO15693Tag

    init(
      starter: String = #function, _ answer: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) async throws {
      place = try await Place(starter: starter)
      session = NFCTagReaderSession(configuration: .init(pollingOption: .iso15693), delegate: recorder)
      var card = SessionCard()
      card.technology = "type-5"
      card.uid = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]
      card.properties = [:]
      card.answer = answer
      try await place.daemon.place(card)
      place.begin(session)
      let found = try #require(await recorder.nextTags().first)
      guard case .iso15693(let tag) = found else { throw NFCReaderError(.readerErrorInvalidParameter) }
      self.tag = tag
      try await session.connect(to: found)
    }

    /// Ends the session, and returns the commands that the tag has got.
    func commands() async -> [[UInt8]] {
      session.invalidate()
      _ = await recorder.rest()
      return await place.requests().compactMap { request -> [UInt8]? in
        guard case .operation("Transceive", let arguments) = request else { return nil }
        return arguments.first?.asBytes
      }
    }
  }

  private let flags = NFCISO15693RequestFlag.highDataRate
  private let range = NSRange(location: 2, length: 2)
  private let block = Data([1, 2, 3, 4])

  /// A command with the UID in the order of transmission.
  private static func addressed(_ code: UInt8, _ parameters: [UInt8] = []) -> [UInt8] {
    [0x22, code, 6, 5, 4, 3, 2, 1, 0x04, 0xE0] + parameters
  }

  /// The answers to commands that return something. The others are acknowledged.
  private static let answers: [UInt8: [UInt8]] = [
    0x20: [0, 1, 2, 3, 4], 0x23: [0, 1, 2, 3, 4],
    0x2B: [0, 0x0F, 6, 5, 4, 3, 2, 1, 0x04, 0xE0, 0x11, 0x22, 27, 3, 0x33],
    0x2C: [0, 0, 1], 0x2D: [0, 5, 6], 0x30: [0, 9], 0x33: [0, 7, 8], 0x35: [0x02, 0x35], 0x36: [0x04, 0x36], 0x39: [],
    0x3A: [0x06, 0x3A], 0x3C: [0, 1, 0], 0x3D: [0, 7, 8], 0xA1: [0, 0xAA], 0xE5: [0x01, 0x0F],
  ]

  @Sendable private static func answer(_ command: [UInt8]) -> [UInt8] { answers[command[1]] ?? [0] }

  // MARK: Commands

  @Test func `commands for blocks, to a tag whose UID tells who has made it`() async throws {
    let call = try await Call(Self.answer)
    let tag = call.tag
    #expect(tag.type == .ISO15693 && tag.icManufacturerCode == 4 && tag.icSerialNumber == Data([1, 2, 3, 4, 5, 6]))
    #expect(tag.identifier == Data([0xE0, 0x04, 1, 2, 3, 4, 5, 6]))
    #expect(tag.asNFCISO15693Tag() != nil && tag.asNFCMiFareTag() == nil)
    #expect(call.session.connectedTag?.any is any NFCISO15693Tag)
    let first = try await tag.readSingleBlock(requestFlags: flags, blockNumber: 7)
    #expect(first == block)
    try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 7, dataBlock: block)
    try await tag.lockBlock(requestFlags: flags, blockNumber: 7)
    let blocks = try await tag.readMultipleBlocks(requestFlags: flags, blockRange: range)
    #expect(blocks == [Data([1, 2]), Data([3, 4])])
    try await tag.writeMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: [block, block])
    let status = try await tag.getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range)
    #expect(status.map(\.intValue) == [0, 1])
    let fast = try await tag.fastReadMultipleBlocks(requestFlags: flags, blockRange: range)
    #expect(fast == [Data([5]), Data([6])])
    let configuration = NFCISO15693ReadMultipleBlocksConfiguration(range: range, chunkSize: 2)
    let joined = try await tag.readMultipleBlock(readConfiguration: configuration)
    #expect(joined == block)
    #expect(
      await call.commands() == [
        Self.addressed(0x20, [7]), Self.addressed(0x21, [7, 1, 2, 3, 4]), Self.addressed(0x22, [7]),
        Self.addressed(0x23, [2, 1]), Self.addressed(0x24, [2, 1, 1, 2, 3, 4, 1, 2, 3, 4]),
        Self.addressed(0x2C, [2, 1]), Self.addressed(0x2D, [2, 1]), Self.addressed(0x23, [2, 1]),
      ])
  }

  @Test func `commands for blocks with numbers of two bytes`() async throws {
    let call = try await Call(Self.answer)
    let tag = call.tag
    let first = try await tag.extendedReadSingleBlock(requestFlags: flags, blockNumber: 0x1234)
    #expect(first == Data([9]))
    try await tag.extendedWriteSingleBlock(requestFlags: flags, blockNumber: 0x1234, dataBlock: block)
    try await tag.extendedLockBlock(requestFlags: flags, blockNumber: 0x1234)
    let blocks = try await tag.extendedReadMultipleBlocks(requestFlags: flags, blockRange: range)
    #expect(blocks == [Data([7]), Data([8])])
    try await tag.extendedWriteMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: [block, block])
    let fast = try await tag.extendedFastReadMultipleBlocks(requestFlags: flags, blockRange: range)
    #expect(fast == [Data([7]), Data([8])])
    let status = try await tag.extendedGetMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range)
    #expect(status.blockSecurityStatus == [1, 0])
    #expect(
      await call.commands() == [
        Self.addressed(0x30, [0x34, 0x12]), Self.addressed(0x31, [0x34, 0x12, 1, 2, 3, 4]),
        Self.addressed(0x32, [0x34, 0x12]), Self.addressed(0x33, [2, 0, 1, 0]),
        Self.addressed(0x34, [2, 0, 1, 0, 1, 2, 3, 4, 1, 2, 3, 4]), Self.addressed(0x3D, [2, 0, 1, 0]),
        Self.addressed(0x3C, [2, 0, 1, 0]),
      ])
  }

  @Test func `commands for the whole tag`() async throws {
    let call = try await Call(Self.answer)
    let tag = call.tag
    try await tag.select(requestFlags: flags)
    try await tag.resetToReady(requestFlags: flags)
    try await tag.writeAFI(requestFlags: flags, afi: 0x50)
    try await tag.lockAFI(requestFlags: flags)
    try await tag.writeDSFID(requestFlags: flags, dsfid: 0x60)
    try await tag.lockDSFID(requestFlags: flags)
    // A tag that does not answer would seem to be removed. Nothing is sent.
    #expect(await code { try await tag.stayQuiet() } == 1)
    let info = try await tag.systemInfo(requestFlags: flags)
    #expect(info.uniqueIdentifier == Data([6, 5, 4, 3, 2, 1, 0x04, 0xE0]))
    #expect(info.dataStorageFormatIdentifier == 0x11 && info.applicationFamilyIdentifier == 0x22)
    #expect(info.totalBlocks == 28 && info.blockSize == 4 && info.icReference == 0x33)
    let form: any NumberForm = DeprecatedForm()
    let numbers = try await form.systemInfo(tag)
    #expect(numbers == [0x11, 0x22, 4, 28, 0x33])
    #expect(
      await call.commands() == [
        Self.addressed(0x25), Self.addressed(0x26), Self.addressed(0x27, [0x50]),
        Self.addressed(0x28), Self.addressed(0x29, [0x60]), Self.addressed(0x2A), Self.addressed(0x2B),
        Self.addressed(0x2B),
      ])
  }

  @Test func `commands of a manufacturer, of cryptography and of the program`() async throws {
    let call = try await Call(Self.answer)
    let tag = call.tag
    let custom = try await tag.customCommand(
      requestFlags: flags, customCommandCode: 0xA1, customRequestParameters: Data([5]))
    #expect(custom == Data([0xAA]))
    for manufacturer in [4, 7] {
      let configuration = NFCISO15693CustomCommandConfiguration(
        manufacturerCode: manufacturer, customCommandCode: 0xA1, requestParameters: Data([6]))
      let answer = try await tag.sendCustomCommand(commandConfiguration: configuration)
      #expect(answer == Data([0xAA]))
    }
    let message = Data([8, 9])
    let proof = try await tag.authenticate(requestFlags: flags, cryptoSuiteIdentifier: 1, message: message)
    #expect(proof.0 == .responseBufferValid && proof.1 == Data([0x35]))
    let update = try await tag.keyUpdate(requestFlags: flags, keyIdentifier: 2, message: message)
    #expect(update.0 == .finalResponse && update.1 == Data([0x36]))
    try await tag.challenge(requestFlags: flags, cryptoSuiteIdentifier: 3, message: message)
    let buffer = try await tag.readBuffer(requestFlags: flags)
    #expect(buffer.0 == [.responseBufferValid, .finalResponse] && buffer.1 == Data([0x3A]))
    let own = try await tag.sendRequest(requestFlags: 0x02, commandCode: 0xE5, data: Data([7]))
    #expect(own.0 == .error && own.1 == Data([0x0F]))
    #expect(
      await call.commands() == [
        [0x02, 0xA1, 4, 5], [0x02, 0xA1, 4, 6], [0x02, 0xA1, 7, 6], [0x02, 0x35, 1, 8, 9], [0x02, 0x36, 2, 8, 9],
        [0x02, 0x39, 3, 8, 9], [0x02, 0x3A], [0x02, 0xE5, 7],
      ])
  }

  // MARK: NDEF

  @Test func `a message is read, written and locked`() async throws {
    let call = try await Call(Self.answer)
    let tag = call.tag
    let (status, capacity) = try await tag.queryNDEFStatus()
    #expect(status == .readWrite && capacity == 137)
    #expect(await code { _ = try await tag.readNDEF() } == 403)
    let payload = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://example.org/"))
    let message = NFCNDEFMessage(records: [payload])
    try await tag.writeNDEF(message)
    let link = try await tag.readNDEF().records.first?.wellKnownTypeURIPayload()
    #expect(link?.absoluteString == "https://example.org/")
    try await tag.writeLock()
    #expect(try await tag.queryNDEFStatus().0 == .readOnly)
    #expect(await code { try await tag.writeNDEF(message) } == 400)
    #expect(await call.commands() == [])
  }

  // MARK: Errors

  @Test func `an answer with the error flag has code 102, and the tag's code in the user info`() async throws {
    let call = try await Call { _ in [0x01, 0x10] }
    let tag = call.tag
    let custom = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 4, customCommandCode: 0xA1, requestParameters: nil, maximumRetries: 3, retryInterval: 0)
    let errors = [
      await failure { _ = try await tag.readSingleBlock(requestFlags: flags, blockNumber: 0) },
      await failure { try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 0, dataBlock: block) },
      await failure { _ = try await tag.systemInfo(requestFlags: flags) },
      await failure { _ = try await tag.fastReadMultipleBlocks(requestFlags: flags, blockRange: range) },
      await failure { _ = try await tag.readBuffer(requestFlags: flags) },
      await failure { _ = try await tag.sendCustomCommand(commandConfiguration: custom) },
    ]
    for error in errors {
      #expect(error?.code == .readerTransceiveErrorTagResponseError)
      #expect(error?.userInfo[NFCISO15693TagResponseErrorKey] as? NSNumber == NSNumber(value: 0x10 as UInt8))
    }
    // The tag has answered, so the command is not sent again.
    #expect(await call.commands().count == errors.count)
  }

  // MARK: Retries

  @Test func `a command without an answer is sent again`() async throws {
    let call = try await Call { command in command[1] == 0xA1 ? [] : [0] }
    let tag = call.tag
    let configuration = Self.retries(after: 0)
    #expect(await code { _ = try await tag.sendCustomCommand(commandConfiguration: configuration) } == 101)
    #expect(await call.commands() == [[0x02, 0xA1, 4], [0x02, 0xA1, 4]])
  }

  @Test func `a retry that waits at the end of the session is answered before the end`() async throws {
    let call = try await Call { command in command[1] == 0xA1 ? [] : [0] }
    let answers = AsyncStream<Int>.makeStream()
    call.tag.sendCustomCommand(commandConfiguration: Self.retries(after: 3600)) { _, error in
      answers.continuation.yield((error as? NFCReaderError)?.code.rawValue ?? 0)
    }
    // After the answer to this command, the retry waits.
    try await call.tag.select(requestFlags: flags)
    call.session.invalidate()
    #expect(await call.recorder.rest() == ["ended 200"])
    answers.continuation.finish()
    #expect(await answers.stream.reduce(into: [Int]()) { $0.append($1) } == [103])
  }

  private static func retries(after interval: TimeInterval) -> NFCISO15693CustomCommandConfiguration {
    NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 4, customCommandCode: 0xA1, requestParameters: nil, maximumRetries: 1,
      retryInterval: interval)
  }
}

/// A requirement is not deprecated, so it can be called without a warning.
private protocol NumberForm {
  func systemInfo(_ tag: any NFCISO15693Tag) async throws -> [Int]
}

private struct DeprecatedForm: NumberForm {
  @available(*, deprecated)
  func systemInfo(_ tag: any NFCISO15693Tag) async throws -> [Int] {
    let (format, family, size, count, reference) = try await fromHandler {
      tag.getSystemInfo(requestFlags: .highDataRate, completionHandler: $0)
    }
    return [format, family, size, count, reference]
  }
}

/// The error of a call; nil if there is none.
private func failure(_ operation: () async throws -> Void) async -> NFCReaderError? {
  do {
    try await operation()
    return nil
  } catch {
    return error as? NFCReaderError
  }
}
