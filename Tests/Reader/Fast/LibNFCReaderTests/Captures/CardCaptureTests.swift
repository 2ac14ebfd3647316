import Names
import PN53x
import ReaderKit
import ReaderProtocol
import Rig
import Tags
import Testing

@testable import PCSCReader
@testable import ReaderModels
@testable import ReaderSimulator

/// Captures of readers that pcscd drives.
enum CardCapture: String, CaseIterable, Sendable {
  case firmware = "acr122u-libnfc/firmware-215"
  case chipError = "acr122u-libnfc/status-63-7f"
  case ghost = "acr122u-pcscd/ghost-card-3b00"
  case needsWrapper = "acr122u-pcscd/raw-command-needs-wrapper"
  case password = "acr122u-pcscd/pwd-auth"
  case wrongKey = "acr122u-pcscd/auth-6300"
  case writtenButRefused = "acr122u-pcscd/write-6300-but-written"
  case touchatag = "acr122u-pcscd/touchatag-atr"
  case phone = "acr122u-pcscd/phone-hce"
  case noCard = "acr122u-pcscd/nothing-without-tag"
  case acr1251U = "acs-pcsc/acr1251u-c"
  case acr1252U = "acs-pcsc/acr1252u-felica"
  case securityModule = "acs-pcsc/acr1252-sam-slot"
  case acr1281U = "acs-pcsc/acr1281u-slots"
  case acr1552U = "acs-pcsc/acr1552u-icode"
  case rcS300 = "other-pcsc/rcs300-macos"
  case rcS300Scan = "other-pcsc/rcs300-linux-scan"
  case rcS300Type2 = "other-pcsc/rcs300-linux-ntag"
  case ak9567 = "other-pcsc/ak9567"
  case mute = "other-pcsc/utrust3700-mute"
  case javaCard = "other-pcsc/utrust3700-dual-card"
  case seos = "other-pcsc/omnikey5427-seos"
  case yubiKey = "other-pcsc/yubikey-by-scl3711"
  case paddedATR = "other-pcsc/ifdnlnfc-padded-atr"
  case selectAcknowledges = "tags/acr122u-sak-names"
  case largeST25 = "tags/st25-cc-ff09"
  case longAnswer = "other-pcsc/sdk-chain"

  /// The first card that the reader names, as its owner knows it; nil if the trace has none.
  var card: (type: TagType, uid: String)? {
    switch self {
    case .acr1251U: (.type3, "0101050173F04F10")
    case .acr1281U: (.type4A, "02BB9263D2A4DE")
    case .acr1552U: (.type5, "E004015012345678")
    case .rcS300: (.type3, "012E4CD4EA230D91")
    case .rcS300Type2: (.type2, "04A707A4DEB742")
    case .ak9567: (.type2, "04C6AF71DD1785")
    default: nil
    }
  }

  /// How many recorded commands Tagroute does not send, and why.
  fileprivate var unsent: (count: Int, reason: String) {
    switch self {
    case .firmware: (2, "Tagroute does not ask for the firmware, and leaves the reader's polling as it is")
    case .acr1251U: (2, "Tagroute asks no memory card for its answer to select")
    case .rcS300: (2, "Tagroute asks a FeliCa card neither for its answer to select nor for pages")
    default: (0, "")
    }
  }
}

@Suite struct CardCaptureTests {
  private static let message: [UInt8] = [0xD1, 0x01, 0x0A, 0x55, 0x04] + Array("a.example".utf8)

