import CNFC
import Glibc
import ReaderLink
import Tags

/// An open libnfc device and the chip behind it, used on one thread.
///
/// Commands go to the chip as they are: what libnfc would make of a target's answer is not asked for.
final class Device: Chip {
  typealias Failure = ChipFailure
  typealias Answer = ChipAnswer

  let name: String
  let connectionString: String
  /// What is done before each command: it may take a while.
  var beforeCommand: () -> Void = {}
  private let handle: OpaquePointer
  /// Refusals since the chip last did what it was told to do with a tag.
  private var refusals = 0
  /// The number that the chip has given the tag that is selected.
  var target: UInt8 = 1
  private static let mostRefusals = 8
  private static let usualAnswerRoom = 1024
  /// The only systems for which FeliCa cards are polled, in this order; none stands for every system.
  var declaredSystems: [UInt16] = []
  /// How long the tag may take for its answer, where that is for somebody else to say; then one that takes longer is silent, and no
  /// reason to give the chip up.
  var tagTimeout: Duration?
  /// How often the field was switched off.
  private(set) var timesOff = 0
  /// Since when the field is on; nil where it is off.
  var fieldOnSince: SuspendingClock.Instant?
  /// Since when it is off; where it is on, since when it was off last.
  private(set) var fieldOffSince: SuspendingClock.Instant?
  /// Whether the field is on, or may be.
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

  /// Opens the device, with the field off.
  ///
  /// Nothing in here but `deinit` closes the handle: it also runs where setting up fails, and libnfc frees what it closes.
  ///
  /// - Parameters:
  ///   - connectionString: what libnfc calls the device.
  ///   - context: libnfc's context.
  /// - Returns: the device.
  /// - Throws: `Failure` where it cannot be opened.
  static func open(_ connectionString: String, _ context: OpaquePointer) throws(Failure) -> Device {
    guard let handle = connectionString.withCString({ nfc_open(context, $0) }) else {
      throw Failure(reason: "\(connectionString) does not answer; is it a reader, and does no other program use it?")
    }
    let device = Device(owning: handle, connectionString)
    do throws(Failure) {
      try device.setUp()
    } catch {
      throw Failure(reason: error.reason, isFieldInDoubt: true)
    }
    return device
  }

  private init(owning handle: OpaquePointer, _ connectionString: String) {
    self.handle = handle
    self.connectionString = connectionString
    name = String(cString: nfc_device_get_name(handle))
  }

  private func setUp() throws(Failure) {
    guard nfc_initiator_init(handle) >= 0, nfc_device_set_property_bool(handle, NP_INFINITE_SELECT, false) >= 0 else {
      throw Failure(reason: "\(connectionString) answers, but cannot be set up as a reader")
    }
    // MxRtyATR, MxRtyPSL, MxRtyPassiveActivation: one look, for the next one comes soon.
    try perform([Command.configureRF, 0x05, 0x00, 0x01, 0x00])
    // A tag that a program before us has left active or in ISO-DEP answers no look until it has lost its power.
    try switchFieldOff()
  }

  deinit { nfc_close(handle) }

  /// A libnfc context, which holds libnfc's settings; it lasts until `nfc_exit`.
  static func makeContext() -> OpaquePointer? {
    var context: OpaquePointer?
    nfc_init(&context)
    return context
  }

  /// The devices that libnfc knows of, by its configuration or because it has looked.
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

  /// Sends a command of any length to the selected card of ISO-DEP, in pieces where the chip does not take it at once (UM0701-02, 7.3.8,
  /// MI); libnfc puts the pieces of the answer together.
  ///
  /// - Parameters:
  ///   - command: what the card gets.
  ///   - room: the most bytes that the answer may have.
  ///   - beforeEach: called before each piece; false gives up, and the card is to be selected anew.
  /// - Returns: the answer.
  /// - Throws: `Failure` where the chip does not answer.
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

  /// What goes to every reader in one command (`ExchangeLimit` of Tags says why).
  private static let piece = 250
  private static let moreInformation: UInt8 = 0x40
  /// What the line and the chip take besides the tag.
  private static let transferTime = Duration.milliseconds(200)

  func communicateThru(_ frame: [UInt8]) throws(Failure) -> Answer {
    try transmit([Command.communicateThru] + frame)
  }

