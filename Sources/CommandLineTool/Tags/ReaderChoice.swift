import Bus
import Names
import TagrouteClient

/// A reader as a person names it.
enum ReaderChoice {
  /// - Parameters:
  ///   - text: its name, device, object path or number.
  ///   - connection: to the system bus.
  /// - Returns: its object path.
  /// - Throws: that there is none, or that there are several.
  static func path(of text: String, _ connection: Connection) async throws(Failure) -> ObjectPath {
    let readers: [ReaderStatus]
    do throws(BusError) {
      readers = try await DaemonClient(connection).status().readers
    } catch {
      throw Failure(error, from: .daemon)
    }
    let paths = readers.filter { text.isEmpty ? false : matches($0, text) }.map(\.path)
    guard let path = paths.first, let result = try? ObjectPath(path) else {
      throw Failure(
        message: "there is no reader \(text): tagroute status shows those that there are",
        exitCode: Names.ExitCode.tryAgain)
    }
    guard paths.count == 1 else {
      throw .usage("\(paths.count) readers are called \(text): name the device")
    }
    return result
  }

  static func matches(_ reader: ReaderStatus, _ text: String) -> Bool {
    [reader.name, reader.device, reader.path].contains(text) || reader.path.hasSuffix("/\(text)")
  }
}
