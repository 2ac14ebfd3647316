import Bus
import Names
import TagrouteClient

/// A reader as the user names it, and its device. After a restart the daemon may give its number to another reader.
struct ReaderChoice: Sendable {
  private let text: String
  private var device: String?

  /// The text is a name, a device, an object path or a number.
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
    let found = readers.filter { text.isEmpty ? false : Self.matches($0, text) }
    let paths = found.map(\.path)
    guard let path = paths.first, let result = try? ObjectPath(path) else {
      throw Failure(
        message: "no reader \(text) found: tagroute status lists the readers",
        exitCode: Names.ExitCode.tryAgain)
    }
    guard paths.count == 1 else {
      throw .usage("\(paths.count) readers are called \(text): choose one by its device")
    }
    device = found.first.flatMap { $0.device.isEmpty ? nil : $0.device }
    return result
  }

  /// The number at the end of a reader's object path; nil if there is none.
  static func number(of reader: ReaderStatus) -> Int? {
    reader.path.split(separator: "/").last.flatMap { Int($0) }
  }

  static func matches(_ reader: ReaderStatus, _ text: String) -> Bool {
    [reader.name, reader.device, reader.path].contains(text) || reader.path.hasSuffix("/\(text)")
  }
}
