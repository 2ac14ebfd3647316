import Names
import PN53x
import ReaderProtocol
import Rig
import Tags
import Testing

@testable import LibNFCReader
@testable import ReaderSimulator

/// Captures of chips that libnfc drives, and of tags on the air as such a chip would tell of them.
enum ChipCapture: String, CaseIterable, Sendable {
  case serialOpening = "pn532/hsu-open-115200"
  case serialRead = "pn532/hsu-read-921600"
  case emptyField = "pn532/hsu-empty-field"
  case serialType2 = "pn532/hsu-type2"
  case clone = "pn532/i2c-clone-ntag"
  case brokenClone = "pn532/clone-ntag-dump"
  case factoryNTAG213 = "pn532/factory-ntag213"
  case threeCards = "pn532/classic-and-ul-frames"
  case dualCard = "pn532/cpu-card-sak28"
  case javaCardATS = "pn532/jcop-ats-i2c"
  case unknownCode = "pn532/error-frame-unknown-code"
  case malformedPoll = "pn532/error-frame-bad-poll"
  case noise = "pn532/noise-while-opening"
  case unknownTarget = "pn532/unknown-target"
  case spiClassic = "pn532/target-bytes-spi"
  case refusedParameters = "pn533/rcs360-refuses-setparameters"
  case silentLooks = "pn533/rcs360-silent-looks"
  case infineonClassic = "pn533/scl3711-infineon-classic"
  case cardWithoutATS = "pn533/rcs330-sense"
  case usbOpening = "acr122u-libnfc/open"
  case otherUSBOpening = "acr122u-libnfc/open-variant"
  case foundAgain = "acr122u-libnfc/found-again-after-deselect"
  case listedByUID = "acr122u-libnfc/list-by-uid-without-ats"
  case answersOneLate = "acr122u-libnfc/answers-one-late"
  case halted = "acr122u-libnfc/halt-by-raw-frame"
  case touchatag = "acr122u-libnfc/felica-listed-twice"
  case octopus = "tags/octopus-212"
  case readOnly = "tags/t4-write-access-80"
  case ntag424 = "tags/ntag424"
  case liteS = "tags/felica-lite-s"
  case suica = "tags/suica"
  case needsLe = "tags/nrf-needs-le"
  case needsOtherP2 = "tags/javacard-p2"
  case ticket = "tags/odd-sak00-4byte"

  /// libnfc itself fails with this when it opens the chip: see `ReplayTests`.
  static let unopenable = ChipCapture.noise

  /// The first tag of Type A, as its owner knows it; nil if the trace has none.
  var tag: (type: TagType, uid: String)? {
    switch self {
    case .serialType2: (.type2, "047ABB11D33CE3")
    case .clone: (.type2, "5321D4CF330001")
    case .threeCards: (.mifareClassic, "8A47CF3B")
    case .spiClassic: (.mifareClassic, "1AB5B51C")
    case .cardWithoutATS: (.type4A, "17C2E43B")
    case .ticket: (.type2, "65EBF1A9")
    case .dualCard: (.type4A, "FD0C4138")
    case .javaCardATS: (.type4A, "00000000000000")
    case .ntag424: (.type4A, "04010203040506")
    case .foundAgain: (.mifareClassic, "826DE4C8")
    default: nil
    }
  }

  /// How many recorded commands Tagroute does not send, and why.
  fileprivate var unsent: (count: Int, reason: String) {
    switch self {
    case .serialOpening: (2, "nfcpy sets up the chip and the line")
    case .serialRead: (1, "nfcpy sets two limits of time at once")
    case .serialType2: (1, "the publisher's library sets up the chip")
    case .unknownCode: (1, "Tagroute sends it past the firmware, which does not know it")
    case .needsLe: (1, "Tagroute sends SELECT with Le first")
    default: (0, "")
    }
  }
}

@Suite struct ChipCaptureTests {
  private static let message: [UInt8] = [0xD1, 0x01, 0x0A, 0x55, 0x04] + Array("a.example".utf8)

