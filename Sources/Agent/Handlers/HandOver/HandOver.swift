import Bus
import EventLoop
import Glibc
import NDEF
import Names
import UniversalLinks

/// A hand-over that has ended, or still waits for an answer.
package struct HandOver: Sendable {
  /// ``HandOverDoubt/Code/unanswered`` if the outcome is not known yet.
  package let outcome: HandOverOutcome
  /// Nil if the outcome is final.
  package let answer: PendingAnswer?

  /// Final if there is no answer.
  package init(outcome: HandOverOutcome, answer: PendingAnswer? = nil) {
    self.outcome = outcome
    self.answer = answer
  }
}

/// An application's answer that did not come in time, and may still come.
package struct PendingAnswer: Sendable, Hashable {
  private let task: Task<HandOverOutcome, Never>
  private let loop: EventLoop

  /// Whether both are about the same call.
  package static func == (a: PendingAnswer, b: PendingAnswer) -> Bool { a.task == b.task }

  package func hash(into hasher: inout Hasher) { hasher.combine(task) }

  init(_ task: Task<HandOverOutcome, Never>, on loop: EventLoop) {
    self.task = task
    self.loop = loop
  }

  /// The final outcome. It is a doubt if the application left, or did not answer within the launcher's limit.
  package var outcome: HandOverOutcome { get async { await task.value } }

  /// Waits again, and returns the final outcome, or `unanswered` with this answer.
  package func handOver(within timeout: Duration) async -> HandOver {
    let (words, word) = AsyncStream.makeStream(of: HandOverOutcome?.self)
    Task { word.yield(await task.value) }
    let alarm = loop.schedule(after: timeout) { word.yield(nil) }
    defer { alarm.cancel() }
    if case let outcome?? = await words.first(where: { _ in true }) { return HandOver(outcome: outcome) }
    return HandOver(outcome: .unknown(.unanswered(within: timeout)), answer: self)
  }
}

package enum HandOverOutcome: Sendable, Hashable {
  /// The application has taken the message: it replied, or it was started.
  case delivered
  case failed(HandOverFailure)
  /// The application may have taken it, but did not reply.
  case unknown(HandOverDoubt)
}

package struct HandOverFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The raw value is kept in files, so it never changes its meaning.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The link leads to no application; the detail is the route's reason.
    case nowhere
    /// The application's desktop entry is gone; the detail is its path.
    case entryMissing = "entry-missing"
    /// Its desktop entry starts another program than when it was offered; the detail is the file and the line.
    case entryChanged = "entry-changed"
    /// Its desktop entry cannot be used; the detail is the file, the line, and the mistake.
    case entryUnusable = "entry-unusable"
    /// Its desktop entry has no `Exec`, and the application cannot be reached over D-Bus; the detail is the path.
    case noCommand = "no-command"
    /// The application needs a terminal; the detail is the path of its desktop entry.
    case needsTerminal = "needs-terminal"
    /// The program of its `Exec` is not installed; the detail is the file and the line.
    case programMissing = "program-missing"
    /// The program of a rule's `Run` is not installed; the detail names the program, and the rule's file and line.
    case commandMissing = "command-missing"
    /// The program of a rule's `Run` ended with an error; the detail names the program and its status.
    case commandFailed = "command-failed"
    /// Too many programs that rules started still run; the detail is the rule's file and line, or the path of the app's
    /// desktop entry, and the limit.
    case tooManyPrograms = "too-many-programs"
    /// The user may not run the program (EACCES, EPERM); the detail is the system's message.
    case notPermitted = "not-permitted"
    /// The program could not be loaded (execve(2)); the detail is the system's message.
    case notStarted = "not-started"
    /// The application replied with an error; the detail is its message, which may contain text from the tag.
    case handlerFailed = "handler-failed"
    case noClipboard = "no-clipboard"
    /// The clipboard program did not take the text; the detail is its name.
    case notCopied = "not-copied"
    /// The file for a default application could not be written; the detail is the system's message.
    case fileNotWritten = "file-not-written"
    /// NetworkManager does not run, or does not answer.
    case noNetworkManager = "no-network-manager"
    case noWiFiDevice = "no-wifi-device"
    case wiFiOff = "wifi-off"
    case networkUnusable = "network-unusable"
    /// The Wi-Fi network did not accept the password.
    case networkPassword = "network-password"
    /// The Wi-Fi network was not joined for another reason; the detail is a number or the name of an error.
    case networkNotJoined = "network-not-joined"
    /// The Wi-Fi network was joined, but its profile was not saved; the detail is the name of an error.
    case networkNotSaved = "network-not-saved"
    /// The system has no thread, descriptor or memory left; the detail is the system's message.
    case noResources = "no-resources"
  }

  package let code: Code
  /// As documented for each code. For the user only. At most 1024 Unicode scalars, and not yet sanitized for display.
  package let detail: String
  /// The name of the application's D-Bus error. A log may contain it.
  package let error: String?

  /// Cuts the detail after 1024 Unicode scalars.
  package init(_ code: Code, _ detail: String = "", error: String? = nil) {
    self.code = code
    self.detail = String(String.UnicodeScalarView(detail.unicodeScalars.prefix(1024)))
    self.error = error
  }

  package var description: String {
    switch code {
    case .nowhere, .entryUnusable, .tooManyPrograms, .commandMissing, .commandFailed, .fileNotWritten, .noResources:
      detail
    case .entryMissing: "\(detail): is no longer there"
    case .entryChanged:
      "\(detail): it starts something else than when the link was offered; try again to open it as it is now"
    case .noCommand: "\(detail): has no Exec, and the application cannot be reached over D-Bus"
    case .needsTerminal: "\(detail): needs a terminal, which a tag does not open"
    case .programMissing: "\(detail): the program of Exec is not installed"
    case .notPermitted, .notStarted: detail
    case .handlerFailed: "the app did not take it: \(detail)"
    case .noClipboard: "neither wl-copy nor xclip nor xsel is installed"
    case .notCopied: "\(detail) did not take it"
    case .noNetworkManager: "NetworkManager does not run, or does not answer"
    case .noWiFiDevice: "NetworkManager has no Wi-Fi device that it may use"
    case .wiFiOff: "Wi-Fi is switched off"
    case .networkUnusable: "the Wi-Fi network of the tag cannot be used"
    case .networkPassword: "the Wi-Fi network did not accept the password"
    case .networkNotJoined: "the Wi-Fi network was not joined: \(detail)"
    case .networkNotSaved: "the Wi-Fi network was joined, but not saved: \(detail)"
    }
  }
}

