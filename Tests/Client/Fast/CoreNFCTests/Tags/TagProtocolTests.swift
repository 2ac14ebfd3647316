import Foundation
import Testing

@testable import CoreNFC

/// Every form of every call, on tags that implement the requirements alone.
@Suite struct TagProtocolTests {
  private let apdu = NFCISO7816APDU(
    instructionClass: 0, instructionCode: 0xB0, p1Parameter: 0, p2Parameter: 0, data: Data(), expectedResponseLength: 2)
  private let failure = NFCReaderError(.readerTransceiveErrorTagConnectionLost)

  @Test func `an NDEF tag works through every form`() async throws {
    let tag: any NFCNDEFTag = MockTag()
    let (status, capacity) = try await tag.queryNDEFStatus()
    #expect(status == .readWrite)
    #expect(capacity == 137)
    let message = NFCNDEFMessage(records: [])
    try await tag.writeNDEF(message)
    let read = try await tag.readNDEF()
    #expect(read === message)
    try await tag.writeLock()
    #expect((tag as? MockTag)?.calls == ["writeLock"])
  }

  @Test func `a handler without a message and without an error means an empty tag`() async throws {
    let tag = MockTag()
    await #expect(throws: NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage)) { _ = try await tag.readNDEF() }
  }

  @Test func `an ISO 7816 tag works through every form`() async throws {
    let tag = MockISO7816Tag()
    let (data, status1, status2) = try await tag.sendCommand(apdu: apdu)
    #expect(data == Data([0xB0]))
    #expect([status1, status2] == [0x90, 0x01])
    let response = try await fromResult { tag.sendCommand(apdu: apdu, resultHandler: $0) }
    #expect(response.payload == Data([0xB0]))
    #expect(response.statusWord1 == 0x90 && response.statusWord2 == 0x01)
    #expect(!tag.supportsPACE)
    tag.error = failure
    await #expect(throws: failure) { _ = try await tag.sendCommand(apdu: apdu) }
    await #expect(throws: failure) { _ = try await fromResult { tag.sendCommand(apdu: apdu, resultHandler: $0) } }
  }

  @Test func `a MIFARE tag works through every form`() async throws {
    let tag = MockMiFareTag()
    let answer = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04]))
    #expect(answer == Data([0x30, 0x04]))
    let (data, status1, status2) = try await tag.sendMiFareISO7816Command(apdu)
    #expect(data == Data([0xB0]))
    #expect([status1, status2] == [0x6A, 0x82])
    let packet = try await fromResult { tag.sendMiFareCommand(commandPacket: Data([0x60]), resultHandler: $0) }
    #expect(packet == Data([0x60]))
    let response = try await fromResult { tag.sendMiFareISO7816Command(apdu, resultHandler: $0) }
    #expect(response.statusWord1 == 0x6A && response.statusWord2 == 0x82)
  }

  @Test func `the number of a closure's parameters selects the form`() async {
    let tag = MockFeliCaTag()
    await confirmation(expectedCount: 2) { answered in
      tag.requestResponse { mode, error in
        if mode == 2, error == nil { answered() }
      }
      tag.requestResponse { result in
        if (try? result.get()) == 2 { answered() }
      }
    }
  }

  @Test func `a FeliCa tag works through every async form`() async throws {
    let tag = MockFeliCaTag()
    tag.extra = Data([0x12, 0xFC])
    let (pmm, requestData) = try await tag.polling(
      systemCode: Data([0x00, 0x03]), requestCode: .systemCode, timeSlot: .max1)
    #expect([pmm, requestData] == [Data([0x00, 0x03]), Data([0x12, 0xFC])])
    let versions = try await tag.requestService(nodeCodeList: [Data([0x0F, 0x09])])
    #expect(versions == [Data([0x0F, 0x09])])
    let mode = try await tag.requestResponse()
    #expect(mode == 2)
    let read = try await tag.readWithoutEncryption(serviceCodeList: [Data([1])], blockList: [Data([2])])
    #expect(read.0 == 1 && read.1 == 0xA6)
    #expect(read.2 == [Data([1]), Data([2])])
    let written = try await tag.writeWithoutEncryption(serviceCodeList: [], blockList: [], blockData: [Data()])
    #expect(written.0 == 0 && written.1 == 1)
    let systems = try await tag.requestSystemCode()
    #expect(systems == [Data([0x00, 0x03])])
    let service = try await tag.requestServiceV2(nodeCodeList: [Data([1])])
    #expect(service.0 == 0 && service.1 == 1)
    #expect(service.2 == .AES_DES)
    #expect(service.3 == [Data([1])] && service.4 == [Data([0x12, 0xFC])])
    let specification = try await tag.requestSpecificationVersion()
    #expect(specification.0 == 0 && specification.1 == 1)
    #expect(specification.2 == Data([0x00, 0x04]) && specification.3 == Data([0x12, 0xFC]))
    let reset = try await tag.resetMode()
    #expect(reset.0 == 0 && reset.1 == 1)
    let answer = try await tag.sendFeliCaCommand(commandPacket: Data([9]))
    #expect(answer == Data([9]))
  }

  @Test func `a FeliCa tag works through every form with a result`() async throws {
    let tag = MockFeliCaTag()
    let polled = try await fromResult {
      tag.polling(systemCode: Data([0, 3]), requestCode: .noRequest, timeSlot: .max1, resultHandler: $0)
    }
    #expect(polled.manufactureParameter == Data([0, 3]))
    #expect(polled.requestData == nil)
    let versions = try await fromResult { tag.requestService(nodeCodeList: [Data([1])], resultHandler: $0) }
    #expect(versions == [Data([1])])
    let mode = try await fromResult { tag.requestResponse(resultHandler: $0) }
    #expect(mode == 2)
    let (flags, blocks) = try await fromResult {
      tag.readWithoutEncryption(serviceCodeList: [Data([1])], blockList: [], resultHandler: $0)
    }
    #expect(flags.statusFlag1 == 1 && flags.statusFlag2 == 0xA6)
    #expect(blocks == [Data([1])])
    let written = try await fromResult {
      tag.writeWithoutEncryption(serviceCodeList: [], blockList: [], blockData: [], resultHandler: $0)
    }
    #expect(written.statusFlag1 == 0 && written.statusFlag2 == 0)
    let systems = try await fromResult { tag.requestSystemCode(resultHandler: $0) }
    #expect(systems == [Data([0, 3])])
    let service = try await fromResult { tag.requestServiceV2(nodeCodeList: [Data([1])], resultHandler: $0) }
    #expect(service.encryptionIdentifier == .AES_DES)
    #expect(service.nodeKeyVersionListAES == [Data([1])])
    #expect(service.nodeKeyVersionListDES == nil)
    let specification = try await fromResult { tag.requestSpecificationVersion(resultHandler: $0) }
    #expect(specification.basicVersion == Data([0, 4]))
    #expect(specification.optionVersion == nil)
    let reset = try await fromResult { tag.resetMode(resultHandler: $0) }
    #expect(reset.statusFlag1 == 0 && reset.statusFlag2 == 1)
    let answer = try await fromResult { tag.sendFeliCaCommand(commandPacket: Data([9]), resultHandler: $0) }
    #expect(answer == Data([9]))
  }

  @Test func `a tag is returned only as the kind that it is`() {
    let tag: any __NFCTag = MockFeliCaTag()
    let isSame = tag.asNFCFeliCaTag() === tag
    #expect(isSame)
    #expect(tag.asNFCISO7816Tag() == nil)
    #expect(tag.asNFCMiFareTag() == nil)
    #expect(tag.asNFCISO15693Tag() == nil)
    #expect(MockISO15693Tag().asNFCISO15693Tag() != nil)
    #expect(MockISO7816Tag().asNFCISO7816Tag() != nil)
    #expect(MockMiFareTag().asNFCMiFareTag() != nil)
  }
}

