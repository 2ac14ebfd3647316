import Bus
import Names
import TagrouteClient
import Testing

@testable import CoreNFC

/// Which code an answer of the daemon becomes.
@Suite struct AnswerCodeTests {
  @Test(arguments: [
    (Names.Errors.notPossible, 1), (Names.Errors.notAuthorized, 2), (Names.Errors.invalidArgument, 2),
    (Names.Errors.tooMany, 203), (Names.Errors.busy, 203), (BusError.Name.nameHasNoOwner, 1),
  ])
  func `a refused start`(error: String, code: Int) {
    #expect(NFCReaderError(BusError(name: error, message: "no"), in: .start).code.rawValue == code)
  }

  /// The codes of a read, a write and a raw command.
  @Test(arguments: [
    (Names.Errors.tagLost, [100, 100, 100]), (BusError.Name.unknownObject, [100, 100, 100]),
    (Names.Errors.readerLost, [100, 100, 100]), (Names.Errors.timedOut, [102, 102, 102]),
    (Names.Errors.refused, [102, 401, 102]), (Names.Errors.sessionEnded, [103, 103, 103]),
    (Names.Errors.tooLong, [402, 402, 105]), (Names.Errors.notAuthorized, [2, 2, 2]),
    (Names.Errors.invalidArgument, [3, 3, 3]), (Names.Errors.notSupported, [1, 1, 1]),
    (Names.Errors.readOnly, [400, 400, 400]), (Names.Errors.empty, [403, 403, 403]),
    (Names.Errors.notAsWritten, [401, 401, 401]), (Names.Errors.cannotLock, [401, 401, 401]),
    (Names.Errors.notFormatted, [1, 1, 1]), (Names.Errors.busy, [101, 101, 101]),
    (BusError.Name.noReply, [103, 103, 103]),
  ])
  func `a failed call to a tag`(error: String, codes: [Int]) {
    let operations: [NFCReaderError.Operation] = [.read, .write, .command]
    let error = BusError(name: error, message: "no")
    #expect(operations.map { NFCReaderError(error, in: $0).code.rawValue } == codes)
  }

  @Test func `the end of a session`() {
    let codes = ReaderSessionEnd.Reason.allCases.map { reason in
      NFCReaderError.Code(reason, ownEnd: .readerErrorIneligible).rawValue
    }
    // Invalidated, cancelled, timed out, first read; the others are ends that nobody asked for.
    #expect(codes == [7, 200, 201, 204, 202, 202, 202, 202, 202])
  }

  @Test func `the family of a MIFARE tag follows from its technology and its historical bytes`() {
    let families = [
      NFCMiFareFamily("type-2", []), NFCMiFareFamily("type-4a", [0x80]),
      NFCMiFareFamily("type-4a", [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]), NFCMiFareFamily("type-4a", []),
      NFCMiFareFamily("type-4b", [0x80]), NFCMiFareFamily("type-5", []),
    ]
    #expect(families == [.ultralight, .desfire, .plus, .unknown, .unknown, .unknown])
  }
}
