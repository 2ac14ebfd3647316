import Glibc
import NDEF
import TagrouteClient

/// Prints the link that it is opened with, and the records of the tag's message.
///
/// The desktop entry in this folder lets tags with links to swift.example.com open the program. If the desktop entry
/// starts it, the program has an argument and reads the message from standard input. Without an argument, it is called
/// over D-Bus.
@main struct Handler {
  static func main() async throws {
    guard CommandLine.arguments.count < 2 else { return show(try TagOpening.fromStandardInput()) }
    do {
      try await TagHandler.serve("org.example.SwiftHandler") { opening in
        // An app with a window would get the activation token here, to raise its window.
        guard opening.uri?.hasSuffix("/closed") != true else { throw Closed() }
        show(opening)
      }
    } catch {
      // The session has ended, or the app runs already. If `main` threw this error, the program would crash with a core
      // file.
      print("the handler ends: \(error)")
      exit(1)
    }
  }

  /// After the tap, the user sees the description of this error.
  struct Closed: Error, CustomStringConvertible {
    let description = "the kitchen is closed"
  }

  static func show(_ opening: TagOpening) {
    print("link:", text(Array((opening.uri ?? "none").utf8)))
    if !opening.uid.isEmpty { print("tag:", hexadecimal(opening.uid), text(Array(opening.technology.utf8))) }
    for (number, record) in zip(1..., opening.message.records) {
      print("record \(number): \(record.typeNameFormat.rawValue) \(text(record.type)): \(text(record.payload))")
    }
    fflush(nil)
  }

  /// A UID as Tagroute writes it: `04-A2-19-5A`.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: "-")
  }

  /// Replaces everything but visible ASCII by a point, because a stranger's text must not control the terminal.
  static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
  }
}
