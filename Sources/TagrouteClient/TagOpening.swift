public import EventLoop
import Glibc
public import NDEF
import Names

/// How an app was opened: by a tag, by a link, or by neither.
///
/// What a tag holds is a stranger's: the message is one by its form, and nothing more is known of it.
public struct TagOpening: Sendable, Hashable {
  /// The link that led to the app; nil where it was only started.
  public var uri: String?
  /// The whole NDEF message of the tag; one empty record where no tag has opened the app, as on iOS.
  public var message: NDEFMessage
  /// The xdg-activation token of the user's click, for the app's window; nil where the desktop gave none.
  public var activationToken: String?
  /// The tap's id, a UUID, the same where a hand-over is tried again; nil where no tag has opened the app, and for one that is
  /// started with the message on its standard input.
  public var tapID: String?

  /// - Parameters:
  ///   - uri: the link that led to the app.
  ///   - message: the whole NDEF message of the tag.
  ///   - activationToken: the xdg-activation token of the user's click.
  ///   - tapID: the tap's id.
  public init(
    uri: String? = nil, message: NDEFMessage = .empty, activationToken: String? = nil, tapID: String? = nil
  ) {
    self.uri = uri
    self.message = message
    self.activationToken = activationToken
    self.tapID = tapID
  }

  /// How a program was opened that is started from the `Exec` of its desktop entry, `Exec=menu %u` say: the message is its standard
  /// input, the link its first argument.
  ///
  ///     let opening = try TagOpening.fromStandardInput()
  ///     for record in opening.message.records { print(record.type) }
  ///
  /// Blocks until the input ends; a terminal is not read. No input is a message of one empty record.
  ///
  /// - Parameters:
  ///   - uri: the link.
  ///   - environment: where the activation token is.
  /// - Returns: how the program was opened.
  /// - Throws: `NDEFError` where the input is no message, or longer than 1 MiB; `SystemError` where it cannot be read.
  public static func fromStandardInput(
    uri: String? = CommandLine.arguments.dropFirst().first,
    environment: [String: String] = ProcessEnvironment.current
  ) throws -> TagOpening {
    let bytes = try isatty(STDIN_FILENO) == 1 ? [] : standardInput(atMost: NDEFLimits.default.messageSize + 1)
    return TagOpening(
      uri: uri, message: try bytes.isEmpty ? .empty : NDEFMessage(decoding: bytes),
      activationToken: environment["XDG_ACTIVATION_TOKEN"].flatMap { Names.Handler.isActivationToken($0) ? $0 : nil })
  }

  private static func standardInput(atMost limit: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < limit {
      let count = read(STDIN_FILENO, &piece, min(piece.count, limit - bytes.count))
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw SystemError("read the message on standard input") }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    return bytes
  }
}
