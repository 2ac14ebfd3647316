import Bus
import Names
import TagrouteClient

/// A reader as a person names it, and the device that this was at first: the next daemon may give a number to another one.
struct ReaderChoice: Sendable {
  private let text: String
  private var device: String?

  /// - Parameter text: its name, device, object path or number.
  init(_ text: String) { self.text = text }

  /// - Parameter connection: to the system bus.
  /// - Returns: the readers that there are now, to choose from.
  /// - Throws: what the daemon says.
  static func readers(_ connection: Connection) async throws(Failure) -> [ReaderStatus] {
    do throws(BusError) {
      return try await DaemonClient(connection).status().readers
    } catch {
      throw Failure(error, from: .daemon)
    }
  }

  /// - Parameter readers: those that there are now.
  /// - Returns: the object path of the one that is meant.
  /// - Throws: that there is none, or that there are several.
  mutating func choose(among readers: [ReaderStatus]) throws(Failure) -> ObjectPath {
    if let device {
      guard let path = readers.first(where: { $0.device == device })?.path, let result = try? ObjectPath(path) else {
        throw Failure(
          message: "the reader \(device) is not there any more: plug it in and try again, or name another one",
          exitCode: Names.ExitCode.tryAgain)
      }
      return result
    }
    let found = readers.filter { text.isEmpty ? false : Self.matches($0, text) }
    let paths = found.map(\.path)
    guard let path = paths.first, let result = try? ObjectPath(path) else {
      throw Failure(
        message: "there is no reader \(text): tagroute status shows those that there are",
        exitCode: Names.ExitCode.tryAgain)
    }
    guard paths.count == 1 else {
      throw .usage("\(paths.count) readers are called \(text): name the device")
    }
    device = found.first.flatMap { $0.device.isEmpty ? nil : $0.device }
    return result
  }

  /// The number at the end of a reader's object path, which is what the daemon tells it from others by; nil where there is none.
  static func number(of reader: ReaderStatus) -> Int? {
    reader.path.split(separator: "/").last.flatMap { Int($0) }
  }

  static func matches(_ reader: ReaderStatus, _ text: String) -> Bool {
    [reader.name, reader.device, reader.path].contains(text) || reader.path.hasSuffix("/\(text)")
  }
}
