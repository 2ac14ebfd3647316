import Names
import ReaderModels
import Tags

/// What a connection to a card and the model of its reader can do together: pseudo-APDUs, and the state that they leave
/// in the reader.
struct CardLink<Connection: CardConnection> {
  private(set) var connection: Connection
  let model: ReaderModel
  /// As dwMaxAPDUDataSize reports it (PC/SC part 10, 2.6.14).
  let takesExtendedAPDUs: Bool
  /// Nil if the last transmission succeeded.
  private(set) var failure: CardFailure?
  /// As the reader reported it. It may be that of another system of a FeliCa card than the activation's.
  var identifier: [UInt8] = []

  /// By their place in the reader.
  var loadedKeys: [UInt8: [UInt8]] = [:]
  /// The next key takes the other place.
  var nextKeySlot = 0
  var transparentSession = TransparentSession.closed
  /// The way that worked.
  var confirmedFeliCa: ReaderModel.FeliCaAccess?
  /// On a reader that cannot poll.
  var hasNDEFSystem = false
  /// Used by a SpringCard reader for the next commands.
  var feliCaService: [UInt8]?
  /// Nil until a read has succeeded.
  var type5Block: Type5Block?
  /// Requests of ISO/IEC 15693; nil before the first one.
  var passesRequestsOn: Bool?

  init(_ connection: Connection, model: ReaderModel, takesExtendedAPDUs: Bool = false) {
    self.connection = connection
    self.model = model
    self.takesExtendedAPDUs = takesExtendedAPDUs
  }

  /// Unchanged.
  mutating func transmit(_ command: [UInt8]) throws(TagChannelError) -> CardAnswer {
    let bytes: [UInt8]
    do throws(CardFailure) {
      bytes = try connection.transmit(command)
    } catch {
      failure = error
      throw error.channelError
    }
    failure = nil
    guard let answer = CardAnswer(bytes) else {
      throw TagChannelError(.transmission, "the reader gave an answer of \(bytes.count) bytes, which is none")
    }
    return answer
  }

  /// If the reader asks for another length, sends the command again with it. If it holds the answer back, as with the
  /// protocol T=0, fetches it. That makes three transmissions at most.
  mutating func ask(_ command: PseudoAPDU) throws(TagChannelError) -> CardAnswer {
    var answer = try transmit(command.bytes)
    if let length = answer.status.rightLength, command.expected != nil {
      var corrected = command
      corrected.expected = length
      answer = try transmit(corrected.bytes)
    }
    guard let remaining = answer.status.remaining else { return answer }
    let rest = try transmit(PseudoAPDU(0xC0, expected: UInt8(truncatingIfNeeded: remaining)).bytes)
    return CardAnswer(data: answer.data + rest.data, status: rest.status)
  }

  /// Fails if the command does not succeed. Returns the data.
  @discardableResult
  mutating func fetch(_ command: PseudoAPDU) throws(TagChannelError) -> [UInt8] {
    let answer = try ask(command)
    guard answer.status.isSuccess || answer.status == .endOfData && !answer.data.isEmpty else {
      throw answer.status.error
    }
    return answer.data
  }

  mutating func reset() throws(TagChannelError) {
    endSession()
    (loadedKeys, nextKeySlot, feliCaService) = ([:], 0, nil)
    do throws(CardFailure) {
      try connection.reset()
    } catch {
      failure = error
      throw error.channelError
    }
    failure = nil
  }

  /// The reader then looks for cards again. Keeps `failure`.
  mutating func endSession() {
    guard case .open = transparentSession else { return }
    transparentSession = .closed
    let before = failure
    guard before?.endsConnection != true else { return }
    _ = try? transmit(TransparentSession.end.bytes)
    failure = before
  }
}

extension CardFailure {
  /// No later exchange over the connection can succeed as if no failure had happened.
  var endsConnection: Bool { if case .exchange = self { false } else { true } }

  var channelError: TagChannelError {
    switch self {
    case .removed: TagChannelError(.noAnswer, "the tag was removed")
    case .reset: TagChannelError(.transmission, "another program has reset the card")
    case .exchange(let reason): TagChannelError(.noAnswer, reason)
    case .readerGone(let reason): TagChannelError(.readerGone, reason)
    case .aborted: TagChannelError(.aborted, "the exchange was aborted")
    }
  }
}