  @Test(arguments: ChipCapture.allCases.filter { $0 != .unopenable })
  func `a recorded chip has the outcome that its owner expects`(capture: ChipCapture) throws {
    let reader = try OpenReader(recording: Capture.replay(capture.rawValue))
    let device = reader.device
    switch capture {
    case .serialOpening, .usbOpening, .otherUSBOpening: #expect(try device.perform([0x02]) == [0x32, 0x01, 0x06, 0x07])
    case .touchatag:
      #expect(try device.perform([0x02]) == [0x32, 0x01, 0x04, 0x07])
      #expect(try device.perform([0x12, 0x14]) == [])
    case .serialRead:
      #expect(try device.readRegisters([0x6302, 0x6303, 0x6305]) == [0x80, 0x00, 0x43])
      try device.writeRegisters([(0x6302, 0x80), (0x6303, 0x00), (0x6305, 0x43)])
      guard case .bytes(let data) = try device.communicateThru([0x30, 0x0A]) else { throw RigError("no answer") }
      #expect(data == Array(0...15) + [0, 0])
    case .emptyField:
      for modulation in Modulation.allCases { #expect(try device.select(modulation) == nil) }
      try device.deselect()
    case .serialType2, .clone:
      try finds(capture, device)
      try device.fallInStep()
    case .threeCards:
      try finds(capture, device)
      try finds(.type2, "044CD87456DABD", device)
      try finds(.mifareClassic, "6E11DCBA", device)
    case .spiClassic, .cardWithoutATS, .ticket: try finds(capture, device)
    case .dualCard: #expect(try finds(capture, device)?.historicalBytes.count == 11)
    case .javaCardATS: #expect(try finds(capture, device)?.historicalBytes.count == 14)
    case .ntag424: #expect(try finds(capture, device)?.historicalBytes == [0x80])
    case .liteS: try findsFeliCa("012E82301D26BD85", [0x88, 0xB4], device)
    case .suica: try findsFeliCa("0110C3AA421AC0D5", nil, device)
    case .octopus:
      #expect(try device.select(.felica424) == nil)
      try findsFeliCa("0108A1B2C3D4E5F6", [0x80, 0x08], device)
    case .foundAgain:
      // Two looks, one tag.
      try finds(capture, device)
      try device.deselect()
      try finds(capture, device)
    case .brokenClone:
      let uid: [UInt8] = [0x53, 0x69, 0x2B, 0xC9, 0x60, 0x00, 0x01]
      let content = try read(.type2(.ntag213, message: Self.message, uid: .fixed(uid)), reader)
      #expect(content.reason.hasPrefix("damaged: "), "\(content)")
    case .factoryNTAG213:
      let content = try read(.type2(.ntag213, message: Self.message), reader)
      #expect(content.reason.hasPrefix("empty: "), "\(content)")
    case .infineonClassic:
      let uid: [UInt8] = [0x77, 0x7E, 0x27, 0x3A]
      #expect(
        try read(.mifareClassic(.classic1K, message: Self.message, uid: .fixed(uid)), reader) == .message(Self.message))
    case .needsLe: #expect(try read(.type4(message: Self.message), reader) == .message(Self.message))
    case .needsOtherP2:
      let options = Type4Options { $0.selectsFilesWith = 0x00 }
      #expect(try read(.type4(message: Self.message, options: options), reader) == .message(Self.message))
    case .unknownTarget:
      let content = try read(.type4(message: Self.message), reader)
      #expect(content.reason.hasPrefix("damaged: reading failed: "), "\(content)")
    case .unknownCode:
      // The command goes past the firmware, which would refuse it, so the tag itself refuses it and the chip lives on.
      try reader.withTag(try .type2(.ntag213, message: Self.message), .typeA) { channel in
        #expect(throws: TagChannelError.self) { try channel.exchange([0xAF, 0x00]) }
        #expect(channel.failure == nil)
        #expect(content(of: channel.tag, over: &channel) == .message(Self.message))
      }
    case .readOnly:
      try reader.withTag(try .type4(message: Self.message), .typeA) { channel in
        let status = try channel.tag.queryNDEF(over: &channel)
        #expect(status.access == .readOnly)
        #expect(content(of: channel.tag, over: &channel) == .message(Self.message))
      }
    case .malformedPoll:
      // Tagroute's own polls are well-formed.
      try fails("was unplugged or stopped working") {
        try device.perform([0x4A, 0x01, 0x01, 0x80, 0x40, 0xCE, 0x66, 0x2F])
      }
      #expect(try device.perform([0x32, 0x05, 0xFF, 0xFF, 0xFF]) == [])
    case .silentLooks:
      // With these retries, which Tagroute does not set, a look has no end.
      try device.perform([0x32, 0x05, 0xFF, 0xFF, 0xFF])
      for modulation in [Modulation.typeA, .typeB, .felica212] {
        try fails("does not answer any more") { try device.select(modulation) }
      }
    case .answersOneLate:
      try fails("was unplugged or stopped working") { try device.readRegisters([0x6302, 0x6303]) }
      try fails("was unplugged or stopped working") { try device.perform([0x32, 0x05, 0xFF, 0xFF, 0xFF]) }
    case .listedByUID:
      let tag = TypeAActivation(atqa: [0x00, 0x04], sak: 0x28, uid: [0xA0, 0x59, 0xAB, 0xF5])
      #expect(try device.selectAgain(.typeA(tag)) == .typeA(tag))
      try fails("was unplugged or stopped working") {
        try device.exchange([0x00, 0xA4, 0x04, 0x00, 0x06, 0xF7, 0x52, 0x46, 0x54, 0x41, 0x01])
      }
    case .halted:
      guard case .silence = try device.communicateThru([0x50, 0x00, 0x57, 0xCD]) else { throw RigError("an answer") }
      #expect(try device.readRegisters([0x633D]) == [0])
      try device.writeRegisters([(0x633D, 0x07)])
      guard case .silence = try device.communicateThru([0x40]) else { throw RigError("an answer") }
    case .refusedParameters:
      // libnfc's driver for this chip, on USB, gives it up while it opens it.
      #expect(try device.perform([0x02]) == [0x33, 0x01, 0x30, 0x07])
      try fails("was unplugged or stopped working") { try device.perform([0x12, 0x14]) }
    case .noise: break
    }
    let remaining = (device.line as? SimulatedLine)?.chip.recording?.remaining
    #expect(remaining?.count == capture.unsent.count, "\(capture.unsent.reason): \(String(describing: remaining))")
  }

