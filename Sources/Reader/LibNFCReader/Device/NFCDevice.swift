import CNFC
import Glibc
import Names
import PN53x
import ReaderKit
import ReaderProtocol
import Tags

/// An open libnfc device and the chip behind it, used on one thread.
///
/// Commands go to the chip unchanged. libnfc does not interpret the answers of tags.
final class NFCDevice: Chip {
  typealias Failure = ChipFailure
  typealias Answer = ChipAnswer

  let connectionString: String
  var name: String { line.name }
  /// Called before each command, because a command may take a while.
  var beforeCommand: () -> Void = {}
  let line: any ChipLine
  /// The rate of a serial line in bits per second; nil if there is none, or the user decides about it.
  private(set) var rate: Int?
  /// Refused tag commands since the chip last executed one.
  private var refusals = 0
  /// The chip's number for the selected tag.
  var target: UInt8 = 1
  private static let mostRefusals = 8
  private static let usualAnswerRoom = 1024
  /// The system codes to poll FeliCa cards for, in this order. Empty means every system.
  var declaredSystems: [UInt16] = []
  /// How long the tag may take to answer, if the client decides that. A slower tag is silent, which is no reason to
  /// give the chip up.
  var tagTimeout: Duration?
  private(set) var timesOff = 0
  /// Since when the field is on; nil if it is off.
  var fieldOnSince: SuspendingClock.Instant?
  /// When the field was last switched off, even if it is on again.
  private(set) var fieldOffSince: SuspendingClock.Instant?
  /// True also if it may be on.
  var isFieldOn: Bool { fieldOnSince != nil }

  /// Commands of a PN53x (UM0701-02, 7).
  enum Command {
    static let diagnose: UInt8 = 0x00
    static let firmwareVersion: UInt8 = 0x02
    static let readRegister: UInt8 = 0x06
    static let writeRegister: UInt8 = 0x08
    static let configureRF: UInt8 = 0x32
    static let exchange: UInt8 = 0x40
    static let select: UInt8 = 0x54
    static let communicateThru: UInt8 = 0x42
    static let listPassiveTarget: UInt8 = 0x4A
    static let release: UInt8 = 0x52
  }

  /// The field is off. `raisesRate`: whether a serial line leaves the chip's initial rate, if it can.
  static func open(
    _ connectionString: String, _ context: OpaquePointer, _ trace: TraceWriter?, raisesRate: Bool = true
  ) throws(Failure) -> NFCDevice {
    do throws(Failure) {
      return try openLine(connectionString, context, trace, raisesRate: raisesRate)
    } catch {
      trace?.write(.device(connectionString, name: nil, error: error.reason))
      throw error
    }
  }

  private static func openLine(
    _ connectionString: String, _ context: OpaquePointer, _ trace: TraceWriter?, raisesRate: Bool
  ) throws(Failure) -> NFCDevice {
    guard let line = LibNFCLine(connectionString, context) else {
      throw Failure(
        reason: "\(connectionString) does not answer; check that it is a reader and that no other program uses it")
    }
    trace?.write(.device(connectionString, name: line.name, error: nil))
    do throws(Failure) {
      guard line.setUp() else {
        throw Failure(reason: "\(connectionString) answers, but cannot be set up as a reader")
      }
      let traced: any ChipLine = trace.map { TracedLine(line, $0) } ?? line
      let rate = line.lineRate(raises: raisesRate, through: traced)
      let device = try NFCDevice(traced, connectionString)
      device.rate = rate
      return device
    } catch {
      throw Failure(reason: error.reason, isFieldInDoubt: true, isRateInDoubt: line.isRateInDoubt)
    }
  }

  /// For a chip that may have taken a rate at which the line does not work. Only its power takes it back.
  static let rateAdvice =
    "; unplug it and plug it in again; if this recurs, write :\(SerialRate.initial.baud) behind its path in Devices="

  /// Switches the field off.
  init(_ line: any ChipLine, _ connectionString: String) throws(Failure) {
    (self.line, self.connectionString) = (line, connectionString)
    // MxRtyATR, MxRtyPSL, MxRtyPassiveActivation: one look only, because the next one comes soon.
    try perform([Command.configureRF, 0x05, 0x00, 0x01, 0x00])
    // A tag that an earlier program left active or in ISO-DEP answers no look until it has lost its power.
    try switchFieldOff()
  }

  /// libnfc's settings. The context lasts until `nfc_exit`.
  static func makeContext() -> OpaquePointer? {
    var context: OpaquePointer?
    nfc_init(&context)
    return context
  }