enum CardIdentification: Sendable, Hashable {
  case tag(TagActivation)
  /// The reason is the end of a sentence: "it is a card with contacts".
  case notSupported(reason: String)
}

/// Finding out which tag it is. A PC/SC reader has already activated the tag. It reports neither SAK nor ATQA nor ATS.
extension CardLink {
  /// Type 3 Tag, 4.3.
  private static var ndefSystem: UInt16 { 0x12FC }
  private static var everySystem: UInt16 { 0xFFFF }

  /// Asks for the identifier of a contactless card, and for more if the answer to reset leaves a doubt. Sends no
  /// command to a card with contacts.
  ///
  /// `systems` are the system codes to poll a FeliCa card for, in this order. The reader itself has polled for every
  /// system, so that it knows the identifier of the first one only.
  mutating func identify(
    _ kind: CardKind, systems: [UInt16] = [0x12FC, 0xFFFF]
  ) throws(TagChannelError) -> CardIdentification {
    switch kind {
    case .contact: return .notSupported(reason: "it is a card with contacts")
    case .placeholder: return .notSupported(reason: "the reader reports a card that is not there")
    case .unknown: return .notSupported(reason: "it does not identify itself as a contactless card")
    case .isoDEPTypeA(let historicalBytes):
      identifier = try reportedIdentifier()
      return .tag(.typeA(TypeAActivation(type: .type4A, uid: identifier, historicalBytes: historicalBytes)))
    case .isoDEPTypeB(let applicationData, let protocolInfo, let attribResponse):
      identifier = try reportedIdentifier()
      let bytes = applicationData + protocolInfo + [attribResponse]
      // A UID of Type A may have four bytes too. Only a card of Type A has an answer to select.
      var isTypeA = identifier.count != 4
      if !isTypeA {
        let answer = try ask(.answerToSelect)
        isTypeA = answer.status.isSuccess && !answer.data.isEmpty
      }
      if isTypeA {
        return .tag(.typeA(TypeAActivation(type: .type4A, uid: identifier, historicalBytes: bytes)))
      }
      return .tag(
        .typeB(
          TypeBActivation(
            pupi: identifier, applicationData: applicationData, protocolInfo: protocolInfo,
            attribResponse: [attribResponse])))
    case .storage(let card): return try identify(card, systems)
    }
  }

  private mutating func identify(
    _ card: StorageCard, _ systems: [UInt16]
  ) throws(TagChannelError) -> CardIdentification {
    switch card.treatment {
    case .none(let reason): return .notSupported(reason: reason)
    case .tag(.type1): return try type1()
    case .tag(.type5):
      identifier = try reportedIdentifier()
      guard let uid = Self.uid(ofType5: identifier) else {
        throw TagChannelError(.transmission, "the reader reports an identifier that no ISO/IEC 15693 tag has")
      }
      return .tag(.typeV(TypeVActivation(uid: uid)))
    case .tag(let type):
      identifier = try reportedIdentifier()
      return .tag(.typeA(TypeAActivation(type: type, uid: identifier)))
    case .mifareClassic(let sak):
      identifier = try reportedIdentifier()
      return .tag(.typeA(TypeAActivation(atqa: [], sak: sak, uid: identifier)))
    case .feliCa(let bitRate): return .tag(.felica(try feliCa(bitRate, systems)))
    case .probe:
      identifier = try reportedIdentifier()
      guard try isType2() else {
        return .notSupported(reason: "it is a memory card that the reader cannot name, and not an NFC tag of Type 2")
      }
      return .tag(.typeA(TypeAActivation(type: .type2, uid: identifier)))
    }
  }