  /// Sends a command whose answer, by its code, is taken for none to a tag's, nor the other way round: after it the next answer is not
  /// one that has been given before, or that a slow line still had.
  ///
  /// - Throws: `Failure` where another command's answer comes.
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
    // A PN533 puts a status byte before them.
    return Array(answer.suffix(addresses.count))
  }

  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(Failure) {
    let parameters = writes.flatMap { write in
      [UInt8(truncatingIfNeeded: write.address >> 8), UInt8(truncatingIfNeeded: write.address), write.value]
    }
    _ = try send([Command.writeRegister] + parameters)
  }

  // The first byte of the answer is its status, which libnfc has looked at.
  private func transmit(_ command: [UInt8], answerRoom: Int = Device.usualAnswerRoom) throws(Failure) -> Answer {
    let time = tagTimeout.map { $0 + Self.transferTime } ?? ReaderTiming.longestWait
    let answer = try send(command, within: time, mayBeLate: tagTimeout != nil, answerRoom: answerRoom)
    guard case .bytes(let bytes) = answer else { return answer }
    return .bytes(Array(bytes.dropFirst()))
  }

  /// Whether the selected ISO-DEP card still answers: Diagnose, card presence detection.
  func isCardPresent() throws(Failure) -> Bool {
    try isDone([Command.diagnose, 0x06])
  }

  func isDone(_ command: [UInt8]) throws(Failure) -> Bool {
    if case .bytes = try send(command) { return true }
    return false
  }

  /// Lets go of the selected tag and takes its power, so that the next look finds every tag as if it had just come.
  func release() throws(Failure) {
    try deselect()
    try switchFieldOff()
  }

  /// Lets go of the selected tag, which sleeps until the next look.
  func deselect() throws(Failure) {
    _ = try send([Command.release, 0x00])
  }

  func switchFieldOff() throws(Failure) {
    try perform([Command.configureRF, 0x01, 0x00])
    if isFieldOn || fieldOffSince == nil { fieldOffSince = .now }
    fieldOnSince = nil
    timesOff += 1
  }

  /// Sends a command that the chip carries out by itself: no tag can make it refuse that.
  @discardableResult
  func perform(_ command: [UInt8]) throws(Failure) -> [UInt8] {
    switch try send(command) {
    case .bytes(let bytes): return bytes
    case .silence, .wrongKey: throw refusal("it speaks of a tag")
    case .refused(let number): throw refusal("libnfc error \(number)")
    }
  }

  func refusal(_ what: String) -> Failure {
    Failure(reason: "\(connectionString) refuses to work (\(what)); plug it in anew")
  }

  // `time`: how long libnfc waits for the chip, at each step that its driver makes.
  // `mayBeLate`: whether no answer in that time is the tag's fault.
  private func send(
    _ command: [UInt8], within time: Duration = ReaderTiming.shortWait, mayBeLate: Bool = false,
    answerRoom: Int = Device.usualAnswerRoom
  ) throws(Failure) -> Answer {
    beforeCommand()
    let hasStatus = [Command.exchange, Command.communicateThru, Command.release, Command.select].contains(command.first)
    let timeout = Int32(time / .milliseconds(1))
    var answer = [UInt8](repeating: 0, count: answerRoom)
    let count = pn53x_transceive(handle, command, command.count, &answer, answer.count, timeout)
    switch count {
    case 0...Int32(answer.count):
      if hasStatus { refusals = 0 }
      return .bytes(Array(answer.prefix(Int(count))))
    case NFC_EIO, NFC_ENOTSUCHDEV: throw Failure(reason: "\(connectionString) was unplugged or does not work any more")
    case NFC_ETIMEOUT where mayBeLate:
      // The next command takes the chip from its waiting; where it does not, the chip is the one that is silent.
      try fallInStep()
      return .silence
    case NFC_ETIMEOUT: throw Failure(reason: "\(connectionString) does not answer any more")
    // A tag that does not answer is no refusal of the chip's.
    case NFC_ERFTRANS: return .silence
    case NFC_EMFCAUTHFAIL: return .wrongKey
    default:
      // One that has the chip refuse something does not have it refuse to let it go.
      if hasStatus {
        refusals += 1
        guard refusals < Self.mostRefusals else { throw refusal("libnfc error \(count)") }
      }
      return .refused(count)
    }
  }
}