  /// From libnfc's configuration, or found by looking.
  static func list(_ context: OpaquePointer) -> [String] {
    let most = 16
    let strings = UnsafeMutablePointer<nfc_connstring>.allocate(capacity: most)
    defer { strings.deallocate() }
    let size = MemoryLayout<nfc_connstring>.stride
    memset(strings, 0, size * most)
    let count = min(nfc_list_devices(context, strings, most), most)
    return UnsafeRawBufferPointer(start: strings, count: size * count).withMemoryRebound(to: UInt8.self) { bytes in
      (0..<count).map { String(decoding: bytes[$0 * size..<($0 + 1) * size].prefix { $0 != 0 }, as: UTF8.self) }
    }
  }

  func exchange(_ command: [UInt8]) throws(Failure) -> Answer {
    try transmit([Command.exchange, target] + command)
  }

  /// For the selected ISO-DEP card. The command may have any length. It is sent in pieces if the chip does not take it
  /// at once (UM0701-02, 7.3.8, MI). libnfc joins the answer's pieces. If `beforeEach` returns false before a piece,
  /// the exchange is given up, and the card has to be selected again.
  func exchangeLong(
    _ command: [UInt8], answerRoom room: Int, beforeEach: () -> Bool
  ) throws(Failure) -> Answer {
    var rest = command[...]
    while rest.count > Self.piece {
      guard beforeEach() else { return .silence }
      let answer = try transmit([Command.exchange, target | Self.moreInformation] + rest.prefix(Self.piece))
      guard case .bytes = answer else { return answer }
      rest = rest.dropFirst(Self.piece)
    }
    guard beforeEach() else { return .silence }
    return try transmit([Command.exchange, target] + rest, answerRoom: room + 1)
  }

  /// In bytes: every reader takes this much at once (`ExchangeLimit` of Tags gives the reason).
  private static let piece = 250
  private static let moreInformation: UInt8 = 0x40
  /// Of the line and the chip, in addition to the tag's time.
  private static let transferTime = Duration.milliseconds(200)

  func communicateThru(_ frame: [UInt8]) throws(Failure) -> Answer {
    try transmit([Command.communicateThru] + frame)
  }

  /// Sends a command with an answer code that differs from those of tag commands. Afterwards, the next answer is
  /// neither a repeated one nor a late one from a slow line. Fails if the answer to another command comes.
  func fallInStep() throws(Failure) {
    try perform([Command.firmwareVersion])
  }

  func setAnswerTimeout(code: UInt8) throws(Failure) {
    try perform([Command.configureRF, 0x02, 0x00, 0x0B, code])
  }

  func readRegisters(_ addresses: [UInt16]) throws(Failure) -> [UInt8] {
    let parameters = addresses.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    guard case .bytes(let answer) = try send([Command.readRegister] + parameters), answer.count >= addresses.count
    else {
      return []
    }
    // A PN533 puts a status byte before the values.
    return Array(answer.suffix(addresses.count))
  }

  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(Failure) {
    let parameters = writes.flatMap { write in
      [UInt8(truncatingIfNeeded: write.address >> 8), UInt8(truncatingIfNeeded: write.address), write.value]
    }
    _ = try send([Command.writeRegister] + parameters)
  }

  // The first byte of the answer is its status, which libnfc has already checked.
  private func transmit(_ command: [UInt8], answerRoom: Int = NFCDevice.usualAnswerRoom) throws(Failure) -> Answer {
    let time = tagTimeout.map { $0 + Self.transferTime } ?? ReaderTiming.longestWait
    let answer = try send(command, within: time, mayBeLate: tagTimeout != nil, answerRoom: answerRoom)
    guard case .bytes(let bytes) = answer else { return answer }
    return .bytes(Array(bytes.dropFirst()))
  }

  /// For the selected ISO-DEP card: Diagnose, card presence detection.
  func isCardPresent() throws(Failure) -> Bool {
    try isDone([Command.diagnose, 0x06])
  }

  func isDone(_ command: [UInt8]) throws(Failure) -> Bool {
    if case .bytes = try send(command) { return true }
    return false
  }

  /// Takes the power of all tags too, so that the next look finds every tag in its initial state.
  func release() throws(Failure) {
    try deselect()
    try switchFieldOff()
  }

  /// The tag sleeps until the next look.
  func deselect() throws(Failure) {
    _ = try send([Command.release, 0x00])
  }

