public import Foundation

/// A FeliCa card (JIS X 6319-4) with a system that the program has declared (iOS 13).
///
/// Codes of nodes and services have two bytes, the low byte first. System codes have two bytes in the card's order, the
/// high byte first. Status flags are results and no errors: flag 1 is 0 if the card has carried out the command. They
/// are explained in Sony's “FeliCa Card User's Manual”, section “Status Flag”.
///
/// A command that breaks a rule is not sent, and fails with a code:
///
/// - 4: an element of a list has a wrong length.
/// - 5: a list has too few or too many elements.
/// - 105: the packet is longer than 254 bytes.
///
/// If an answer has a wrong form, the code is 102.
public protocol NFCFeliCaTag: NFCNDEFTag, __NFCTag {
  /// The system that Polling has selected last, two bytes, the high byte first.
  var currentSystemCode: Data { get }
  /// The manufacture ID of the selected system, eight bytes. Empty if the card did not answer the last Polling.
  var currentIDm: Data { get }

  /// Selects a system (Polling, command 00), and renews `currentIDm` and `currentSystemCode`.
  ///
  /// Fails with code 2 if the program has not declared the system. A code with a byte FF never is.
  ///
  /// - Parameters:
  ///   - systemCode: the system, two bytes, the high byte first.
  ///   - requestCode: what the card sends besides its manufacture parameters.
  ///   - timeSlot: how many time slots cards have for their answers.
  ///   - completionHandler: gets the manufacture parameters (PMm), eight bytes, and the requested data, two bytes or
  ///     none; or the error.
  @preconcurrency
  func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
    completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void)

  /// Asks for the key versions of 1 to 32 areas and services (command 02).
  ///
  /// - Parameters:
  ///   - nodeCodeList: the codes, two bytes each, the low byte first.
  ///   - completionHandler: gets one version for each code, two bytes, the low byte first, FFFF if there is no such
  ///     node; or the error.
  @preconcurrency
  func requestService(nodeCodeList: [Data], completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

  /// Asks for the card's mode (command 04). The handler gets 0 to 3.
  @preconcurrency
  func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void)

  /// Reads blocks of services that need no key (command 06).
  ///
  /// - Parameters:
  ///   - serviceCodeList: 1 to 16 services, two bytes each, the low byte first.
  ///   - blockList: the block list elements, two or three bytes each (JIS X 6319-4, block list).
  ///   - completionHandler: gets status flags 1 and 2, and 16 bytes for each block if flag 1 is 0; or the error.
  @preconcurrency
  func readWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void)

  /// Writes blocks of services that need no key (command 08).
  ///
  /// - Parameters:
  ///   - serviceCodeList: 1 to 16 services, two bytes each, the low byte first.
  ///   - blockList: the block list elements, two or three bytes each.
  ///   - blockData: 16 bytes for each element. If their number differs, the error has code 3.
  ///   - completionHandler: gets status flags 1 and 2, or the error.
  @preconcurrency
  func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data],
    completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void)

  /// Asks for the card's systems (command 0C). The handler gets two bytes for each as the card sends them, the high
  /// byte first.
  @preconcurrency
  func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

  /// Asks for the key versions of 1 to 32 areas and services for both kinds of encryption (command 32).
  ///
  /// - Parameters:
  ///   - nodeCodeList: the codes, two bytes each, the low byte first.
  ///   - completionHandler: gets status flags 1 and 2, the kind of encryption, and the AES and the DES versions, two
  ///     bytes each; or the error. Unless flag 1 is 0, the lists are empty and the kind has no meaning.
  @preconcurrency
  func requestServiceV2(
    nodeCodeList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void)

  /// Asks for the versions of the card's operating system (command 3C).
  ///
  /// The handler gets status flags 1 and 2, and the basic version and the versions of the options, two bytes each, the
  /// low byte first. Both are empty unless flag 1 is 0.
  @preconcurrency
  func requestSpecificationVersion(completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void)

  /// Puts the card into mode 0 (command 3E). The handler gets status flags 1 and 2.
  @preconcurrency
  func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void)

  /// Sends a command of the program's own.
  ///
  /// The daemon refuses commands other than those of this protocol with code 2.
  ///
  /// - Parameters:
  ///   - commandPacket: the command code and the bytes after it, 1 to 254 bytes, without the length byte.
  ///   - completionHandler: gets the response code and the bytes after it, without the length byte; or the error.
  @preconcurrency
  func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The `async` forms. They return what a completion handler gets.
