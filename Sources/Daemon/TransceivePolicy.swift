import ReaderLink

/// Which raw commands of a client go to a tag.
///
/// Pure. A client selects the applications and polls for the systems that it has declared, and NDEF's; payment applications
/// never, however they are spelled. A session that may only read sends only commands that are known to change nothing.
/// What cannot be checked is refused.
struct TransceivePolicy: Sendable, Hashable {
  /// What the tag is spoken to with.
  enum Kind: Sendable, Hashable {
    /// MIFARE Ultralight, NTAG.
    case type2
    /// APDUs (Types 4A and 4B).
    case isoDEP
    /// ISO-DEP as well, and its own commands: the card has said that it is one.
    case desfire
    case mifarePlus
    case felica(idm: [UInt8], systemCode: UInt16?)
    /// Commands of one's own are not possible, and why.
    case none(String)
  }

  /// Why a command is refused.
  enum Refusal: Error, Hashable {
    /// It is no command of this kind of tag.
    case invalid(String)
    /// This kind of tag takes none.
    case notPossible(String)
    /// It reaches for what was not declared, or changes the tag.
    case notAuthorized(String)

    var message: String {
      switch self {
      case .invalid(let text), .notPossible(let text), .notAuthorized(let text): text
      }
    }
  }

  let kind: Kind
  let mayWrite: Bool
  let applications: [[UInt8]]
  let systemCodes: [UInt16]
  /// The instruction of commands that the card puts together to one, where such a chain has begun.
  private var chain: UInt8?
  /// Whether an application that may be used is selected, so that a file's identifier means one of its own.
  private var isApplicationSelected: Bool
  private let isSelectedAtFirst: Bool
  /// Whether the card has said that what is selected is another application.
  private var isElsewhere = false
  /// A SELECT was sent that may lead to another application, and the card has not answered yet.
  private var isSelecting = false
  /// Whether the card has answered to GetVersion as those with DESFire's commands do, so that the class 90 means these.
  private var hasVersion = false
  /// FeliCa: the identifiers that systems of this tag have answered with.
  private var identifiers: Set<[UInt8]> = []

  /// - Parameters:
  ///   - kind: the kind of tag.
  ///   - mayWrite: whether the session may change it.
  ///   - applications: what the session has declared.
  ///   - systemCodes: what the session has declared.
  ///   - isApplicationSelected: whether one of `applications` is selected already.
  init(
    kind: Kind, mayWrite: Bool, applications: [[UInt8]] = [], systemCodes: [UInt16] = [],
    isApplicationSelected: Bool = false
  ) {
    self.isApplicationSelected = isApplicationSelected
    isSelectedAtFirst = isApplicationSelected
    self.kind = kind
    self.mayWrite = mayWrite
    self.applications = applications + CardApplications.ndef
    self.systemCodes = systemCodes + [CardApplications.ndefSystem]
    if case .felica(let idm, _) = kind { identifiers = [idm] }
  }

  /// Checks a command, and remembers what later ones depend on.
  ///
  /// - Parameter command: as `TagChannel` has it.
  /// - Throws: why it is not sent.
  mutating func check(_ command: [UInt8]) throws(Refusal) {
    guard let first = command.first else { throw .invalid("the command is empty") }
    guard command.count <= ReaderLimits.command else {
      throw .invalid("the command has \(command.count) bytes: at most \(ReaderLimits.command) are sent")
    }
    switch kind {
    case .none(let reason): throw .notPossible(reason)
    case .type2: try checkType2(first, command)
    case .isoDEP: try checkAPDU(command)
    case .desfire, .mifarePlus: try checkMIFARE(first, command)
    case .felica(_, let systemCode): try checkFeliCa(first, command, systemCode)
    }
  }

  /// Takes in what a tag has answered.
  ///
  /// - Parameters:
  ///   - answer: nil where there was none.
  ///   - command: what it is the answer to.
  mutating func learn(_ answer: [UInt8]?, to command: [UInt8]) {
    switch kind {
    case .isoDEP, .desfire, .mifarePlus: learnOfCard(answer ?? [], to: command)
    case .felica:
      // The answer to a poll that was allowed: another system of the card has an identifier of its own.
      guard let answer, command.first == FeliCa.polling, answer.count >= 9, answer[0] == FeliCa.polling + 1,
        identifiers.count < 16
      else { return }
      identifiers.insert(Array(answer[1...8]))
    case .type2, .none: return
    }
  }

  private mutating func learnOfCard(_ answer: [UInt8], to command: [UInt8]) {
    if command == DESFire.getVersion, answer.count == 9, answer.suffix(2) == [0x91, 0xAF] { hasVersion = true }
    guard let apdu = CommandAPDU(command) else { return }
    if apdu.ins == Self.select {
      isSelecting = false
      // 61: more of the answer waits; 62: with a warning, the application is selected (ISO/IEC 7816-4, 5.6).
      guard let status = answer.dropLast().last, [0x90, 0x61, 0x62].contains(status) else { return }
      if apdu.p1 == 0x04 { (isApplicationSelected, isElsewhere) = (true, false) }
    }
    // What a SELECT leaves of its answer is fetched with GET RESPONSE.
    guard apdu.ins == Self.select || apdu.ins == 0xC0,
      let name = FileControlInformation.applicationName(in: answer)
    else { return }
    let isDeclared = applications.contains { name.starts(with: $0) }
    isElsewhere = !isDeclared || CardApplications.hold(payment: name)
    if isElsewhere { isApplicationSelected = false }
  }

