public import Foundation

/// The `async` forms. They return what a completion handler gets.
extension NFCFeliCaTag {
  /// Selects a system, and returns the manufacture parameters and the requested data.
  public func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot
  ) async throws -> (Data, Data) {
    try await fromHandler {
      polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot, completionHandler: $0)
    }
  }

  /// Returns the key versions of areas and services.
  public func requestService(nodeCodeList: [Data]) async throws -> [Data] {
    try await fromHandler { requestService(nodeCodeList: nodeCodeList, completionHandler: $0) }
  }

  /// Returns the card's mode, 0 to 3.
  public func requestResponse() async throws -> Int {
    try await fromHandler { requestResponse(completionHandler: $0) }
  }

  /// Reads blocks, and returns status flags 1 and 2 and the blocks.
  public func readWithoutEncryption(serviceCodeList: [Data], blockList: [Data]) async throws -> (Int, Int, [Data]) {
    try await fromHandler {
      readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList, completionHandler: $0)
    }
  }

  /// Writes blocks, and returns status flags 1 and 2.
  public func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data]
  ) async throws -> (Int, Int) {
    try await fromHandler {
      writeWithoutEncryption(
        serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData, completionHandler: $0)
    }
  }

  /// Returns the codes of the card's systems, the high byte first.
  public func requestSystemCode() async throws -> [Data] {
    try await fromHandler { requestSystemCode(completionHandler: $0) }
  }

  /// Returns status flags 1 and 2, the kind of encryption, and the AES and the DES key versions.
  public func requestServiceV2(
    nodeCodeList: [Data]
  ) async throws -> (Int, Int, NFCFeliCaEncryptionId, [Data], [Data]) {
    try await fromHandler { requestServiceV2(nodeCodeList: nodeCodeList, completionHandler: $0) }
  }

  /// Returns status flags 1 and 2, the basic version, and the versions of the options.
  public func requestSpecificationVersion() async throws -> (Int, Int, Data, Data) {
    try await fromHandler { requestSpecificationVersion(completionHandler: $0) }
  }

  /// Puts the card into mode 0, and returns status flags 1 and 2.
  public func resetMode() async throws -> (Int, Int) { try await fromHandler { resetMode(completionHandler: $0) } }

  /// Sends a command of the program's own, and returns the answer from the response code on.
  public func sendFeliCaCommand(commandPacket: Data) async throws -> Data {
    try await fromHandler { sendFeliCaCommand(commandPacket: commandPacket, completionHandler: $0) }
  }
}

/// The forms with a result (iOS 14).
extension NFCFeliCaTag {
  /// Selects a system. The requested data is nil if the card has sent none.
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

  /// Asks for the key versions of areas and services.
  @preconcurrency
  public func requestService(
    nodeCodeList: [Data], resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
  ) {
    requestService(nodeCodeList: nodeCodeList, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Asks for the card's mode, 0 to 3.
  @preconcurrency
  public func requestResponse(resultHandler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    requestResponse(completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Reads blocks.
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

  /// Writes blocks.
  @preconcurrency
  public func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data],
    resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void
  ) {
    writeWithoutEncryption(
      serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData,
      completionHandler: { resultHandler(outcome($2, NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1))) })
  }

  /// Asks for the codes of the card's systems, the high byte first.
  @preconcurrency
  public func requestSystemCode(resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void) {
    requestSystemCode(completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Asks for the key versions for both kinds of encryption. A list that the card has not sent is nil.
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

  /// Asks for the versions of the card's operating system. A version that the card has not sent is nil.
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

  /// Puts the card into mode 0.
  @preconcurrency
  public func resetMode(resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void) {
    resetMode(completionHandler: {
      resultHandler(outcome($2, NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1)))
    })
  }

  /// Sends a command of the program's own.
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
