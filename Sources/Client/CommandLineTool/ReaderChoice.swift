import Bus
import Names
import TagrouteClient

/// A reader as the user names it, and its device. After a restart the daemon may give its number to another reader.
struct ReaderChoice: Sendable {
  private let text: String
  private var device: String?

  /// The text is a number, a name, a device or an object path.
  init(_ text: String) { self.text = text }

  static func readers(_ connection: Connection) async throws(Failure) -> [ReaderStatus] {
    try await Failure.asking(.daemon) { () throws(BusError) in try await DaemonClient(connection).status().readers }
  }

  /// The object path of the reader. Fails if there is no such reader, or several.
  mutating func choose(among readers: [ReaderStatus]) throws(Failure) -> ObjectPath {
    if let device {
      guard let path = readers.first(where: { $0.device == device })?.path, let result = try? ObjectPath(path) else {
        throw Failure(
          message: "the reader \(device) is gone: plug it in and try again, or choose another one",
          exitCode: Names.ExitCode.tryAgain)
      }
      return result
    }
    let found = readers.filter { Self.matches($0, text) }
    guard let reader = found.first, let result = try? ObjectPath(reader.path) else {
      throw Failure(
        message: "no reader \(text) found: tagroute status lists the readers",
        exitCode: Names.ExitCode.tryAgain)
    }
    guard found.count == 1 else {
      let list = found.map { "\(Self.text(for: $0)) (\($0.device))" }.joined(separator: ", ")
      throw .usage("\(found.count) readers are called \(text): choose one by its number: \(list)")
    }
    device = reader.device.isEmpty ? nil : reader.device
    return result
  }

  /// The number at the end of a reader's object path; nil if there is none.
  static func number(of reader: ReaderStatus) -> Int? { number(ofPath: reader.path) }

  private static func number(ofPath path: String) -> Int? { path.split(separator: "/").last.flatMap { Int($0) } }

  static func matches(_ reader: ReaderStatus, _ text: String) -> Bool {
    guard !text.isEmpty else { return false }
    return [reader.name, reader.device, reader.path, Self.text(for: reader)].contains(text)
      || reader.path.hasSuffix("/\(text)")
  }

  /// A reader for people: `0: ACS ACR122U`.
  static func text(for reader: ReaderStatus) -> String { Self.text(number: number(of: reader), name: reader.name) }

  static func text(number: Int?, name: String) -> String {
    let name = name.isEmpty ? "reader" : name
    return number.map { "\($0): \(name)" } ?? name
  }

  /// The reader of a tap for people: `reader 0`. Its name is not known: since then, another reader may have got the
  /// number.
  static func text(forPath path: String) -> String { number(ofPath: path).map { "reader \($0)" } ?? path }
}