  /// The tag has been selected anew, and is as it was found.
  mutating func reselected() {
    (isApplicationSelected, isElsewhere, isSelecting, chain) = (isSelectedAtFirst, false, false, nil)
  }

  /// The tag may have been selected anew, or is before it is sent anything: no application counts as selected. What was said against it
  /// counts still.
  mutating func doubtSelection() { isApplicationSelected = isApplicationSelected && isSelectedAtFirst }

  private func requireWriting(_ what: String) throws(Refusal) {
    guard mayWrite else {
      throw .notAuthorized("\(what) may change the tag: begin the session with access “write”")
    }
  }

  // MARK: Type 2

  private func checkType2(_ first: UInt8, _ command: [UInt8]) throws(Refusal) {
    switch first {
    // RATS, HLTA, REQA, WUPA and anticollision would make another of the tag, or find another tag.
    case 0xE0, 0x50, 0x26, 0x52, 0x93, 0x95, 0x97: throw .invalid("selecting tags is the reader's business")
    // READ, READ_CNT, READ_SIG; FAST_READ; GET_VERSION; the first half of SECTOR_SELECT. What is longer is something else.
    case 0x30 where command.count == 2, 0x39 where command.count == 2, 0x3C where command.count == 2: return
    case 0x3A where command.count == 3, 0x60 where command.count == 1, 0xC2 where command == [0xC2, 0xFF]: return
    default: try requireWriting("the command \(hexadecimal(first))")
    }
  }

  // MARK: ISO-DEP

  private mutating func checkMIFARE(_ first: UInt8, _ command: [UInt8]) throws(Refusal) {
    // A SELECT in any class is looked at as one, and what leads around it too, but for the two native commands of four
    // bytes that may look like it: a card may be one of these and hold payment applications as well.
    let isNative = command.count < 4 || !Self.selecting.contains(command[1]) || isNativeOfFour(command)
    // ISO classes of cards of this kind: 00 to 0F, 90 for wrapped commands.
    guard isNative, first > 0x0F || command.count < 4, first != 0x90 else { return try checkAPDU(command) }
    try requireKnownSelection()
    guard !CardApplications.hold(payment: command) else {
      throw .notAuthorized("payment applications are never selected")
    }
    let isKnownRead = kind == .desfire ? DESFire.reads.contains(first) : MIFAREPlus.reads.contains(first)
    if !isKnownRead { try requireWriting("the command \(hexadecimal(first))") }
  }

  /// DESFire's command to select an application of three bytes, and reading a block whose number ends in A4 on a MIFARE Plus.
  private func isNativeOfFour(_ command: [UInt8]) -> Bool {
    guard command.count == 4 else { return false }
    return kind == .desfire ? command[0] == DESFire.selectApplication : MIFAREPlus.reads.contains(command[0])
  }

  private static let select: UInt8 = 0xA4
  /// SELECT, SELECT DATA with a list of tags, MANAGE CHANNEL, ENVELOPE in both forms.
  private static let selecting: Set<UInt8> = [select, 0xA5, 0x70, 0xC2, 0xC3]

  private mutating func checkAPDU(_ bytes: [UInt8]) throws(Refusal) {
    guard let command = CommandAPDU(bytes) else {
      throw .invalid("the command is no APDU: its length fields do not fit its \(bytes.count) bytes")
    }
    if let chain {
      guard command.ins == chain else {
        throw .invalid("a chain of commands \(hexadecimal(chain)) has begun: end it first")
      }
    }
    try requireKnownSelection(orSelecting: command.ins == Self.select && command.p1 == 0x04)
    switch command.ins {
    case Self.select: try checkSelect(command)
    case let ins where Self.selecting.contains(ins):
      throw .notAuthorized("what the command \(hexadecimal(ins)) reaches cannot be checked")
    default:
      if !isKnownRead(command, bytes) { try requireWriting("the command \(hexadecimal(command.ins))") }
    }
    chain = command.isChained ? command.ins : nil
  }

  /// What goes to the card, in whatever framing, goes to what is selected there.
  private func requireKnownSelection(orSelecting isSelectByName: Bool = false) throws(Refusal) {
    guard !isSelecting else {
      throw .notAuthorized("a SELECT is under way: wait for the answer, which tells what is selected")
    }
    guard !isElsewhere || isSelectByName else {
      throw .notAuthorized("the card says that another application is selected: select a declared one by its name")
    }
  }