  @Test(arguments: CardCapture.allCases)
  func `a recorded reader has the outcome that its owner expects`(capture: CardCapture) throws {
    var slot = RecordedSlot(try Capture.replay(capture.rawValue))
    switch capture {
    // Cards that are found.
    case .acr1251U:
      try finds(capture, slot)
      #expect(try identify(slot) == .typeA(TypeAActivation(atqa: [], sak: 0x08, uid: [0x27, 0x09, 0xC1, 0x01])))
      let last = try slot.next()
      #expect(treatment(last) == .tag(.type2))
    case .acr1281U:
      try finds(capture, slot, "00 01")
      let slots = ["00", "01", "02"].filter { ReaderModel.isContactlessName("\(slot.name) 00 \($0)") }
      #expect(slots == ["01"])
    case .acr1552U, .rcS300Type2, .ak9567: try finds(capture, slot)
    case .rcS300Scan:
      let card = try slot.next()
      #expect(treatment(card) == .feliCa(bitRate: 212))
    case .rcS300:
      try finds(capture, slot)
      // No such service.
      var link = slot.link()
      let idm = try bytes("012E4CD4EA230D91")
      let check = [0x06] + idm + [0x01, 0x8B, 0x1A, 0x01, 0x80, 0x00]
      #expect(try link.exchangeType3(check) == [0x07] + idm + [0x01, 0xA6])
    case .acr1252U:
      var link = slot.link()
      let card = CardKind.storage(StorageCard(standard: .feliCa, name: 0x003B))
      guard case .tag(let tag) = try link.identify(card) else { throw RigError("not identified") }
      #expect(tag.identifier == Hexadecimal.bytes("01010A10B620DE7C"))
      // No such service.
      let check = [0x06] + tag.identifier + [0x01, 0x09, 0x01, 0x01, 0x80, 0x00]
      #expect(try link.exchangeType3(check) == [0x07] + tag.identifier + [0x01, 0xA6])
    case .seos:
      var link = try self.link(slot)
      guard case .tag(let tag) = try link.identify(.isoDEPTypeA(historicalBytes: [])) else { throw RigError("no tag") }
      let now = try link.identifyAgain(tag)
      #expect(tag.identifier == [0x08, 0xE8, 0xD0, 0xA1] && now?.identifier == [0x08, 0xDD, 0xEA, 0x85])
      #expect(now?.isSamePlacement(as: tag) == true)
    case .yubiKey:
      #expect(ReaderModel.isContactlessName("\(slot.name) 00 00"))
      #expect(try step(slot) == .examine)
    case .phone, .javaCard:
      // Neither has an NDEF application. The simulated card, which has one, only tells its UID.
      try slot.insert(.type4(message: Self.message))
      let kind = AnswerToReset(try slot.next()).kind
      #expect(kind == .isoDEPTypeA(historicalBytes: []))
      #expect(try read(slot, kind).reason.hasPrefix("not NDEF: "))
    // Cards that are left alone.
    case .touchatag:
      #expect(!ReaderModel.isContactlessName("\(slot.name) 00 00"))
      #expect(try step(slot) == .wait(until: nil))
    case .securityModule, .paddedATR: #expect(try step(slot) == .wait(until: nil))
    case .ghost: #expect(try step(slot) == .restorePolling)
    case .mute:
      _ = slot.slot.followRecording()
      let powerUps = [slot.slot.powerUp(), slot.slot.powerUp(), slot.slot.powerUp()]
      #expect(slot.slot.recording?.card?.isMute == true && powerUps == [nil, nil, nil])
    case .selectAcknowledges:
      let found = try (0..<4).map { _ in treatment(try slot.next()) }
      #expect(found.first == .mifareClassic(sak: 0x88))
      #expect(found.dropFirst().allSatisfy { if case .some(.none) = $0 { true } else { false } })
    // Commands.
    case .firmware:
      var link = slot.link()
      guard case .apdu(let command)? = link.model.commands(for: .success).first else { throw RigError("no lights") }
      // The second byte is the state of the lights.
      #expect(try link.transmit(command).status == StatusWord(0x90, 0x02))
    case .noCard:
      var link = slot.link()
      #expect(throws: TagChannelError.self) { try link.transmit(bytes("FF00480000")) }
      #expect(link.failure?.endsConnection == false)
    case .chipError:
      guard case .silence = try PassThroughChip(slot.link()).exchange(bytes("905A00000300000000")) else {
        throw RigError("an answer")
      }
    case .longAnswer:
      var link = slot.link()
      #expect(try link.exchangeType4(bytes("00CA006E00")) == [0x01, 0x02, 0x03, 0x90, 0x00])
    case .needsWrapper:
      try slot.insert(.type2(.ntag213, message: Self.message))
      var channel = try channel(slot.link(), Self.type2)
      let error = #expect(throws: TagChannelError.self) { try channel.exchange([0x1A, 0x00]) }
      #expect(error?.code == .noAnswer)
    case .password:
      try slot.insert(.type2(.ntag213, message: Self.message))
      var channel = try channel(slot.link(), Self.type2)
      #expect(try channel.exchange([0x1B, 0xFF, 0xFF, 0xFF, 0xFF]) == [0x00, 0x00])
    case .wrongKey:
      // Read by the commands that readers without access to their chip have.
      slot = RecordedSlot(try Capture.replay(capture.rawValue), .acr1252U)
      try slot.insert(.mifareClassic(.classic1K, message: Self.message, uid: .fixed([1, 2, 3, 4])))
      var channel = try channel(CardLink(slot, model: .acr1252), Self.classic)
      let error = #expect(throws: TagChannelError.self) {
        try channel.exchange([0x60, 0x12] + [UInt8](repeating: 0xFF, count: 6) + [1, 2, 3, 4])
      }
      #expect(error?.code == .noAnswer)
    case .writtenButRefused:
      slot = RecordedSlot(try Capture.replay(capture.rawValue), .omnikey5022)
      try slot.insert(.type2(.ntag213, message: []))
      var channel = try channel(CardLink(slot, model: .generic), Self.type2)
      try channel.tag.writeNDEF(Self.message, over: &channel)
      #expect(content(of: channel.tag, over: &channel) == .message(Self.message))
    case .largeST25:
      slot = RecordedSlot(try Capture.replay(capture.rawValue), .omnikey5427)
      try slot.insert(.type5(.slix2, message: Self.message))
      let kind = CardKind.storage(StorageCard(standard: .iso15693, name: 0x0000))
      var channel = try channel(CardLink(slot, model: .generic), kind)
      #expect(content(of: channel.tag, over: &channel) == .message(Self.message))
    }
    #expect(slot.remaining.count == capture.unsent.count, "\(capture.unsent.reason): \(slot.remaining)")
  }

  private static let type2 = CardKind.storage(StorageCard(standard: .typeA, name: 0x0003))
  private static let classic = CardKind.storage(StorageCard(standard: .typeA, name: 0x0001))

  private func bytes(_ digits: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(digits)) }

  /// After the next card has come.
  private func link(_ slot: RecordedSlot) throws -> CardLink<RecordedSlot> {
    _ = try slot.next()
    return slot.link()
  }

  /// The tag that the next card is.
  private func identify(_ slot: RecordedSlot) throws -> TagActivation {
    let kind = AnswerToReset(try slot.next()).kind
    var link = slot.link()
    let found = try link.identify(kind)
    guard case .tag(let tag) = found else { throw RigError("\(found)") }
    return tag
  }

  private func finds(_ capture: CardCapture, _ slot: RecordedSlot, _ numbers: String = "00 00") throws {
    #expect(ReaderModel.isContactlessName("\(slot.name) \(numbers)"))
    let (tag, card) = (try identify(slot), try #require(capture.card))
    #expect(tag.type == card.type && tag.identifier == Hexadecimal.bytes(card.uid))
  }

  private func channel(
    _ link: CardLink<RecordedSlot>, _ kind: CardKind
  ) throws -> CardChannel<RecordedSlot> {
    var link = link
    guard case .tag(let tag) = try link.identify(kind) else { throw RigError("not identified") }
    return CardChannel(link, tag: tag)
  }

  private func read(_ slot: RecordedSlot, _ kind: CardKind) throws -> TagReport.Content {
    var channel = try channel(slot.link(), kind)
    return content(of: channel.tag, over: &channel)
  }

  private func treatment(_ answerToReset: [UInt8]) -> StorageCard.Treatment? {
    if case .storage(let card) = AnswerToReset(answerToReset).kind { card.treatment } else { nil }
  }

  /// What the reader program does with the next card, while it scans.
  private func step(_ slot: RecordedSlot) throws -> CardSlot.Step {
    let now = SuspendingClock.now
    var state = CardSlot()
    _ = state.know(KnownTags())
    state.scan(for: Set(TagType.readable))
    _ = state.handle(SlotState(isPresent: false, counter: 0), at: now)
    _ = state.handle(SlotState(isPresent: true, counter: 1, atr: try slot.next()), at: now)
    return state.next(at: now)
  }
}

extension ReaderModel {
  fileprivate static var acr1252: ReaderModel { find(vendor: 0x072F, product: 0x223B) ?? .generic }
}