  @discardableResult
  private func finds(_ capture: ChipCapture, _ device: NFCDevice) throws -> TypeAActivation? {
    let tag = try #require(capture.tag)
    return try finds(tag.type, tag.uid, device)
  }

  @discardableResult
  private func finds(_ type: TagType, _ uid: String, _ device: NFCDevice) throws -> TypeAActivation? {
    let tag = try device.select(.typeA)
    #expect(tag?.type == type && tag?.identifier == Hexadecimal.bytes(uid))
    guard case .typeA(let activation) = tag else { return nil }
    return activation
  }

  private func findsFeliCa(_ idm: String, _ systemCode: [UInt8]?, _ device: NFCDevice) throws {
    guard case .felica(let card) = try device.select(.felica212) else { throw RigError("no card") }
    #expect(card.idm == Hexadecimal.bytes(idm) && card.systemCode == systemCode && card.pmm.count == 8)
  }

  /// The content of a simulated tag, of which the capture has a part.
  private func read(_ tag: SimulatedTag, _ reader: OpenReader) throws -> TagReport.Content {
    try reader.withTag(tag, .typeA) { channel in content(of: channel.tag, over: &channel) }
  }

  /// The reader is named as failing, for this reason.
  private func fails<Value>(_ reason: String, _ body: () throws -> Value) throws {
    let failure = #expect(throws: ChipFailure.self) { _ = try body() }
    #expect(failure?.reason.hasSuffix(reason) == true)
  }
}
