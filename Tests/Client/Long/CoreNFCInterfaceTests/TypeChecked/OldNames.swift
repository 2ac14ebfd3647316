import CoreNFC

// Names from before iOS 14, and other members that are deprecated on iOS.

func useOldTypes(
  _ flags: RequestFlag, _ code: PollingRequestCode, _ slot: PollingTimeSlot, _ encryption: EncryptionId,
  _ mode: VASMode, _ error: VASErrorCode
) {
  let _: NFCISO15693RequestFlag = flags
  let _: NFCFeliCaPollingRequestCode = code
  let _: NFCFeliCaPollingTimeSlot = slot
  let _: NFCFeliCaEncryptionId = encryption
  let _: NFCVASCommandConfiguration.Mode = mode
  let _: NFCVASResponse.ErrorCode = error
}

func useOldMembers() {
  let _: RequestFlag = [
    .RequestFlagDualSubCarriers, .RequestFlagHighDataRate, .RequestFlagProtocolExtension, .RequestFlagSelect,
    .RequestFlagAddress, .RequestFlagOption,
  ]
  let _: [PollingRequestCode] = [
    .PollingRequestCodeNoRequest, .PollingRequestCodeSystemCode, .PollingRequestCodeCommunicationPerformance,
  ]
  let _: [PollingTimeSlot] = [
    .PollingTimeSlotMax1, .PollingTimeSlotMax2, .PollingTimeSlotMax4, .PollingTimeSlotMax8, .PollingTimeSlotMax16,
  ]
  let _: [EncryptionId] = [.aes, .aes_des]
  let _: [VASMode] = [.VASModeURLOnly, .VASModeNormal]
  let _: [VASErrorCode] = [
    .VASErrorCodeSuccess, .VASErrorCodeDataNotFound, .VASErrorCodeDataNotActivated, .VASErrorCodeWrongParameters,
    .VASErrorCodeWrongLCField, .VASErrorCodeUserIntervention, .VASErrorCodeIncorrectData,
    .VASErrorCodeUnsupportedApplicationVersion,
  ]
}

func useOldText() {
  let _: NFCNDEFPayload? = NFCNDEFPayload.wellKnowTypeTextPayload(string: "Hello", locale: Locale(identifier: "en"))
}

/// Deprecated since iOS 26.4, and used by nearly every program.
func useOldSession(_ delegate: any NFCTagReaderSessionDelegate) {
  let _: NFCTagReaderSession? = NFCTagReaderSession(pollingOption: .iso18092, delegate: delegate)
  let _: NFCTagReaderSession? = NFCTagReaderSession(pollingOption: .iso15693, delegate: delegate, queue: nil)
  if let session = NFCTagReaderSession(pollingOption: [.iso14443, .pace], delegate: delegate, queue: .main) {
    session.begin()
  }
}

func useOldISO15693Calls(_ tag: any NFCISO15693Tag) async throws {
  tag.lockDFSID(requestFlags: .highDataRate) { (error: (any Error)?) in _ = error }
  tag.getSystemInfo(requestFlags: .highDataRate) {
    (dsfid: Int, afi: Int, blockSize: Int, blockCount: Int, reference: Int, error: (any Error)?) in
    _ = (dsfid, afi, blockSize, blockCount, reference, error)
  }
  let command = NFCISO15693CustomCommandConfiguration(
    manufacturerCode: 4, customCommandCode: 0xA0, requestParameters: nil)
  tag.sendCustomCommand(commandConfiguration: command) { (answer: Data, error: (any Error)?) in _ = (answer, error) }
  let blocks = NFCISO15693ReadMultipleBlocksConfiguration(range: NSRange(location: 0, length: 8), chunkSize: 4)
  tag.readMultipleBlock(readConfiguration: blocks) { (data: Data, error: (any Error)?) in _ = (data, error) }
  try await tag.lockDFSID(requestFlags: .highDataRate)
  let _: Data = try await tag.sendCustomCommand(commandConfiguration: command)
  let _: Data = try await tag.readMultipleBlock(readConfiguration: blocks)
}