extension HandOverFailure {
  init(_ error: SystemError) {
    let code: Code =
      switch error.number {
      case EACCES, EPERM: .notPermitted
      case EAGAIN, ENOMEM, EMFILE, ENFILE: .noResources
      default: .notStarted
      }
    self.init(code, error.description)
  }
}

package struct HandOverDoubt: Sendable, Hashable, CustomStringConvertible {
  /// The raw value is kept in files, so it never changes its meaning.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The application did not reply in time; the detail is the time in seconds.
    case unanswered
    /// The application left the bus, or exited, without a reply.
    case leftWithoutAnswer = "left-without-answer"
    /// The session bus closed the connection before the application replied.
    case busLost = "bus-lost"
    /// It is not known how the clipboard program ended; the detail is its name.
    case outOfSight = "out-of-sight"
  }

  package let code: Code
  /// As documented for each code.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  package var description: String {
    switch code {
    case .unanswered: "the app did not answer within \(detail) seconds"
    case .leftWithoutAnswer: "the app left without an answer"
    case .busLost: "the session bus went away before the app answered"
    case .outOfSight: "\(detail) is out of sight"
    }
  }
}

extension HandOverDoubt {
  static func unanswered(within time: Duration) -> HandOverDoubt {
    let (seconds, rest) = time.components
    return HandOverDoubt(.unanswered, rest == 0 ? "\(seconds)" : "\(time / .seconds(1))")
  }
}

/// The part of a tag that an application gets.
enum HandOverContents: Sendable {
  /// The link alone.
  case link(URI)
  /// Encoded, with the message's link if it has one.
  case message([UInt8], URI?)
  /// The absolute path of a file with the payload of a record.
  case file(String)

  enum Kind: Sendable {
    case link, message, file
  }

  var kind: Kind {
    switch self {
    case .link: .link
    case .message: .message
    case .file: .file
    }
  }

  /// Encoded; nil if the application does not get the message.
  var wholeMessage: [UInt8]? { if case .message(let message, _) = self { message } else { nil } }

  var filePath: String? { if case .file(let path) = self { path } else { nil } }

  /// The link, or the URI of the file; nil for a message without a link.
  var address: String? {
    switch self {
    case .link(let uri), .message(_, let uri?): uri.string
    case .message(_, nil): nil
    case .file(let path): Self.address(ofFile: path)
    }
  }

  /// RFC 8089. Each byte that is not unreserved in RFC 3986 is encoded, also in the name of the directory.
  static func address(ofFile path: String) -> String {
    "file://"
      + path.utf8.reduce(into: "") { address, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"), UInt8(ascii: "/"):
          address.unicodeScalars.append(Unicode.Scalar(byte))
        default: address += "%\(Hexadecimal.text(byte))"
        }
      }
  }
}

/// For an app that gets the message. A technology or a reader that is no valid value is left out.
extension TagRead {
  /// The keys of `platform_data`.
  var platformData: [String: Value] {
    var data: [String: Value] = [Names.Handler.timeKey: .uint64(time)]
    if !uid.isEmpty { data[Names.Handler.uidKey] = .bytes(uid) }
    if Names.Handler.isTechnology(technology) { data[Names.Handler.technologyKey] = .string(technology) }
    if Names.Handler.isReader(reader) { data[Names.Handler.readerKey] = .string(reader) }
    return data
  }

  /// The variables of a started program.
  var environment: [String: String] {
    var variables = [Names.Handler.Variable.time: String(time)]
    if !uid.isEmpty { variables[Names.Handler.Variable.uid] = UIDText.dashed(uid) }
    if Names.Handler.isTechnology(technology) { variables[Names.Handler.Variable.technology] = technology }
    if Names.Handler.isReader(reader) { variables[Names.Handler.Variable.reader] = reader }
    return variables
  }
}