  /// After a reset. A random UID (ISO/IEC 14443-3, 6.5.4: 08 first) or a PUPI may have changed. Returns the tag as it
  /// is now; nil if it is another one.
  mutating func identifyAgain(_ tag: TagActivation) throws(TagChannelError) -> TagActivation? {
    if case .jewel(let jewel) = tag { return try rid() == jewel ? tag : nil }
    let now = try reportedIdentifier()
    switch tag {
    case .typeA(let card) where card.type == .type4A && card.uid.count == 4 && card.uid.first == 0x08:
      guard now.count == 4, now.first == 0x08 else { return nil }
      identifier = now
      return .typeA(TypeAActivation(type: .type4A, uid: now, historicalBytes: card.historicalBytes))
    case .typeB(let card):
      guard now.count == 4 else { return nil }
      identifier = now
      return .typeB(
        TypeBActivation(
          pupi: now, applicationData: card.applicationData, protocolInfo: card.protocolInfo,
          attribResponse: card.attribResponse))
    default: return now == identifier ? tag : nil
    }
  }

  /// FF CA: a UID of 4, 7 or 10 bytes, a PUPI of 4, or an IDm or UID of 8.
  private mutating func reportedIdentifier() throws(TagChannelError) -> [UInt8] {
    let bytes = try fetch(.identifier)
    guard (4...10).contains(bytes.count) else {
      throw TagChannelError(.transmission, "the reader reports an identifier of \(bytes.count) bytes")
    }
    return bytes
  }

  /// ISO/IEC 15693-3, 4.1: the first byte of a UID is E0. Some readers report the bytes in the order of the air, which
  /// is the reverse.
  static func uid(ofType5 bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count == 8 else { return nil }
    if bytes.first == 0xE0 { return bytes }
    return bytes.last == 0xE0 ? bytes.reversed() : nil
  }

  // MARK: Type 1

  private mutating func type1() throws(TagChannelError) -> CardIdentification {
    guard model.type1 != .none else {
      return .notSupported(reason: "it is a tag of Type 1, which this reader cannot read")
    }
    guard let activation = try rid() else {
      throw TagChannelError(.transmission, "the answer to RID is not of the form that it has")
    }
    identifier = activation.uid
    return .tag(.jewel(activation))
  }

  /// RID: two bytes of header ROM, and UID0 to UID3 (Type 1 Tag, 5.5). The answer to request of a Type 1 tag is always
  /// the same (NFC Digital Protocol, 4.6.3).
  private mutating func rid() throws(TagChannelError) -> JewelActivation? {
    let answer = try exchangeType1([0x78, 0, 0, 0, 0, 0, 0])
    guard answer.count >= 6 else { return nil }
    return JewelActivation(atqa: [0x0C, 0x00], uid: Array(answer[2..<6]))
  }

  // MARK: Type 2

  /// Reads page 3. A silent tag is no Type 2 tag, or was removed.
  private mutating func isType2() throws(TagChannelError) -> Bool {
    do throws(TagChannelError) {
      let pages = try exchangeType2([0x30, 0x03])
      return pages.count >= 16 && pages.first == 0xE1
    } catch {
      guard failure?.endsConnection != true else { throw error }
      return false
    }
  }

  // MARK: FeliCa

  private mutating func feliCa(_ bitRate: Int, _ systems: [UInt16]) throws(TagChannelError) -> FeliCaActivation {
    identifier = try reportedIdentifier()
    guard identifier.count == 8 else {
      throw TagChannelError(.transmission, "the reader reports an identifier that no FeliCa card has")
    }
    if model.canPoll {
      // A card answers this poll for certain. That tells which way to the card works on this reader.
      var first: FeliCaActivation?
      if model.feliCa.count > 1 { first = try poll(for: Self.everySystem, bitRate) }
      for system in systems where system != Self.everySystem || first == nil {
        if let found = try poll(for: system, bitRate) { return found }
      }
      if let first { return first }
    } else if !model.feliCa.isEmpty {
      hasNDEFSystem = try hasNDEFBlock()
    }
    return FeliCaActivation(
      idm: identifier, pmm: [], systemCode: hasNDEFSystem ? [0x12, 0xFC] : nil, bitRate: bitRate)
  }