  func switchFieldOff() throws(Failure) {
    try perform([Command.configureRF, 0x01, 0x00])
    if isFieldOn || fieldOffSince == nil { fieldOffSince = line.now }
    fieldOnSince = nil
    timesOff += 1
  }

  /// The chip executes the command by itself. No tag can make it refuse that.
  @discardableResult
  func perform(_ command: [UInt8]) throws(Failure) -> [UInt8] {
    switch try send(command) {
    case .bytes(let bytes): return bytes
    case .silence, .wrongKey: throw refusal("unexpected tag error")
    case .refused(let number): throw refusal("libnfc error \(number)")
    }
  }

  func refusal(_ what: String) -> Failure {
    Failure(reason: "\(connectionString) refuses to work (\(what)); unplug it and plug it in again")
  }

  // `time`: how long libnfc waits for the chip, at each step of its driver.
  // `mayBeLate`: whether a missing answer in that time is the tag's fault.
  private func send(
    _ command: [UInt8], within time: Duration = ReaderTiming.shortWait, mayBeLate: Bool = false,
    answerRoom: Int = NFCDevice.usualAnswerRoom
  ) throws(Failure) -> Answer {
    beforeCommand()
    let hasStatus = [Command.exchange, Command.communicateThru, Command.release, Command.select].contains(command.first)
    switch line.transceive(command, answerRoom: answerRoom, within: time) {
    case .bytes(let bytes):
      if hasStatus { refusals = 0 }
      return .bytes(bytes)
    case .gone: throw Failure(reason: "\(connectionString) was unplugged or stopped working")
    case .timeout where mayBeLate:
      // The next command ends the chip's wait for the tag. If that fails, the chip itself is silent.
      try fallInStep()
      return .silence
    case .timeout: throw Failure(reason: "\(connectionString) does not answer any more")
    // A silent tag is not a refusal by the chip.
    case .silence: return .silence
    case .wrongKey: return .wrongKey
    case .refused(let number):
      // A tag can make the chip refuse an exchange, but not a release, which resets the count.
      if hasStatus {
        refusals += 1
        guard refusals < Self.mostRefusals else { throw refusal("libnfc error \(number)") }
      }
      return .refused(number)
    }
  }
}

/// Looking for tags and selecting one of them.
extension NFCDevice {
  /// The longest time that a FeliCa tag needs after the field comes on until it listens (NFC Forum Digital Protocol,
  /// guard time of NFC-F). For the other technologies the chip itself waits long enough.
  private static let startUpFeliCa = Duration.milliseconds(20)

  /// Switches the field on if it is off, and activates the tag. Nil if there is none.
  func select(_ modulation: Modulation) throws(Failure) -> TagActivation? {
    try list(modulation, atMost: 1).first
  }

  /// Switches the field on if it is off. A single tag is selected afterwards; of two tags none is. `most` is 1, or 2 if
  /// `Modulation.mayBeTwo`. The chip keeps no more. FeliCa cards are looked for by `systems`, all of them if it is
  /// empty. The list may be long, so it is only tried if any card answers.
  func list(
    _ modulation: Modulation, atMost most: UInt8, systems: [UInt16]? = nil
  ) throws(Failure) -> [TagActivation] {
    let command = [Command.listPassiveTarget, most, modulation.rawValue]
    guard modulation.isFeliCa else { return try list(modulation, command + modulation.initiatorData) }
    try powerFeliCa()
    let systems = systems ?? declaredSystems
    if systems.count != 1 {
      let any = try list(modulation, command + modulation.initiatorData)
      if any.isEmpty || systems.isEmpty { return any }
    }
    for system in systems {
      let tags = try list(modulation, command + Modulation.poll(for: system))
      if !tags.isEmpty { return tags }
    }
    return []
  }

  /// Nil if the tag is not there. For FeliCa and Type 1, another tag may answer instead.
  func selectAgain(_ tag: TagActivation) throws(Failure) -> TagActivation? {
    guard case .typeA(let activation) = tag else { return try choose(tag, orAlike: false) }
    let command = [Command.listPassiveTarget, 0x01, Modulation.typeA.rawValue]
    return try list(.typeA, command + Self.withCascadeTags(activation.uid)).first
  }

  /// Takes every tag's power first. The tag is then in its initial state and may have a new identifier. Nil if it is
  /// not there.
  func selectAnew(_ tag: TagActivation) throws(Failure) -> TagActivation? {
    try release()
    if case .typeA = tag, !tag.mayChangeIdentifier { return try selectAgain(tag) }
    let found = try choose(tag, orAlike: true)
    return found.flatMap { $0.isSamePlacement(as: tag) ? $0 : nil }
  }