@Suite struct HandlerConversionTests {
  private typealias Handler = @Sendable (Int, (any Error)?) -> Void

  /// Starts a task that waits for Request Response, and returns it with the handler that the tag got.
  private func waitingTask() async throws -> (Task<Int, any Error>, Handler) {
    let (calls, call) = AsyncStream.makeStream(of: Handler.self)
    let task = Task {
      let tag = MockFeliCaTag()
      tag.onRequestResponse = { call.yield($0) }
      return try await tag.requestResponse()
    }
    var iterator = calls.makeAsyncIterator()
    let handler = await iterator.next()
    return (task, try #require(handler))
  }

  @Test func `an async form throws the error of the handler`() async throws {
    let (task, handler) = try await waitingTask()
    handler(0, NFCReaderError(.readerTransceiveErrorTagNotConnected))
    await #expect(throws: NFCReaderError(.readerTransceiveErrorTagNotConnected)) { try await task.value }
  }

  @Test func `a cancelled task throws at once, and the later answer is dropped`() async throws {
    let (task, handler) = try await waitingTask()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    handler(1, nil)
  }

  @Test func `an async form returns an answer that comes later, and only the first one counts`() async throws {
    let (task, handler) = try await waitingTask()
    handler(1, nil)
    handler(2, nil)
    handler(0, NFCReaderError(.readerErrorInvalidParameter))
    task.cancel()
    let mode = try await task.value
    #expect(mode == 1)
  }

  @Test func `a task that was cancelled before makes no call`() async throws {
    let task = Task {
      withUnsafeCurrentTask { (task: UnsafeCurrentTask?) -> Void in task?.cancel() }
      let tag = MockFeliCaTag()
      tag.onRequestResponse = { handler in
        Issue.record("the call was made")
        handler(1, nil)
      }
      return try await tag.requestResponse()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @MainActor @Test func `the call is made on the caller's actor`() async throws {
    let tag = MockFeliCaTag()
    tag.onRequestResponse = { handler in
      MainActor.preconditionIsolated()
      handler(3, nil)
    }
    let mode = try await tag.requestResponse()
    #expect(mode == 3)
  }

  @Test func `a value without an error is a success, and an error takes precedence`() throws {
    #expect(try outcome(nil, 1).get() == 1)
    #expect(throws: CancellationError.self) { try outcome(CancellationError(), 1).get() }
  }
}