  /// Nil if no card answers for this system.
  private mutating func poll(for system: UInt16, _ bitRate: Int) throws(TagChannelError) -> FeliCaActivation? {
    let (high, low) = (UInt8(truncatingIfNeeded: system >> 8), UInt8(truncatingIfNeeded: system))
    guard let answer = try answerOrNil([0x00, high, low, 0x01, 0x00]), answer.count >= 17, answer[0] == 0x01 else {
      return nil
    }
    return FeliCaActivation(
      idm: Array(answer[1..<9]), pmm: Array(answer[9..<17]),
      systemCode: answer.count >= 19 ? Array(answer[17..<19]) : nil, bitRate: bitRate)
  }

  /// Block 0 of the NDEF service.
  private mutating func hasNDEFBlock() throws(TagChannelError) -> Bool {
    let check = [0x06] + identifier + [0x01, 0x0B, 0x00, 0x01, 0x80, 0x00]
    guard let answer = try answerOrNil(check) else { return false }
    return answer.count >= 28 && answer[9] == 0x00 && answer[10] == 0x00
  }

  private mutating func answerOrNil(_ command: [UInt8]) throws(TagChannelError) -> [UInt8]? {
    do throws(TagChannelError) {
      return try exchangeType3(command)
    } catch {
      guard failure?.endsConnection != true else { throw error }
      return nil
    }
  }
}

/// Type 4: APDUs as they are. Some drivers split an answer as with contact cards of the protocol T=0: `61 xx` says that
/// there is more, `6C xx` that Le was wrong (ISO/IEC 7816-3, 12.2.1).
extension CardLink {
  private static var mostParts: Int { 64 }
  private static var mostData: Int { 65_536 }
  /// SELECT, READ BINARY and UPDATE BINARY.
  private static var fileInstructions: Set<UInt8> { [0xA4, 0xB0, 0xB1, 0xD6, 0xD7] }

  /// With the status word. Fails if the reader reports a failed exchange in a status word.
  mutating func exchangeType4(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    var answer = try transmit(command)
    if let length = answer.status.rightLength, let corrected = Self.with(length, command) {
      answer = try transmit(corrected)
    }
    var data = answer.data
    var status = answer.status
    var parts = 0
    let responseClass = Self.responseClass(command.first ?? 0)
    while let remaining = status.remaining, parts < Self.mostParts {
      let part = try transmit([responseClass, 0xC0, 0x00, 0x00, UInt8(truncatingIfNeeded: remaining)])
      // The card does not know the command: what it has said until now is its answer.
      guard !part.status.isUnknownCommand, data.count + part.data.count <= Self.mostData else { break }
      data += part.data
      status = part.status
      parts += 1
      if part.data.isEmpty { break }
    }
    if data.isEmpty, isFailure(status, of: command) { throw status.error }
    return CardAnswer(data: data, status: status).bytes
  }

  /// The status word is the reader's, for an exchange that failed. No card answers a command for files with 63 00
  /// (ISO/IEC 7816-4, 11.2 and 11.3). To other commands, such as VERIFY, the word may be the card's.
  private func isFailure(_ status: StatusWord, of command: [UInt8]) -> Bool {
    guard model.hasOneFailureWord, status == .anyFailure, command.count >= 2 else { return false }
    return command[0] & 0x80 == 0 && Self.fileInstructions.contains(command[1])
  }

  /// For GET RESPONSE: the class of the command, without the bits for secure messaging and chaining (ISO/IEC 7816-4,
  /// 5.1.1). The class of a maker's command does not apply.
  private static func responseClass(_ byte: UInt8) -> UInt8 {
    if byte & 0xE0 == 0 { return byte & 0x03 }
    return byte & 0xC0 == 0x40 ? byte & 0x4F : 0x00
  }

  /// Another Le; nil if the command is not a short one with a place for Le.
  private static func with(_ length: UInt8, _ command: [UInt8]) -> [UInt8]? {
    guard command.count >= 4 else { return nil }
    return switch command.count {
    case 4: command + [length]
    case 5: Array(command.dropLast()) + [length]
    case let count where command[4] != 0 && count == 5 + Int(command[4]): command + [length]
    case let count where command[4] != 0 && count == 6 + Int(command[4]): Array(command.dropLast()) + [length]
    default: nil
    }
  }
}
