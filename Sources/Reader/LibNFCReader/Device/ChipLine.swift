import CNFC
import Glibc
import Names
import ReaderKit

/// The line to a chip: libnfc, or a simulated chip.
protocol ChipLine: AnyObject {
  var name: String { get }

  /// Measures how long the tags have power.
  var now: SuspendingClock.Instant { get }

  func sleep(for duration: Duration)

  /// The answer has at most `answerRoom` bytes. `time` is the limit for each step of the driver.
  func transceive(_ command: [UInt8], answerRoom: Int, within time: Duration) -> LineAnswer
}

/// The answer of a chip, after libnfc's examination of its status byte.
enum LineAnswer {
  /// The data after the answer's code, with a status byte if the command has one.
  case bytes([UInt8])
  /// The chip got no valid answer from the tag.
  case silence
  /// The tag does not have that key.
  case wrongKey
  /// The chip did not answer in time.
  case timeout
  /// The device was unplugged, or sends no valid frames.
  case gone
  /// With libnfc's number for the result.
  case refused(Int32)
}

/// A line whose exchanges are recorded.
final class TracedLine: ChipLine {
  private let line: any ChipLine
  private let trace: TraceWriter

  init(_ line: any ChipLine, _ trace: TraceWriter) { (self.line, self.trace) = (line, trace) }

  var name: String { line.name }
  var now: SuspendingClock.Instant { line.now }

  func sleep(for duration: Duration) { line.sleep(for: duration) }

  func transceive(_ command: [UInt8], answerRoom: Int, within time: Duration) -> LineAnswer {
    var exchange = TraceLine.Exchange(command: command, answer: nil)
    exchange.isOfSession = trace.isInSession
    let start = SuspendingClock.now
    let answer = line.transceive(command, answerRoom: answerRoom, within: time)
    switch answer {
    case .bytes(let bytes): exchange.answer = bytes
    case .silence: exchange.result = Int64(NFC_ERFTRANS)
    case .wrongKey: exchange.result = Int64(NFC_EMFCAUTHFAIL)
    case .timeout: exchange.result = Int64(NFC_ETIMEOUT)
    case .gone: exchange.result = Int64(NFC_EIO)
    case .refused(let number): exchange.result = Int64(number)
    }
    trace.write(exchange, since: start)
    return answer
  }
}

/// An open device of libnfc. Closes it at the end.
final class LibNFCLine: ChipLine {
  private let handle: OpaquePointer
  let name: String
  /// Nil if the device is no PN532 on a serial line.
  private let serial: SerialLine?
  private var rate = SerialRate.initial

  /// Nil if the device does not answer.
  init?(_ connectionString: String, _ context: OpaquePointer) {
    let serial = SerialLine(connectionString)
    serial?.restoreIfLeft()
    func attempt() -> OpaquePointer? { connectionString.withCString { nfc_open(context, $0) } }
    guard let handle = attempt() ?? (serial?.restoreFromAny() == true ? attempt() : nil) else { return nil }
    (self.handle, self.serial) = (handle, serial)
    name = String(cString: nfc_device_get_name(handle))
  }

  deinit {
    // libnfc needs the initial rate to put the chip to sleep, and so does the next program.
    if rate != .initial { serial?.restore(from: rate) }
    nfc_close(handle)
  }

  /// The rate of a serial line in bits per second; nil if there is none, or the user decides about it. If `raises`,
  /// raises it before, with commands through `line`, which is this one or records it.
  func lineRate(raises: Bool, through line: any ChipLine) -> Int? {
    guard let serial, serial.mayRaise else { return nil }
    if raises { rate = serial.raise(line) ?? .initial }
    return rate.baud
  }

  /// Whether the chip may be at a rate at which it cannot be reached, if it does not answer now.
  var isRateInDoubt: Bool { serial?.hasToldChip == true }

  /// Returns whether the chip could be set up as a reader.
  func setUp() -> Bool {
    nfc_initiator_init(handle) >= 0 && nfc_device_set_property_bool(handle, NP_INFINITE_SELECT, false) >= 0
  }

  var now: SuspendingClock.Instant { .now }

  func sleep(for duration: Duration) {
    if duration > .zero { usleep(UInt32(duration / .microseconds(1))) }
  }

  func transceive(_ command: [UInt8], answerRoom: Int, within time: Duration) -> LineAnswer {
    var answer = [UInt8](repeating: 0, count: answerRoom)
    let timeout = Int32(time / .milliseconds(1))
    let count = pn53x_transceive(handle, command, command.count, &answer, answer.count, timeout)
    switch count {
    case 0...Int32(answer.count): return .bytes(Array(answer.prefix(Int(count))))
    case NFC_EIO, NFC_ENOTSUCHDEV: return .gone
    case NFC_ETIMEOUT: return .timeout
    case NFC_ERFTRANS: return .silence
    case NFC_EMFCAUTHFAIL: return .wrongKey
    default: return .refused(count)
    }
  }
}
