import Foundation
import Testing

@testable import CoreNFC

/// Every form of every call of `NFCISO15693Tag`, on tags of a program's own.
@Suite struct ISO15693ProtocolTests {
  private let flags = NFCISO15693RequestFlag.highDataRate
  private let range = NSRange(location: 2, length: 2)

  // MARK: The requirements alone

  @Test func `reading works through every form`() async throws {
    let tag = MockISO15693Tag()
    let block = try await tag.readSingleBlock(requestFlags: flags, blockNumber: 9)
    #expect(block == Data([9]))
    let sameBlock = try await fromResult { tag.readSingleBlock(requestFlags: flags, blockNumber: 9, resultHandler: $0) }
    #expect(sameBlock == Data([9]))
    let blocks = try await tag.readMultipleBlocks(requestFlags: flags, blockRange: range)
    #expect(blocks == [Data([2]), Data([3])])
    let sameBlocks = try await fromResult {
      tag.readMultipleBlocks(requestFlags: flags, blockRange: range, resultHandler: $0)
    }
    #expect(sameBlocks == [Data([2]), Data([3])])
    let status = try await tag.getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range)
    #expect(status == [NSNumber(value: 1)])
    let far = try await tag.extendedReadSingleBlock(requestFlags: flags, blockNumber: 0x300)
    #expect(far == Data([3]))
    let sameFar = try await fromResult {
      tag.extendedReadSingleBlock(requestFlags: flags, blockNumber: 0x300, resultHandler: $0)
    }
    #expect(sameFar == Data([3]))
    let farBlocks = try await tag.extendedReadMultipleBlocks(requestFlags: flags, blockRange: range)
    #expect(farBlocks == [Data([7])])
    let custom = try await tag.customCommand(
      requestFlags: flags, customCommandCode: 0xA1, customRequestParameters: Data([1]))
    #expect(custom == Data([1]))
    let sameCustom = try await fromResult {
      tag.customCommand(
        requestFlags: flags, customCommandCode: 0xA1, customRequestParameters: Data([1]), resultHandler: $0)
    }
    #expect(sameCustom == Data([1]))
  }

  @Test func `commands without an answer work through every form`() async throws {
    let tag = MockISO15693Tag()
    let block = Data([1, 2, 3, 4])
    try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 1, dataBlock: block)
    try await tag.lockBlock(requestFlags: flags, blockNumber: 1)
    try await tag.writeMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: [block, block])
    try await tag.extendedWriteSingleBlock(requestFlags: flags, blockNumber: 1, dataBlock: block)
    try await tag.extendedLockBlock(requestFlags: flags, blockNumber: 1)
    try await tag.stayQuiet()
    try await tag.select(requestFlags: flags)
    try await tag.resetToReady(requestFlags: flags)
    try await tag.writeAFI(requestFlags: flags, afi: 1)
    try await tag.lockAFI(requestFlags: flags)
    try await tag.writeDSFID(requestFlags: flags, dsfid: 1)
    try await tag.lockDSFID(requestFlags: flags)
    #expect(
      tag.calls == [
        "writeSingleBlock", "lockBlock", "writeMultipleBlocks", "extendedWriteSingleBlock", "extendedLockBlock",
        "stayQuiet", "select", "resetToReady", "writeAFI", "lockAFI", "writeDSFID", "lockDSFID",
      ])
    tag.error = NFCReaderError(.readerTransceiveErrorTagNotConnected)
    await #expect(throws: NFCReaderError(.readerTransceiveErrorTagNotConnected)) { try await tag.stayQuiet() }
  }

  @Test func `the system information comes from the form with numbers`() async throws {
    let tag = MockISO15693Tag()
    let info = try await tag.systemInfo(requestFlags: flags)
    #expect(info.uniqueIdentifier == Data([6, 5, 4, 3, 2, 1, 0x04, 0xE0]))
    #expect(info.dataStorageFormatIdentifier == 0 && info.applicationFamilyIdentifier == 1)
    #expect(info.blockSize == 4 && info.totalBlocks == 28 && info.icReference == 5)
    let same = try await fromResult { tag.getSystemInfo(requestFlags: flags, resultHandler: $0) }
    #expect(same.totalBlocks == 28)
  }

  @Test func `without sendRequest, the commands that use it have code 1`() async throws {
    let tag = MockISO15693Tag()
    let unsupported = NFCReaderError(.readerErrorUnsupportedFeature)
    await #expect(throws: unsupported) {
      _ = try await tag.sendRequest(requestFlags: 2, commandCode: 0x2B, data: nil)
    }
    await #expect(throws: unsupported) {
      _ = try await tag.fastReadMultipleBlocks(requestFlags: flags, blockRange: range)
    }
    await #expect(throws: unsupported) {
      try await tag.challenge(requestFlags: flags, cryptoSuiteIdentifier: 0, message: Data())
    }
  }

  // MARK: With `sendRequest`

  @Test func `reads go through sendRequest`() async throws {
    let tag = SendingISO15693Tag()
    tag.response = [0, 8, 9]
    let fast = try await tag.fastReadMultipleBlocks(requestFlags: .select, blockRange: range)
    #expect(fast == [Data([8]), Data([9])])
    let far = try await tag.extendedFastReadMultipleBlocks(requestFlags: .select, blockRange: range)
    #expect(far == [Data([8]), Data([9])])
    let status = try await tag.extendedGetMultipleBlockSecurityStatus(requestFlags: .select, blockRange: range)
    #expect(status.blockSecurityStatus == [8, 9])
    let (authenticated, answer) = try await tag.authenticate(
      requestFlags: flags, cryptoSuiteIdentifier: 1, message: Data([5]))
    #expect(authenticated == [])
    #expect(answer == Data([8, 9]))
    let (_, updated) = try await tag.keyUpdate(requestFlags: flags, keyIdentifier: 2, message: Data([5]))
    #expect(updated == Data([8, 9]))
    let (_, buffer) = try await tag.readBuffer(requestFlags: flags)
    #expect(buffer == Data([8, 9]))
    let (_, data) = try await tag.sendRequest(requestFlags: 2, commandCode: 0x2B, data: Data([1]))
    #expect(data == Data([8, 9]))
    #expect(
      tag.requests == [
        [0x10, 0x2D, 2, 1], [0x10, 0x3D, 2, 0, 1, 0], [0x10, 0x3C, 2, 0, 1, 0], [2, 0x35, 1, 5], [2, 0x36, 2, 5],
        [2, 0x3A], [2, 0x2B, 1],
      ])
  }

  @Test func `writes go through sendRequest, with the tag's UID`() async throws {
    let tag = SendingISO15693Tag()
    let blocks = [Data([1]), Data([2])]
    try await tag.extendedWriteMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: blocks)
    try await tag.challenge(requestFlags: flags, cryptoSuiteIdentifier: 3, message: Data([5]))
    #expect(tag.requests == [[0x22, 0x34, 6, 5, 4, 3, 2, 1, 0x04, 0xE0, 2, 0, 1, 0, 1, 2], [2, 0x39, 3, 5]])
  }

  @Test func `an error of the tag becomes an error of the call`() async throws {
    let tag = SendingISO15693Tag()
    tag.response = [1, 0x12]
    let error = await #expect(throws: NFCReaderError.self) { _ = try await tag.readBuffer(requestFlags: flags) }
    #expect(error?.code == .readerTransceiveErrorTagResponseError)
    #expect(error?._nsError.userInfo[NFCISO15693TagResponseErrorKey] as? NSNumber == NSNumber(value: 0x12))
  }

  @Test func `a wrong parameter is reported without a request`() async throws {
    let tag = SendingISO15693Tag()
    await #expect(throws: NFCReaderError(.readerErrorParameterOutOfBound)) {
      _ = try await tag.authenticate(requestFlags: flags, cryptoSuiteIdentifier: 256, message: Data())
    }
    #expect(tag.requests.isEmpty)
  }

  // MARK: Configurations

  @Test func `a read is split into chunks`() async throws {
    let tag = MockISO15693Tag()
    let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
      range: NSRange(location: 1, length: 5), chunkSize: 2)
    let data = try await tag.readMultipleBlock(readConfiguration: configuration)
    #expect(data == Data([1, 2, 3, 4, 5]))
    #expect(tag.calls == ["read 1+2", "read 3+2", "read 5+1"])
  }

  @Test func `a command is sent again as often as the configuration says`() async throws {
    let tag = MockISO15693Tag()
    let configuration = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 4, customCommandCode: 0xA1, requestParameters: Data([7]), maximumRetries: 2, retryInterval: 0)
    tag.failures = 2
    let answer = try await tag.sendCustomCommand(commandConfiguration: configuration)
    #expect(answer == Data([7]))
    #expect(tag.calls == ["custom", "custom", "custom"])
    tag.failures = 3
    await #expect(throws: NFCReaderError(.readerTransceiveErrorRetryExceeded)) {
      _ = try await tag.sendCustomCommand(commandConfiguration: configuration)
    }
    tag.calls = []
    tag.error = NFCReaderError(.readerTransceiveErrorTagConnectionLost)
    await #expect(throws: NFCReaderError(.readerTransceiveErrorTagConnectionLost)) {
      _ = try await tag.sendCustomCommand(commandConfiguration: configuration)
    }
    #expect(tag.calls == ["custom"])
  }

  @Test func `a command of another manufacturer goes through sendRequest`() async throws {
    let tag = SendingISO15693Tag()
    tag.response = [0, 3]
    let configuration = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 7, customCommandCode: 0xA1, requestParameters: Data([1]))
    let answer = try await tag.sendCustomCommand(commandConfiguration: configuration)
    #expect(answer == Data([3]))
    #expect(tag.requests == [[2, 0xA1, 7, 1]])
  }

  @Test func `a configuration with a value out of range has code 300`() async throws {
    let tag = MockISO15693Tag()
    let invalid = NFCReaderError(.tagCommandConfigurationErrorInvalidParameters)
    for (location, length, size) in [(0, 0, 1), (0, 1, 0), (256, 1, 1), (0, 257, 1), (255, 2, 1)] {
      let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
        range: NSRange(location: location, length: length), chunkSize: size)
      await #expect(throws: invalid) { _ = try await tag.readMultipleBlock(readConfiguration: configuration) }
    }
    for (manufacturer, code, retries) in [(256, 0xA1, 0), (4, 0x9F, 0), (4, 0xA1, -1)] {
      let configuration = NFCISO15693CustomCommandConfiguration(
        manufacturerCode: manufacturer, customCommandCode: code, requestParameters: nil, maximumRetries: retries,
        retryInterval: 0)
      await #expect(throws: invalid) { _ = try await tag.sendCustomCommand(commandConfiguration: configuration) }
    }
    #expect(tag.calls.isEmpty)
  }
}
