public import EventLoop
import Glibc
public import NDEF
import Names

/// How an app was opened: by a tag, by a link, or by neither.
///
/// A tag's data is untrusted. The message is well-formed, but its contents are not checked.
public struct TagOpening: Sendable, Hashable {
  /// The link that led to the app; nil if a record without a link led to it, or the app was only started.
  public var uri: String?
  /// The whole NDEF message of the tag; one empty record if no tag has opened the app, as on iOS.
  public var message: NDEFMessage
  /// The xdg-activation token of the user's click, for the app's window; nil if the desktop provided none.
  public var activationToken: String?
  /// The tap's id, a UUID, which is the same if a hand-over is retried. Nil if no tag has opened the app, and for a
  /// program that gets the message on its standard input.
  public var tapID: String?
  /// The tag's UID. Empty for a tag without one, and if no tag has opened the app.
  ///
  /// Do not use it as proof of anything: a UID can be copied, and some tags have a new one at each reading.
  public var uid: [UInt8]
  /// The tag's technology, for example `type-2`; empty if it is not known, or no tag has opened the app.
  public var technology: String
  /// The reader's object path at the daemon; empty if it is not known, or no tag has opened the app.
  public var reader: String
  /// When the tag was read, in microseconds since 1970-01-01 00:00 UTC; nil if no tag has opened the app. It may be
  /// days ago if the user opens the tap from the inbox.
  public var time: UInt64?

  /// - Parameters:
  ///   - uri: the link that led to the app.
  ///   - message: the whole NDEF message of the tag.
  ///   - activationToken: the xdg-activation token of the user's click.
  ///   - tapID: the tap's id.
  ///   - uid: the tag's UID.
  ///   - technology: the tag's technology.
  ///   - reader: the reader's object path at the daemon.
  ///   - time: when the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  public init(
    uri: String? = nil, message: NDEFMessage = .empty, activationToken: String? = nil, tapID: String? = nil,
    uid: [UInt8] = [], technology: String = "", reader: String = "", time: UInt64? = nil
  ) {
    self.uri = uri
    self.message = message
    self.activationToken = activationToken
    self.tapID = tapID
    self.uid = uid
    self.technology = technology
    self.reader = reader
    self.time = time
  }

  /// How a program was opened from the `Exec` of its desktop entry, for example `Exec=menu %u`. The message is on its
  /// standard input, and the link is its first argument.
  ///
  ///     let opening = try TagOpening.fromStandardInput()
  ///     for record in opening.message.records { print(record.type) }
  ///
  /// Blocks until the input ends. A terminal is not read. An empty input is a message of one empty record, and the data
  /// about the tag is then missing.
  ///
  /// - Parameters:
  ///   - uri: the link.
  ///   - environment: contains the activation token and the data about the tag.
  /// - Returns: how the program was opened.
  /// - Throws: `NDEFError` if the input is not a message, or longer than 1 MiB; `SystemError` if it cannot be read.
  public static func fromStandardInput(
    uri: String? = CommandLine.arguments.dropFirst().first,
    environment: [String: String] = ProcessEnvironment.current
  ) throws -> TagOpening {
    // A second descriptor, so that standard input stays open.
    let input = FileDescriptor(owning: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))
    let bytes = try isatty(STDIN_FILENO) == 1 ? [] : input.readAll(atMost: NDEFLimits.default.messageSize + 1)
    var opening = TagOpening(
      uri: uri, message: try bytes.isEmpty ? .empty : NDEFMessage(decoding: bytes),
      activationToken: environment["XDG_ACTIVATION_TOKEN"].flatMap { Names.Handler.isActivationToken($0) ? $0 : nil })
    // Without a message, the variables were inherited from another program that a tag has opened.
    guard !bytes.isEmpty else { return opening }
    opening.uid = environment[Names.Handler.Variable.uid].flatMap(UIDText.bytes) ?? []
    opening.technology =
      environment[Names.Handler.Variable.technology].flatMap { Names.Handler.isTechnology($0) ? $0 : nil } ?? ""
    opening.reader = environment[Names.Handler.Variable.reader].flatMap { Names.Handler.isReader($0) ? $0 : nil } ?? ""
    opening.time = environment[Names.Handler.Variable.time].flatMap { UInt64($0) }
    return opening
  }
}