extension NFCFeliCaTag {
  public func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot
  ) async throws -> (Data, Data) {
    try await fromHandler {
      polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot, completionHandler: $0)
    }
  }

  public func requestService(nodeCodeList: [Data]) async throws -> [Data] {
    try await fromHandler { requestService(nodeCodeList: nodeCodeList, completionHandler: $0) }
  }

  public func requestResponse() async throws -> Int {
    try await fromHandler { requestResponse(completionHandler: $0) }
  }

  public func readWithoutEncryption(serviceCodeList: [Data], blockList: [Data]) async throws -> (Int, Int, [Data]) {
    try await fromHandler {
      readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList, completionHandler: $0)
    }
  }

  public func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data]
  ) async throws -> (Int, Int) {
    try await fromHandler {
      writeWithoutEncryption(
        serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData, completionHandler: $0)
    }
  }

  public func requestSystemCode() async throws -> [Data] {
    try await fromHandler { requestSystemCode(completionHandler: $0) }
  }

  public func requestServiceV2(nodeCodeList: [Data]) async throws -> (Int, Int, NFCFeliCaEncryptionId, [Data], [Data]) {
    try await fromHandler { requestServiceV2(nodeCodeList: nodeCodeList, completionHandler: $0) }
  }

  public func requestSpecificationVersion() async throws -> (Int, Int, Data, Data) {
    try await fromHandler { requestSpecificationVersion(completionHandler: $0) }
  }

  public func resetMode() async throws -> (Int, Int) { try await fromHandler { resetMode(completionHandler: $0) } }

  public func sendFeliCaCommand(commandPacket: Data) async throws -> Data {
    try await fromHandler { sendFeliCaCommand(commandPacket: commandPacket, completionHandler: $0) }
  }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The forms with a result (iOS 14). What the card has not sent is nil.
extension NFCFeliCaTag {
  @preconcurrency
  public func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
    resultHandler: @escaping @Sendable (Result<NFCFeliCaPollingResponse, any Error>) -> Void
  ) {
    polling(
      systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot,
      completionHandler: {
        resultHandler(outcome($2, NFCFeliCaPollingResponse(manufactureParameter: $0, requestData: $1.orNil)))
      })
  }

  @preconcurrency
  public func requestService(
    nodeCodeList: [Data], resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
  ) {
    requestService(nodeCodeList: nodeCodeList, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  @preconcurrency
  public func requestResponse(resultHandler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    requestResponse(completionHandler: { resultHandler(outcome($1, $0)) })
  }

  @preconcurrency
  public func readWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data],
    resultHandler: @escaping @Sendable (Result<(NFCFeliCaStatusFlag, [Data]), any Error>) -> Void
  ) {
    readWithoutEncryption(
      serviceCodeList: serviceCodeList, blockList: blockList,
      completionHandler: {
        resultHandler(outcome($3, (NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1), $2)))
      })
  }

  @preconcurrency
  public func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data],
    resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void
  ) {
    writeWithoutEncryption(
      serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData,
      completionHandler: { resultHandler(outcome($2, NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1))) })
  }

  @preconcurrency
  public func requestSystemCode(resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void) {
    requestSystemCode(completionHandler: { resultHandler(outcome($1, $0)) })
  }

  @preconcurrency
  public func requestServiceV2(
    nodeCodeList: [Data],
    resultHandler: @escaping @Sendable (Result<NFCFeliCaRequsetServiceV2Response, any Error>) -> Void
  ) {
    requestServiceV2(
      nodeCodeList: nodeCodeList,
      completionHandler: {
        resultHandler(
          outcome(
            $5,
            NFCFeliCaRequsetServiceV2Response(
              statusFlag1: $0, statusFlag2: $1, encryptionIdentifier: $2, nodeKeyVersionListAES: $3.orNil,
              nodeKeyVersionListDES: $4.orNil)))
      })
  }

  @preconcurrency
  public func requestSpecificationVersion(
    resultHandler: @escaping @Sendable (Result<NFCFeliCaRequestSpecificationVersionResponse, any Error>) -> Void
  ) {
    requestSpecificationVersion(completionHandler: {
      resultHandler(
        outcome(
          $4,
          NFCFeliCaRequestSpecificationVersionResponse(
            statusFlag1: $0, statusFlag2: $1, basicVersion: $2.orNil, optionVersion: $3.orNil)))
    })
  }

  @preconcurrency
  public func resetMode(resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void) {
    resetMode(completionHandler: {
      resultHandler(outcome($2, NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1)))
    })
  }

  @preconcurrency
  public func sendFeliCaCommand(
    commandPacket: Data, resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    sendFeliCaCommand(commandPacket: commandPacket, completionHandler: { resultHandler(outcome($1, $0)) })
  }
}

extension Collection {
  /// Nil if there are no elements.
  fileprivate var orNil: Self? { isEmpty ? nil : self }
}
