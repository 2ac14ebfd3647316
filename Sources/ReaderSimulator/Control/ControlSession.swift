import EventLoop
import Glibc
import NDEF

/// Executes control lines, and answers each with one line: `ok …` or `error what: why`.
struct ControlSession: Sendable {
  /// The limit for files. No tag holds more, and no message may be longer.
  private static let maximumFileSize = 1 << 20

  let reader: SimulatedReader

  /// Returns the answer without its newline, and whether the program should quit.
  func answer(to line: String) async -> (text: String, quits: Bool) {
    do throws(SimulatorError) {
      let command = try ControlCommand(line)
      return (try await perform(command), command == .quit)
    } catch {
      return ("error \(error)", false)
    }
  }

  /// Places a tag on the reader and returns the answer.
  func tap(_ tap: ControlCommand.Tap) async throws(SimulatorError) -> String {
    let tag = try Self.makeTag(tap)
    if !tap.isAdditional { await reader.removeAll() }
    let id = await reader.place(tag)
    return "ok tag \(id)"
  }

  private func perform(_ command: ControlCommand) async throws(SimulatorError) -> String {
    switch command {
    case .tap(let tap): return try await self.tap(tap)
    case .remove(let number?):
      guard await reader.remove(TagID(number: number)) != nil else {
        throw SimulatorError("remove: no tag \(number) lies on the reader")
      }
      return "ok"
    case .remove(nil): await reader.removeAll()
    case .fault(let fault): await reader.add(fault)
    case .noFaults: await reader.clearFaults()
    case .unplug: await reader.unplug()
    case .plug:
      try await reader.plug()
      return "ok \(await reader.terminalPath)"
    case .counters(let resets):
      let text = Self.describe(await reader.counters, fieldIsOn: await reader.isFieldOn)
      if resets { await reader.resetCounters() }
      return "ok \(text)"
    case .wait(let count):
      let target = await reader.counters.commands + count
      await reader.wait { $0.counters.commands >= target }
    case .help: return "ok \(ControlCommand.summary)"
    case .quit: break
    }
    return "ok"
  }

  private static func describe(_ counters: Counters, fieldIsOn: Bool) -> String {
    let (seconds, attoseconds) = counters.fieldOnTime.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    return "commands=\(counters.commands) exchanges=\(counters.exchanges) "
      + "activation-frames=\(counters.activationFrames) received=\(counters.bytesReceived) sent=\(counters.bytesSent) "
      + "field=\(fieldIsOn ? "on" : "off") field-on-ms=\(milliseconds)"
  }

  private static func makeTag(_ tap: ControlCommand.Tap) throws(SimulatorError) -> SimulatedTag {
    let message: [UInt8]
    switch tap.contents {
    case .memoryFile(let path): return try .type2(tap.model, memory: try readFile(path))
    case .messageFile(let path):
      message = try readFile(path)
      do { _ = try NDEFMessage(decoding: message) } catch {
        throw SimulatorError("\(path): not an NDEF message: \(error)")
      }
    case .uri(let uri):
      do { message = try NDEFMessage.uri(uri).encoded() } catch { throw SimulatorError("\(uri.prefix(80)): \(error)") }
    case .none: message = []
    }
    let uid = tap.uid ?? .generated()
    switch tap.type {
    case .type1: return try .topaz(message: message, uid: tap.uid ?? .generatedTopaz())
    case .type2: return try .type2(tap.model ?? .ntag215, message: message, uid: uid)
    case .type3: return try .type3(message: message, options: Type3Options(tap.card ?? .liteS))
    case .type4: return try .type4(message: message, uid: uid)
    case .type4B: return try .type4B(message: message, pupi: try pupi(tap.uid))
    case .mifareClassic: return try .mifareClassic(.classic1K, message: message, uid: uid)
    case .desfire: return try .desfire(message: message, uid: uid)
    case .payment: return .paymentCard(uid: uid)
    case .transit: return try .transitCard()
    case .application: return .applicationCard(uid: uid)
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
