import Glibc
import NDEF
import TagrouteClient

/// Prints what it is opened with: the link, and the records of the tag's message.
///
/// The desktop entry beside it says that tags with links to swift.example.com open it. With an argument it reads the message from its
/// standard input, as a program does that the desktop entry starts; without, it is called over D-Bus.
@main struct Handler {
  static func main() async throws {
    guard CommandLine.arguments.count < 2 else { return show(try TagOpening.fromStandardInput()) }
    do {
      try await TagHandler.serve("org.example.SwiftHandler") { opening in
        // A window of the app would be given the activation token here, to be raised.
        guard opening.uri?.hasSuffix("/closed") != true else { throw Closed() }
        show(opening)
      }
    } catch {
      // The session has ended, or the app runs already. Thrown on, it would be a crash with a core file.
      print("the handler ends: \(error)")
      exit(1)
    }
  }

  /// What is thrown is what the person reads who has tapped.
  struct Closed: Error, CustomStringConvertible {
    let description = "the kitchen is closed"
  }

  static func show(_ opening: TagOpening) {
    print("link:", text(Array((opening.uri ?? "none").utf8)))
    for (number, record) in zip(1..., opening.message.records) {
      print("record \(number): \(record.typeNameFormat.rawValue) \(text(record.type)): \(text(record.payload))")
    }
    fflush(nil)
  }

  /// What a stranger wrote must not steer the terminal: a point stands for what is not visible ASCII.
  static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
  }
}
