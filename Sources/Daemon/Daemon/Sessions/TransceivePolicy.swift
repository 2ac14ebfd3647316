import Bus
import Names
import ReaderProtocol

/// Decides which raw commands of a client are sent to a tag.
///
/// Pure. A client may select only the applications that it has declared and the NDEF application. The same is true of
/// the systems that it polls for. The policy refuses every form of the selection of a payment application. While none
/// of the client's applications is selected on an ISO 7816 card, it allows only SELECT: a card may begin with a payment
/// application. With the access `read`, only commands that are known to change no data are sent. A command that cannot
/// be checked is refused.
struct TransceivePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    /// MIFARE Ultralight, NTAG.
    case type2
    /// APDUs (Types 4A and 4B).
    case isoDEP
    /// APDUs, and native commands.
    case desfire
    case mifarePlus
    case felica(idm: [UInt8], systemCode: UInt16?)
    /// Requests of ISO/IEC 15693-3. The UID is in the order in which it is displayed: E0 first.
    case type5(uid: [UInt8])
    /// No raw commands, with the reason.
    case none(String)
  }

  let kind: Kind
  let mayWrite: Bool
  let applications: [[UInt8]]
  let systemCodes: [UInt16]
  /// The instruction of the command chain that has begun (ISO/IEC 7816-4, 5.3.3).
  private var chain: UInt8?
  /// Whether an allowed application is selected. A file identifier then means one of its files.
  private var isApplicationSelected: Bool
  private let isSelectedAtFirst: Bool
  /// Whether the card has reported that an application is selected that is not allowed.
  private var isElsewhere = false
  /// Whether the client may select the master file, as PACE of a document requires.
  private let allowsMasterFile: Bool
  private var masterFile = MasterFile.left
  /// A SELECT that may lead to another application was sent, and the card has not answered yet.
  private var isSelecting = false
  /// The answer to such a SELECT, which has the application's name, is still to be fetched with GET RESPONSE.
  private var isFetching = false
  /// Whether the card has answered GetVersion like a DESFire. The class 90 then means DESFire's commands.
  private var hasVersion = false
  /// FeliCa: the IDms of the systems of this tag that have answered.
  private var identifiers: Set<[UInt8]> = []

  /// `applications` and `systemCodes` (FeliCa) are those that the session has declared. `isApplicationSelected`: the
  /// reader process has selected one of `applications`.
  init(
    kind: Kind, mayWrite: Bool, applications: [[UInt8]] = [], systemCodes: [UInt16] = [],
    isApplicationSelected: Bool = false, allowsMasterFile: Bool = false
  ) {
    self.allowsMasterFile = allowsMasterFile && kind == .isoDEP
    self.isApplicationSelected = isApplicationSelected
    isSelectedAtFirst = isApplicationSelected
    self.kind = kind
    self.mayWrite = mayWrite
    self.applications = applications + CardApplications.ndef
    self.systemCodes = systemCodes + [CardApplications.ndefSystem]
    if case .felica(let idm, _) = kind { identifiers = [idm] }
  }

  /// Checks a command in the form that `TagChannel` describes. The verdict on later commands may depend on it.
  ///
  /// Throws `InvalidArgument` if this kind of tag has no such command, and `NotSupported` if it accepts no commands.
  /// Throws `NotAuthorized` if the command reaches something undeclared or may change the tag.
  mutating func check(_ command: [UInt8]) throws(BusError) {
    guard let first = command.first else { throw .invalidArgument("the command is empty") }
    guard command.count <= ReaderLimits.command else {
      throw .invalidArgument("the command has \(command.count) bytes: at most \(ReaderLimits.command) are allowed")
    }
    if case .none(let reason) = kind { throw BusError(name: Names.Errors.notSupported, message: reason) }
    guard first != Self.readerClass else {
      throw .invalidArgument("commands of the class FF are for the reader, not for the tag: they are never sent")
    }
    switch kind {
    case .none: return
    case .type2: try checkType2(first, command)
    case .isoDEP: try checkAPDU(command)
    case .desfire, .mifarePlus: try checkMIFARE(first, command)
    case .felica(_, let systemCode): try checkFeliCa(first, command, systemCode)
    case .type5(let uid): try checkType5(command, uid)
    }
  }

  /// PC/SC readers carry out commands of this class themselves. Such a command can write a tag, load keys and configure
  /// the reader (PC/SC part 3, 3.2.2). No card has a command of this class: it is invalid (ISO/IEC 7816-4, 5.4.1).
  private static let readerClass: UInt8 = 0xFF

  /// Nil is no answer.
  mutating func learn(_ answer: [UInt8]?, to command: [UInt8]) {
    switch kind {
    case .isoDEP, .desfire, .mifarePlus: learnOfCard(answer ?? [], to: command)
    case .felica:
      // Each system of a card has its own IDm.
      guard let answer, command.first == FeliCa.polling, answer.count >= 9, answer[0] == FeliCa.polling + 1,
        identifiers.count < 16
      else { return }
      identifiers.insert(Array(answer[1...8]))
    case .type2, .type5, .none: return
    }
  }

  private mutating func learnOfCard(_ answer: [UInt8], to command: [UInt8]) {
    if command == DESFire.getVersion, answer.count == 9, answer.suffix(2) == [0x91, 0xAF] { hasVersion = true }
    guard let apdu = CommandAPDU(command) else { return }
    let isEncryptedName = masterFile.allowsEncryptedName(of: apdu)
    masterFile.learn(answer, to: apdu)
    if apdu.ins == Self.select || apdu.ins == Self.getResponse {
      isFetching = (isSelecting || isFetching) && answer.dropLast().last == 0x61
    }
    if apdu.ins == Self.select {
      isSelecting = false
      guard CommandAPDU.isCarriedOut(answer) else { return }
      // A Java Card passes a SELECT with secure messaging on to the applet that is selected (JCRE, 4.5).
      if apdu.p1 == 0x04, apdu.cla == 0x00 || isEncryptedName { (isApplicationSelected, isElsewhere) = (true, false) }
      if apdu.selectsMasterFile {
        // It may have a name, and is no application.
        (isApplicationSelected, isElsewhere) = (false, false)
        return
      }
    }
    // GET RESPONSE returns the rest of the answer to a SELECT.
    guard apdu.ins == Self.select || apdu.ins == Self.getResponse,
      let name = FileControlInformation.applicationName(in: answer)
    else { return }
    let isDeclared = applications.contains { name.starts(with: $0) }
    isElsewhere = !isDeclared || PaymentSchemes.areNamed(in: name)
    if isElsewhere { isApplicationSelected = false }
  }

  /// The tag has lost its power and was selected again.
  mutating func reselected() {
    (isApplicationSelected, isElsewhere, isSelecting, isFetching) = (isSelectedAtFirst, false, false, false)
    chain = nil
    masterFile = .left
  }

  /// The tag may have been selected again, or will be before the next command. Assume that no application is selected,
  /// and keep every reason to refuse.
  mutating func doubtSelection() {
    isApplicationSelected = isApplicationSelected && isSelectedAtFirst
    masterFile.doubt()
  }

  private func requireWriting(_ what: String) throws(BusError) {
    guard mayWrite else {
      throw .notAuthorized("\(what) may change the tag: start the session with access “write”")
    }
  }

  // MARK: Type 2

  private func checkType2(_ first: UInt8, _ command: [UInt8]) throws(BusError) {
    switch first {
    // RATS, HLTA, REQA, WUPA and anticollision would change the tag's state, or find another tag.
    case 0xE0, 0x50, 0x26, 0x52, 0x93, 0x95, 0x97: throw .invalidArgument("only the reader process selects tags")
    // READ, READ_CNT, READ_SIG; FAST_READ; GET_VERSION; the first half of SECTOR_SELECT. A longer command may be
    // another one.
    case 0x30 where command.count == 2, 0x39 where command.count == 2, 0x3C where command.count == 2: return
    case 0x3A where command.count == 3, 0x60 where command.count == 1, 0xC2 where command == [0xC2, 0xFF]: return
    default: try requireWriting("the command \(Hexadecimal.text(first))")
    }
  }

  // MARK: ISO-DEP

  private mutating func checkMIFARE(_ first: UInt8, _ command: [UInt8]) throws(BusError) {
    // Such a card may hold payment applications too. A command that is not the chip's own is checked as an APDU, in any
    // class. These cards use the ISO classes 00 to 0F, and 90 for wrapped commands.
    guard isChips(command), first > 0x0F || command.count < 4, first != DESFire.wrapping else {
      return try checkAPDU(command)
    }
    try requireKnownSelection()
    try requireNoPayment(command)
    // A card may take a command that is longer than its native form for an APDU, in any class.
    let isKnownRead = kind == .desfire ? DESFire.isRead(command) : MIFAREPlus.isRead(command)
    if !isKnownRead { try requireWriting("the command \(Hexadecimal.text(first))") }
  }

  /// SelectApplication of DESFire, and on a MIFARE Plus reading a block with a number that ends in A4.
  private func isNativeOfFour(_ command: [UInt8]) -> Bool {
    guard command.count == 4 else { return false }
    return kind == .desfire ? command[0] == DESFire.selectApplication : MIFAREPlus.reads.contains(command[0])
  }

  /// Whether a command belongs to the chip. Otherwise it is one of ISO 7816 for the application that a card has
  /// selected by itself. A frame of four bytes, such as a read of the block 0E00, can be both. It is taken for the
  /// chip's, because programs need it, and the reader process knows the chip.
  private func isChips(_ command: [UInt8]) -> Bool {
    guard (kind == .desfire ? DESFire.codes : MIFAREPlus.codes).contains(command[0]) else { return false }
    if DESFire.isAuthentication(command) || command.count < 4 { return true }
    if Self.selecting.contains(command[1]) { return isNativeOfFour(command) }
    return command.count == 4 || CommandAPDU(command) == nil || !Self.ofApplications.contains(command[1])
  }

  /// Instructions that reach the selected application: ``reads``, those that change it, and those of EMV.
  private static let ofApplications: Set<UInt8> = reads.union(managing).union([
    0x0C, 0x0E, 0x0F, 0x20, 0x22, 0x24, 0x2A, 0x2C, 0x82, 0x86, 0x88, 0xA8, 0xAE, 0xD0, 0xD1, 0xD2, 0xD6, 0xD7, 0xDA,
    0xDB,
    0xDC, 0xDD, 0xE0, 0xE2, 0xFE,
  ])

  private static let select: UInt8 = 0xA4
  private static let getResponse: UInt8 = 0xC0
  /// SELECT, SELECT DATA with a list of tags, MANAGE CHANNEL, ENVELOPE in both forms.
  private static let selecting: Set<UInt8> = [select, 0xA5, 0x70, 0xC2, 0xC3]

  /// Commands on the file that they name as SELECT does: DEACTIVATE, ACTIVATE and DELETE FILE, TERMINATE DF and EF
  /// (ISO/IEC 7816-9). GlobalPlatform's DELETE, INSTALL, LOAD and
  /// SET STATUS have the last codes.
  private static let managing: Set<UInt8> = [0x04, 0x44, 0xE4, 0xE6, 0xE8, 0xF0]

  private mutating func checkAPDU(_ bytes: [UInt8]) throws(BusError) {
    guard let command = CommandAPDU(bytes) else {
      throw .invalidArgument("the command is not an APDU: its length fields do not match its \(bytes.count) bytes")
    }
    if let chain {
      guard command.ins == chain else {
        throw .invalidArgument("finish the chain of commands \(Hexadecimal.text(chain)) first")
      }
    }
    // The application that is selected on another channel is not known.
    guard command.cla & 0x43 == 0 else {
      throw .notAuthorized("the command is for another logical channel than the first, which cannot be checked")
    }
    try requireKnownSelection(
      orSelecting: command.ins == Self.select && (command.p1 == 0x04 || command.selectsMasterFile),
      orFetching: command.ins == Self.getResponse)
    guard masterFile.allows(command) else {
      throw .notAuthorized("the master file is selected: select a declared application by its name after PACE")
    }
    guard isApplicationSelected || masterFile != .left || needsNoApplication(command, bytes) else {
      throw noApplication
    }
    // Commands of GlobalPlatform name applications, too.
    if command.cla & 0x80 != 0, command.cla != DESFire.wrapping { try requireNoPayment(command.data) }
    switch command.ins {
    case Self.select: try checkSelect(command)
    case let ins where Self.selecting.contains(ins):
      throw .notAuthorized("the target of the command \(Hexadecimal.text(ins)) cannot be checked")
    case let ins where Self.managing.contains(ins):
      try requireWriting("the command \(Hexadecimal.text(ins))")
      try checkManaging(command)
    default:
      if !isKnownRead(command, bytes) { try requireWriting("the command \(Hexadecimal.text(command.ins))") }
    }
    chain = command.isChained ? command.ins : nil
  }

  /// A command in any framing reaches the selected application, so that must be an allowed one.
  private func requireKnownSelection(
    orSelecting isSelectByName: Bool = false, orFetching isGetResponse: Bool = false
  ) throws(BusError) {
    guard !isSelecting else {
      throw .notAuthorized("a SELECT is in progress: wait for the answer, which names the selected application")
    }
    guard !isFetching || isGetResponse || isSelectByName else {
      throw .notAuthorized("fetch the answer to the SELECT with GET RESPONSE first: it names the selected application")
    }
    guard !isElsewhere || isSelectByName else {
      throw .notAuthorized("the card has reported another application: select a declared one by its name")
    }
  }

  private var noApplication: BusError {
    .notAuthorized("no application is selected: select a declared one by its name first")
  }

  /// Whether a command reaches no application of ISO 7816: SELECT, and DESFire's commands in their class.
  private func needsNoApplication(_ command: CommandAPDU, _ bytes: [UInt8]) -> Bool {
    if command.ins == Self.select || bytes == DESFire.getVersion { return true }
    // A wrapped command has an expected length.
    return command.cla == DESFire.wrapping && (kind != .isoDEP || hasVersion) && bytes.count > 4 && command.p1 == 0
      && command.p2 == 0
      && DESFire.codes.contains(command.ins)
  }

  /// In a proprietary class only the instructions of known cards have a known meaning.
  private func isKnownRead(_ command: CommandAPDU, _ bytes: [UInt8]) -> Bool {
    switch command.cla {
    case DESFire.wrapping:
      kind == .desfire || hasVersion ? DESFire.reads.contains(command.ins) : bytes == DESFire.getVersion
    // GET DATA of GlobalPlatform.
    case 0x80: command.ins == 0xCA || command.ins == 0xCB
    default: command.cla & 0x80 == 0 && Self.reads.contains(command.ins)
    }
  }

  /// READ BINARY, READ RECORD, GET DATA, GET RESPONSE, SEARCH RECORD, GET CHALLENGE (ISO/IEC 7816-4, 11).
  private static let reads: Set<UInt8> = [0xB0, 0xB1, 0xB2, 0xB3, 0xCA, 0xCB, 0xC0, 0xA2, 0x84]

  /// ISO/IEC 7816-4, 11.2.2. In any class, because cards differ in the class bits that they evaluate.
  private mutating func checkSelect(_ command: CommandAPDU) throws(BusError) {
    guard command.cla == 0x00 || command.isSecured else {
      throw .notAuthorized("a SELECT of the class \(Hexadecimal.text(command.cla)) cannot be checked")
    }
    guard command.p2 & 0x03 == 0 else {
      throw .notAuthorized("the SELECT asks for another occurrence than the first, which cannot be checked")
    }
    if command.selectsMasterFile, allowsMasterFile {
      isSelecting = true
      return
    }
    if masterFile.allowsEncryptedName(of: command) { return }
    if masterFile != .left, [0x00, 0x02].contains(command.p1), MasterFile.files.contains(command.data) { return }
    // With secure messaging the identifier of a file is encrypted. It cannot select an application.
    let isEncrypted = command.isSecured && command.data.first == 0x87
    if command.p1 == 0x02, isEncrypted, isApplicationSelected || masterFile == .authenticated {
      return try requireNoPayment(command.data)
    }
    try checkTarget(of: command)
    // If P2 has both bits, the answer does not name the selected application.
    if command.p1 != 0x04 { isSelecting = command.p2 & 0x0C != 0x0C }
  }

  private func checkManaging(_ command: CommandAPDU) throws(BusError) {
    guard command.cla & 0x80 == 0 else { return try requireNoPayment(command.data) }
    // Without data: the selected file.
    if command.isChained || command.p1 != 0x00 || !command.data.isEmpty { try checkTarget(of: command) }
  }

  private func requireNoPayment(_ data: [UInt8]) throws(BusError) {
    guard !PaymentSchemes.areNamed(in: data) else {
      throw .notAuthorized("payment applications are never selected or changed")
    }
  }

  /// A command may name a declared application, or a file of the selected one.
  private func checkTarget(of command: CommandAPDU) throws(BusError) {
    guard !command.isChained else {
      throw .notAuthorized("the target of a chained command \(Hexadecimal.text(command.ins)) cannot be checked")
    }
    try requireNoPayment(command.data)
    switch command.p1 {
    // By the identifier of a file below the selected application, by identifier, which may be an application's too, and
    // by path from the selected application: two bytes for each identifier. A path from the master file could reach
    // every application.
    case 0x00 where command.data.count == 2, 0x02 where command.data.count == 2,
      0x09 where command.data.count % 2 == 0 && (2...8).contains(command.data.count):
      // A card that ignores P1 would take the beginning of a name for that name.
      guard !PaymentSchemes.include(command.data) else { break }
      guard isApplicationSelected else {
        throw .notAuthorized("no application is selected: select a declared one by its name before its files")
      }
      let identifiers = stride(from: 0, to: command.data.count, by: 2).map { Array(command.data[$0..<$0 + 2]) }
      if !identifiers.contains([0x3F, 0x00]) { return }
    case 0x04 where applications.contains(command.data): return
    default: break
    }
    throw .notAuthorized(
      "the command \(Hexadecimal.text(command.ins)) reaches an undeclared application: "
        + "add it to the option “application-identifiers”")
  }

  // MARK: FeliCa

  private func checkFeliCa(_ first: UInt8, _ command: [UInt8], _ systemCode: UInt16?) throws(BusError) {
    if first == FeliCa.polling {
      guard command.count == 5 else {
        throw .invalidArgument("a Polling command has five bytes: 00, system code, request code, slots")
      }
      let code = UInt16(command[1]) << 8 | UInt16(command[2])
      guard systemCodes.contains(code) else {
        throw .notAuthorized("the system code was not declared: add it to the option “system-codes”")
      }
      return
    }
    guard FeliCa.commands.contains(first) else {
      throw .notAuthorized("the FeliCa command \(Hexadecimal.text(first)) is not allowed")
    }
    guard let systemCode, systemCodes.contains(systemCode) else {
      throw .notAuthorized("the tag's system was not declared: add it to the option “system-codes”")
    }
    guard command.count >= 9, identifiers.contains(Array(command[1...8])) else {
      throw .invalidArgument("the second to ninth byte of the command are not the tag's IDm")
    }
    guard FeliCa.hasKnownForm(command) else {
      throw .invalidArgument(
        "the FeliCa command \(Hexadecimal.text(first)) does not have the form that Sony's manual gives")
    }
    if first == FeliCa.write { try requireWriting("Write Without Encryption") }
  }

  // MARK: Type 5

  /// The reader process looks for tags, and a tag that does not answer seems to be removed. So Inventory and Stay quiet
  /// are refused. Select and Reset to ready are sent: the requests of the reader process have no select flag, so the
  /// tag still answers it.
  ///
  /// A request that is not addressed reaches every tag of this kind in the field. It is sent, because programs for Core
  /// NFC do so, and the reader process itself.
  private func checkType5(_ command: [UInt8], _ uid: [UInt8]) throws(BusError) {
    let request = try VicinityRequest(command)
    guard request.address.map({ $0.elementsEqual(uid.reversed()) }) ?? true else {
      throw .invalidArgument("the request names another UID than the tag's: send its bytes in reverse order, E0 last")
    }
    switch request.code {
    case VicinityRequest.select:
      guard request.address != nil, request.parameters.isEmpty else {
        throw .invalidArgument("Select needs the address flag and the tag's UID, and nothing else")
      }
    case VicinityRequest.resetToReady:
      guard request.address != nil || request.isForSelectedTag, request.parameters.isEmpty else {
        throw .invalidArgument("Reset to ready needs the address flag and the tag's UID, or the select flag")
      }
    default:
      guard request.isKnownRead(of: uid.dropFirst().first) else {
        return try requireWriting("the command \(Hexadecimal.text(request.code))")
      }
    }
  }
}
