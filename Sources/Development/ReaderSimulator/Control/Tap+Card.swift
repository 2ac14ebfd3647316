import EventLoop
import Glibc
import NDEF

/// The tags and cards of `tap` commands.
extension ControlCommand.Tap {
  /// The limit for files. No tag holds more, and no message may be longer.
  private static let maximumFileSize = 1 << 20

  /// The card for a PC/SC reader.
  func makeCard() throws(SimulatorError) -> SimulatedCard {
    switch type {
    case .contact: .contact()
    case .paymentChip: .paymentChip()
    case .openPGP: .openPGP()
    case .piv: .piv()
    default: SimulatedCard(try makeTag())
    }
  }

  /// The tag with its contents. Fails for a card with contacts.
  func makeTag() throws(SimulatorError) -> SimulatedTag {
    let message: [UInt8]
    switch contents {
    case .memoryFile(let path): return try .type2(model, memory: try Self.readFile(path))
    case .messageFile(let path):
      message = try Self.readFile(path)
      do { _ = try NDEFMessage(decoding: message) } catch {
        throw SimulatorError("\(path): not an NDEF message: \(error)")
      }
    case .uri(let uri):
      do { message = try NDEFMessage.uri(uri).encoded() } catch { throw SimulatorError("\(uri.prefix(80)): \(error)") }
    case .none: message = []
    }
    let uid = self.uid ?? .generated()
    switch type {
    case .type1: return try .topaz(message: message, uid: self.uid ?? .generatedTopaz())
    case .type2: return try .type2(model ?? .ntag215, message: message, uid: uid)
    case .type3: return try .type3(message: message, options: Type3Options(card ?? .liteS))
    case .type4: return try .type4(message: message, uid: uid)
    case .type4B: return try .type4B(message: message, pupi: try Self.pupi(self.uid))
    case .type5: return try .type5(vicinity ?? .slix2, message: message)
    case .mifareClassic: return try .mifareClassic(.classic1K, message: message, uid: uid)
    case .desfire: return try .desfire(message: message, uid: uid)
    case .payment: return .paymentCard(uid: uid)
    case .transit: return try .transitCard()
    case .application: return .applicationCard(uid: uid)
    case .contact, .paymentChip, .openPGP, .piv: throw SimulatorError("--type \(type.rawValue): only with --pcsc")
    }
  }

  private static func pupi(_ uid: TagUID?) throws(SimulatorError) -> TagPUPI {
    guard let uid else { return .generated() }
    guard let bytes = uid.fixedBytes else { return .random }
    return try .fixed(bytes)
  }

  private static func readFile(_ path: String) throws(SimulatorError) -> [UInt8] {
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw SimulatorError("\(path): \(SystemError("open it").description)") }
    let file = FileDescriptor(owning: number)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(file.rawValue, &buffer, buffer.count)
      guard count >= 0 else { throw SimulatorError("\(path): \(SystemError("read it").description)") }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= maximumFileSize else {
        throw SimulatorError("\(path): more than \(maximumFileSize) bytes, which no tag holds")
      }
    }
  }
}
