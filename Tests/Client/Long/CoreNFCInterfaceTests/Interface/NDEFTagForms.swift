import CoreNFC

// Calls every method of NFCTag, NFCNDEFTag, __NFCTag, NFCISO7816Tag and NFCMiFareTag in each of its forms.

func useTag(_ tag: NFCTag) -> Data {
  let _: Bool = tag.isAvailable
  switch tag {
  case .feliCa(let tag): return (tag as any NFCFeliCaTag).currentIDm
  case .iso7816(let tag): return (tag as any NFCISO7816Tag).identifier
  case .iso15693(let tag): return (tag as any NFCISO15693Tag).identifier
  case .miFare(let tag): return (tag as any NFCMiFareTag).identifier
  }
}

func useTagObject(_ tag: any __NFCTag) {
  let _: any NSCopying & NSSecureCoding & NSObjectProtocol = tag
  let _: __NFCTagType = tag.type
  let _: (any NFCReaderSessionProtocol)? = tag.session
  let _: Bool = tag.isAvailable
  let _: (any NFCISO15693Tag)? = tag.asNFCISO15693Tag()
  let _: (any NFCISO7816Tag)? = tag.asNFCISO7816Tag()
  let _: (any NFCFeliCaTag)? = tag.asNFCFeliCaTag()
  let _: (any NFCMiFareTag)? = tag.asNFCMiFareTag()
}

func useNDEFTag(_ tag: any NFCNDEFTag, _ message: NFCNDEFMessage) {
  let _: any NSCopying & NSSecureCoding & NSObjectProtocol = tag
  let _: Bool = tag.isAvailable
  tag.queryNDEFStatus { (status: NFCNDEFStatus, capacity: Int, error: (any Error)?) in }
  tag.readNDEF { (message: NFCNDEFMessage?, error: (any Error)?) in }
  tag.writeNDEF(message) { (error: (any Error)?) in }
  tag.writeLock { (error: (any Error)?) in }
  // The argument is the whole handler.
  let handler: @Sendable (NFCNDEFMessage?, (any Error)?) -> Void = { _, _ in }
  tag.readNDEF(completionHandler: handler)
}

func awaitNDEFTag(_ tag: any NFCNDEFTag, _ message: NFCNDEFMessage) async throws {
  let _: (NFCNDEFStatus, Int) = try await tag.queryNDEFStatus()
  let _: NFCNDEFMessage = try await tag.readNDEF()
  let _: Void = try await tag.writeNDEF(message)
  let _: Void = try await tag.writeLock()
  let (status, capacity) = try await tag.queryNDEFStatus()
  _ = (status == .readWrite, capacity > 0)
}

func useISO7816Tag(_ tag: any NFCISO7816Tag, _ apdu: NFCISO7816APDU) async throws {
  let _: any NFCNDEFTag = tag
  let _: any __NFCTag = tag
  let _: String = tag.initialSelectedAID
  let _: Data = tag.identifier
  let _: Data? = tag.historicalBytes
  let _: Data? = tag.applicationData
  let _: Bool = tag.proprietaryApplicationDataCoding
  let _: Bool = tag.supportsPACE
  tag.sendCommand(apdu: apdu) { (data: Data, status1: UInt8, status2: UInt8, error: (any Error)?) in }
  tag.sendCommand(apdu: apdu) { (result: Result<NFCISO7816ResponseAPDU, any Error>) in }
  tag.sendCommand(apdu: apdu, resultHandler: { result in _ = try? result.get().payload })
  let _: (Data, UInt8, UInt8) = try await tag.sendCommand(apdu: apdu)
}

func useMiFareTag(_ tag: any NFCMiFareTag, _ apdu: NFCISO7816APDU) async throws {
  let _: any NFCNDEFTag = tag
  let _: any __NFCTag = tag
  let _: NFCMiFareFamily = tag.mifareFamily
  let _: Data = tag.identifier
  let _: Data? = tag.historicalBytes
  tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { (answer: Data, error: (any Error)?) in }
  tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { (result: Result<Data, any Error>) in }
  tag.sendMiFareCommand(commandPacket: Data([0x30, 0]), resultHandler: { result in _ = try? result.get() })
  let _: Data = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0]))
  tag.sendMiFareISO7816Command(apdu) { (data: Data, status1: UInt8, status2: UInt8, error: (any Error)?) in }
  tag.sendMiFareISO7816Command(apdu) { (result: Result<NFCISO7816ResponseAPDU, any Error>) in }
  let _: (Data, UInt8, UInt8) = try await tag.sendMiFareISO7816Command(apdu)
}