  /// Looks for a tag that a look cannot name, so that another tag may answer. If the result is a different tag, the
  /// wanted one is not there.
  ///
  /// With `orAlike`, accepts a tag that may be the wanted one with a new identifier, if the wanted one is not found.
  private func choose(_ tag: TagActivation, orAlike: Bool) throws(Failure) -> TagActivation? {
    guard let modulation = tag.modulation else { return nil }
    // Another system of the card has another IDm.
    let found = try list(modulation, atMost: 1, systems: declaredSystems.isEmpty ? nil : tag.felicaSystem).first
    if let found, found.isSameTag(as: tag) || !modulation.mayBeTwo { return found }
    // A similar tag may be another one of the same make, and the wanted tag may be the second one.
    if found != nil {
      try deselect()
      if let chosen = try chooseOfTwo(tag, modulation, orAlike: orAlike) { return chosen }
    }
    guard modulation == .typeB else { return nil }
    // A chip that looks by REQB does not wake a released tag (ISO/IEC 14443-3, 7.4). Without power the tag forgets its
    // release.
    try release()
    return try chooseOfTwo(tag, modulation, orAlike: orAlike)
  }

  private func chooseOfTwo(
    _ tag: TagActivation, _ modulation: Modulation, orAlike: Bool
  ) throws(Failure) -> TagActivation? {
    let all = try list(modulation, atMost: 2)
    let same = all.firstIndex { $0.isSameTag(as: tag) }
    guard let index = same ?? (orAlike ? all.firstIndex { $0.isAlike(tag) } : nil) else {
      try deselect()
      return nil
    }
    target = UInt8(index + 1)
    // The tag that was found first is asleep. The chip wakes it if it is chosen, and puts the other one to sleep.
    return try isDone([Command.select, target]) ? all[index] : nil
  }

  private func list(_ modulation: Modulation, _ command: [UInt8]) throws(Failure) -> [TagActivation] {
    let (tags, isWhole) = try look(modulation, command)
    guard !isWhole else { return tags }
    // A tag with a malformed part of the answer is asleep now, and answers no look until it has lost its power. The
    // field goes off so that the second look can find it.
    try switchFieldOff()
    if modulation.isFeliCa { try powerFeliCa() }
    let again = try look(modulation, command)
    // A tag with a malformed answer to both looks is ignored. It is no reason to give the reader up.
    if !again.isWhole { try switchFieldOff() }
    return again.tags
  }

  /// `isWhole`: whether the tags are as many as the chip says.
  private func look(
    _ modulation: Modulation, _ command: [UInt8]
  ) throws(Failure) -> (tags: [TagActivation], isWhole: Bool) {
    awaitReset()
    fieldOnSince = fieldOnSince ?? line.now
    target = 1
    let answer = try perform(command)
    // No tag can make the chip leave out the number of tags.
    guard let count = answer.first else { throw refusal("empty answer") }
    let tags = (try? TargetList.all(of: answer, modulation)) ?? []
    return (tags, tags.count >= count)
  }

  /// The chip expects a UID of more than four bytes with its cascade tags (ISO/IEC 14443-3, 6.5.4).
  private static func withCascadeTags(_ uid: [UInt8]) -> [UInt8] {
    switch uid.count {
    case 7: [0x88] + uid
    case 10: [0x88] + uid[..<3] + [0x88] + uid[3...]
    default: uid
    }
  }

  private func powerFeliCa() throws(Failure) {
    if fieldOnSince == nil {
      awaitReset()
      try perform([Command.configureRF, 0x01, 0x01])
      fieldOnSince = line.now
    }
    guard let fieldOnSince else { return }
    line.sleep(for: Self.startUpFeliCa - fieldOnSince.duration(to: line.now))
  }

  /// If the field is off, waits until every tag has lost its power. A tag that kept its power would continue in its old
  /// state. The time between two commands is too short for a tag to lose its power.
  private func awaitReset() {
    guard !isFieldOn, let fieldOffSince else { return }
    line.sleep(for: PollPlan.resetTime - fieldOffSince.duration(to: line.now))
  }
}

/// Wraps the failure of `body` as `Interruption.deviceLost`.
func asking<Result>(
  _ device: NFCDevice, _ body: (NFCDevice) throws(NFCDevice.Failure) -> Result
) throws(Interruption) -> Result {
  do throws(NFCDevice.Failure) {
    return try body(device)
  } catch {
    throw .deviceLost(error)
  }
}
