import CNFC
import Glibc
import Tags

/// An open libnfc device and the chip behind it, used on one thread.
///
/// Commands go to the chip as they are: what libnfc would make of a target's answer is not asked for.
final class Device {
  /// The device cannot be used any more and has to be closed.
  struct Failure: Error {
    let reason: String
  }

  /// What a command to the chip came to, where the chip is alive.
  enum Answer {
    case bytes([UInt8])
    /// The chip says that it did not get through to the tag, with libnfc's number for it.
    case refused(Int32)
  }

  /// libnfc's number for "the chip did not get through to the tag".
  static let transmissionError = Int32(NFC_ERFTRANS)
  /// libnfc's number for "the tag does not have that key".
  static let authenticationError = Int32(NFC_EMFCAUTHFAIL)

  let name: String
  let connectionString: String
  /// Commands sent since the device was opened.
  private(set) var commands: UInt64 = 0
  private let handle: OpaquePointer

  /// Commands of a PN53x (UM0701-02, 7).
  private enum Command {
    static let diagnose: UInt8 = 0x00
    static let readRegister: UInt8 = 0x06
    static let writeRegister: UInt8 = 0x08
    static let configureRF: UInt8 = 0x32
    static let exchange: UInt8 = 0x40
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
    try device.setUp()
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
    // One look and one more: a tag that was left active misses the first.
    _ = try send([Command.configureRF, 0x05, 0x00, 0x01, 0x01])
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

  /// Looks for one tag, switching the field on where it is off, and activates it.
  ///
  /// - Returns: the tag; nil where there is none.
  /// - Throws: `Failure` where the chip does not answer as it should.
  func select(_ modulation: Modulation) throws(Failure) -> TagActivation? {
    let command = [Command.listPassiveTarget, 0x01, modulation.rawValue] + modulation.initiatorData
    guard case .bytes(let answer) = try send(command) else { return nil }
    do throws(TargetList.Malformed) {
      return try TargetList.first(of: answer, modulation)
    } catch {
      throw Failure(reason: "the chip named a tag in a form that it does not have")
    }
  }

  /// Sends a command to the selected tag, in the way that the chip's firmware has for its kind.
  func exchange(_ command: [UInt8]) throws(Failure) -> Answer {
    try transmit([Command.exchange, 0x01] + command)
  }

  /// Sends a frame to the selected tag as it is; the chip adds the CRC and takes it off the answer.
  func communicateThru(_ frame: [UInt8]) throws(Failure) -> Answer {
    try transmit([Command.communicateThru] + frame)
  }

  /// Sets one of the chip's registers (UM0701-02, 7.2.5).
  func writeRegister(_ address: UInt16, _ value: UInt8) throws(Failure) {
    try writeRegisters([(address, value)])
  }

  /// How long the chip waits for a tag's answer to a frame that is sent as it is (RFConfiguration, item 2).
  /// The code stands for 100 µs times two to the power of one less; the chip starts with 0A, 51.2 ms.
  func setAnswerTimeout(code: UInt8) throws(Failure) {
    _ = try send([Command.configureRF, 0x02, 0x00, 0x0B, code])
  }

  /// Reads registers of the chip in their order (UM0701-02, 7.2.4).
  ///
  /// - Returns: as many bytes as there are addresses; none where the chip refuses.
  func readRegisters(_ addresses: [UInt16]) throws(Failure) -> [UInt8] {
    let parameters = addresses.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    guard case .bytes(let answer) = try send([Command.readRegister] + parameters), answer.count >= addresses.count
    else {
      return []
    }
    // A PN533 puts a status byte before them.
    return Array(answer.suffix(addresses.count))
  }

  /// Writes registers of the chip in their order (UM0701-02, 7.2.5).
  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(Failure) {
    let parameters = writes.flatMap { write in
      [UInt8(truncatingIfNeeded: write.address >> 8), UInt8(truncatingIfNeeded: write.address), write.value]
    }
    _ = try send([Command.writeRegister] + parameters)
  }

  // The first byte of the answer is its status, which libnfc has looked at.
  private func transmit(_ command: [UInt8]) throws(Failure) -> Answer {
    let answer = try send(command, timeout: 700)
    guard case .bytes(let bytes) = answer else { return answer }
    return .bytes(Array(bytes.dropFirst()))
  }

  /// Whether the selected ISO-DEP card still answers: Diagnose, card presence detection.
  func isCardPresent() throws(Failure) -> Bool {
    if case .bytes = try send([Command.diagnose, 0x06]) { return true }
    return false
  }

  /// Lets go of the selected tag and takes its power, so that the next look finds every tag as if it had just come.
  func release() throws(Failure) {
    _ = try send([Command.release, 0x00])
    try switchFieldOff()
  }

  func switchFieldOff() throws(Failure) {
    _ = try send([Command.configureRF, 0x01, 0x00])
  }

  // `timeout`: milliseconds until a silent chip counts as gone.
  private func send(_ command: [UInt8], timeout: Int32 = 400) throws(Failure) -> Answer {
    commands += 1
    var answer = [UInt8](repeating: 0, count: 1024)
    let count = pn53x_transceive(handle, command, command.count, &answer, answer.count, timeout)
    switch count {
    case 0...Int32(answer.count): return .bytes(Array(answer.prefix(Int(count))))
    case NFC_EIO, NFC_ENOTSUCHDEV: throw Failure(reason: "\(connectionString) was unplugged or does not work any more")
    case NFC_ETIMEOUT: throw Failure(reason: "\(connectionString) does not answer any more")
    default: return .refused(count)
    }
  }
}
