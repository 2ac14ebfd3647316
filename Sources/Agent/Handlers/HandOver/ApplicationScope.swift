import Bus
import Glibc
import Names
import Routing

/// A scope of the user's systemd for a started program. It separates the program from the agent's own unit, and tells
/// the desktop which application it is (systemd's "Desktop Environment Integration").
///
/// The program already runs when it is moved there, as with GNOME and KDE: Linux can hold a program before its first
/// instruction only with a helper program in between. Processes that it started before the move stay in the agent's
/// unit.
struct ApplicationScope {
  let application: Application
  let child: pid_t

  private static let manager = "org.freedesktop.systemd1"
  private static let path: ObjectPath = "/org/freedesktop/systemd1"
  /// systemd replies within milliseconds, or not at all.
  private static let timeout = Duration.seconds(5)

  /// Asks systemd for the scope. The caller must not reap the child before this returns, because its process id could
  /// be reused. Throws if systemd refuses or is not there. The program runs anyway.
  func start(on connection: Connection) async throws(BusError) {
    // Without auto-start: the bus has a service file for systemd that only fails.
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

  /// One line of bounded length, because systemd stores it in a file of lines.
  private var description: String {
    let line = application.name.unicodeScalars.prefix(200).map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: " "
      default: scalar
      }
    }
    let text = String(String.UnicodeScalarView(line))
    return text.isEmpty ? AppID.text(application.desktopID) : text
  }

  /// `app-tagroute-ID-RANDOM.scope`, at most 255 bytes (systemd.unit(5)).
  static func name(of desktopID: String, random: UInt32) -> String {
    let id = AppID.text(desktopID)
    let prefix = "app-tagroute-"
    let suffix = "-\(String(random, radix: 16)).scope"
    return prefix + escaped(id, atMost: 255 - prefix.utf8.count - suffix.utf8.count) + suffix
  }

  /// Escapes as systemd-escape(1) does, because an unescaped dash would end the id. An escape sequence is never cut.
  private static func escaped(_ id: String, atMost limit: Int) -> String {
    var result = ""
    for byte in id.utf8 {
      let isPlain =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"): true
        case UInt8(ascii: "."): !result.isEmpty
        default: false
        }
      let piece =
        isPlain
        ? String(Unicode.Scalar(byte))
        : byte == UInt8(ascii: "/") ? "-" : "\\x\(Hexadecimal.text(byte).lowercased())"
      guard result.utf8.count + piece.utf8.count <= limit else { break }
      result += piece
    }
    return result
  }

  /// As systemd decides it.
  private static func isNormalized(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    return path.hasPrefix("/") && path.utf8.count < PATH_MAX && !parts.contains { ["", ".", ".."].contains($0) }
      && path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
