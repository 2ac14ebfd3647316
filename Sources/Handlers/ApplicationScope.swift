import Bus
import Glibc
import Routing

/// A scope of the user's systemd for a program that was started, so that what happens to the agent's own unit does not happen to
/// the program, and the desktop knows which application it is (systemd's "Desktop Environment Integration").
///
/// The program runs already when it is moved there, as with GNOME and KDE: nothing on Linux starts a program held before its first
/// instruction but a program of one's own in between. What it has started until then stays where it was.
struct ApplicationScope {
  let application: Application
  let child: pid_t

  private static let manager = "org.freedesktop.systemd1"
  private static let path: ObjectPath = "/org/freedesktop/systemd1"
  /// systemd answers within milliseconds, or does not answer.
  private static let timeout = Duration.seconds(5)

  /// Asks systemd for it. The child must not have been reaped before this returns: its number could be another's.
  ///
  /// - Throws: `BusError` where systemd refuses, or there is none; the program runs all the same.
  func start(on connection: Connection) async throws(BusError) {
    // Never started by the bus, which has a service file for it that only fails.
    _ = try await connection.call(
      Self.manager, Self.path, Self.manager + ".Manager", "StartTransientUnit",
      [
        .string(Self.name(of: application.desktopID, random: .random(in: .min ... .max))), .string("fail"),
        .array(element: "(sv)", properties.map { .structure([.string($0), .variant($1)]) }),
        .array(element: "(sa(sv))", []),
      ], timeout: Self.timeout, autoStart: false)
  }

  private var properties: [(String, Value)] {
    var properties: [(String, Value)] = [
      ("Description", .string(description)), ("PIDs", .array(element: "u", [.uint32(UInt32(child))])),
      ("Slice", .string("app.slice")), ("CollectMode", .string("inactive-or-failed")),
    ]
    if Self.isNormalized(application.file) { properties.append(("SourcePath", .string(application.file))) }
    return properties
  }

  /// One bounded line: systemd keeps it in a file of lines.
  private var description: String {
    let line = application.name.unicodeScalars.prefix(200).map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: " "
      default: scalar
      }
    }
    let text = String(String.UnicodeScalarView(line))
    return text.isEmpty ? application.desktopID : text
  }

  /// `app-tagroute-ID-RANDOM.scope`, at most 255 bytes (systemd.unit(5)).
  static func name(of desktopID: String, random: UInt32) -> String {
    let id = desktopID.hasSuffix(".desktop") ? desktopID.dropLast(".desktop".count) : desktopID[...]
    let prefix = "app-tagroute-"
    let suffix = "-\(String(random, radix: 16)).scope"
    return prefix + escaped(id, atMost: 255 - prefix.utf8.count - suffix.utf8.count) + suffix
  }

  /// As systemd-escape(1) has it, so that what the name says is read back: a dash would end the id. No escape is cut.
  private static func escaped(_ id: Substring, atMost limit: Int) -> String {
    var result = ""
    for byte in id.utf8 {
      let isPlain =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"): true
        case UInt8(ascii: "."): !result.isEmpty
        default: false
        }
      let digits = String(byte, radix: 16)
      let piece =
        isPlain
        ? String(Unicode.Scalar(byte)) : byte == UInt8(ascii: "/") ? "-" : "\\x\(byte < 16 ? "0" : "")\(digits)"
      guard result.utf8.count + piece.utf8.count <= limit else { break }
      result += piece
    }
    return result
  }

  /// Whether systemd takes it for a path.
  private static func isNormalized(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    return path.hasPrefix("/") && path.utf8.count < PATH_MAX && !parts.contains { ["", ".", ".."].contains($0) }
      && path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