  /// In a proprietary class an instruction means what the card likes, but for those that are known.
  private func isKnownRead(_ command: CommandAPDU, _ bytes: [UInt8]) -> Bool {
    switch command.cla {
    case 0x90: kind == .desfire || hasVersion ? DESFire.reads.contains(command.ins) : bytes == DESFire.getVersion
    // GET DATA, as GlobalPlatform has it.
    case 0x80: command.ins == 0xCA || command.ins == 0xCB
    default: command.cla & 0x80 == 0 && Self.reads.contains(command.ins)
    }
  }

  /// READ BINARY, READ RECORD, GET DATA, GET RESPONSE, SEARCH RECORD, GET CHALLENGE (ISO/IEC 7816-4, 11).
  private static let reads: Set<UInt8> = [0xB0, 0xB1, 0xB2, 0xB3, 0xCA, 0xCB, 0xC0, 0xA2, 0x84]

  /// ISO/IEC 7816-4, 11.2.2, in whatever class: cards differ in which bits of it they look at.
  private mutating func checkSelect(_ command: CommandAPDU) throws(Refusal) {
    guard !command.isChained else { throw .notAuthorized("a SELECT in pieces cannot be checked") }
    guard !CardApplications.hold(payment: command.data) else {
      throw .notAuthorized("payment applications are never selected")
    }
    switch command.p1 {
    // By identifier of a file below the present application.
    case 0x02 where command.data.count == 2: return
    // By identifier, which may be an application's as well, and by path from the present application: identifiers of two
    // bytes each. Not from the beginning, where every application is.
    case 0x00 where command.data.count == 2,
      0x09 where command.data.count % 2 == 0 && (2...8).contains(command.data.count):
      guard isApplicationSelected else {
        throw .notAuthorized("a file is selected after its application: select a declared one by its name first")
      }
      let identifiers = stride(from: 0, to: command.data.count, by: 2).map { Array(command.data[$0..<$0 + 2]) }
      guard !identifiers.contains([0x3F, 0x00]) else { break }
      // P2 with both bits: the card tells nothing of what it selects.
      isSelecting = command.p2 & 0x0C != 0x0C
      return
    // With secure messaging the identifier of a file is enciphered; an application cannot be selected this way.
    case 0x02 where command.cla & 0x0C != 0 && command.cla & 0x80 == 0: return
    case 0x04 where applications.contains(command.data): return
    default: break
    }
    throw .notAuthorized(
      "a SELECT of what was not declared: name the application in the option “application-identifiers”")
  }

  // MARK: FeliCa

  private func checkFeliCa(_ first: UInt8, _ command: [UInt8], _ systemCode: UInt16?) throws(Refusal) {
    if first == FeliCa.polling {
      guard command.count == 5 else { throw .invalid("a poll has five bytes: 00, system code, request code, slots") }
      let code = UInt16(command[1]) << 8 | UInt16(command[2])
      guard systemCodes.contains(code) else {
        throw .notAuthorized("a poll for a system that was not declared: name it in the option “system-codes”")
      }
      return
    }
    guard FeliCa.commands.contains(first) else {
      throw .notAuthorized("the FeliCa command \(hexadecimal(first)) is not one of those that are sent")
    }
    guard let systemCode, systemCodes.contains(systemCode) else {
      throw .notAuthorized("the tag's system was not declared: name it in the option “system-codes”")
    }
    guard command.count >= 9, identifiers.contains(Array(command[1...8])) else {
      throw .invalid("the command does not carry the tag's IDm in its second to ninth byte")
    }
    if first == FeliCa.write { try requireWriting("Write Without Encryption") }
  }

  private func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return (digits.count < 2 ? "0" : "") + digits
  }
}

/// Command codes of JIS X 6319-4.
private enum FeliCa {
  static let polling: UInt8 = 0x00
  static let write: UInt8 = 0x08
  /// Request Service, Request Response, Read and Write Without Encryption, Request System Code.
  static let commands: Set<UInt8> = [0x02, 0x04, 0x06, write, 0x0C]
}

/// Native commands of MIFARE DESFire, which the class 90 wraps as well.
private enum DESFire {
  static let selectApplication: UInt8 = 0x5A
  /// Wrapped.
  static let getVersion: [UInt8] = [0x90, 0x60, 0x00, 0x00, 0x00]
  /// SelectApplication, GetVersion, GetApplicationIDs, GetDFNames, GetFileIDs, GetISOFileIDs, GetFileSettings, ReadData,
  /// ReadRecords, GetValue, GetKeySettings, GetKeyVersion, FreeMem, AdditionalFrame.
  static let reads: Set<UInt8> = [
    selectApplication, 0x60, 0x6A, 0x6D, 0x6F, 0x61, 0xF5, 0xBD, 0xBB, 0x6C, 0x45, 0x64, 0x6E, 0xAF,
  ]
}

/// Native commands of MIFARE Plus in security level 3.
private enum MIFAREPlus {
  /// Reading, with the different combinations of cipher and check sum.
  static let reads: Set<UInt8> = [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37]
}
