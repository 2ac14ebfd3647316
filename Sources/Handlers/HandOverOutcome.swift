import EventLoop
import Glibc

/// How a hand-over ended.
public enum HandOverOutcome: Sendable, Hashable {
  /// The application has taken it: it replied, or it was started.
  case delivered
  /// It has not.
  case failed(HandOverFailure)
  /// It may have: no answer came.
  case unknown(HandOverDoubt)
}

/// Why something was not handed over: what happened, and to what.
public struct HandOverFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened. The raw values are kept in files, and are never given another meaning.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The link leads nowhere; the detail is the route's reason.
    case nowhere
    /// The application's desktop entry is gone; the detail is its path.
    case entryMissing = "entry-missing"
    /// Its desktop entry starts something else than when it was offered; the detail is the file and the line.
    case entryChanged = "entry-changed"
    /// Its desktop entry cannot be used; the detail is the file, the line, and what is wrong.
    case entryUnusable = "entry-unusable"
    /// Its desktop entry has no `Exec`, and it cannot be reached over D-Bus; the detail is the path.
    case noCommand = "no-command"
    /// It needs a terminal; the detail is the path of its desktop entry.
    case needsTerminal = "needs-terminal"
    /// The program of its `Exec` is not installed; the detail is the file and the line.
    case programMissing = "program-missing"
    /// The user may not run the program (EACCES, EPERM); the detail is the system's words.
    case notPermitted = "not-permitted"
    /// The program could not be loaded (execve(2)); the detail is the system's words.
    case notStarted = "not-started"
    /// The application has answered with an error; the detail is its own words, which the tag may have put into its mouth.
    case handlerFailed = "handler-failed"
    /// There is no program that keeps a clipboard.
    case noClipboard = "no-clipboard"
    /// The program that keeps the clipboard did not take the text; the detail is its name.
    case notCopied = "not-copied"
    /// The message could not be read from where it is kept; the detail says why.
    case messageMissing = "message-missing"
    /// The system has no thread, descriptor or memory left; the detail is the system's words.
    case noResources = "no-resources"
  }

  /// What happened.
  public let code: Code
  /// To what, or in whose words: what it is, each code says. For the user's eyes alone; at most 1024 Unicode scalars, and not yet
  /// fit to be shown.
  public let detail: String
  /// The D-Bus error's name where an application has refused, which a log may show.
  public let error: String?

  /// - Parameters:
  ///   - code: what happened.
  ///   - detail: to what; what is longer than 1024 Unicode scalars is cut.
  ///   - error: the D-Bus error's name.
  public init(_ code: Code, _ detail: String = "", error: String? = nil) {
    self.code = code
    self.detail = String(String.UnicodeScalarView(detail.unicodeScalars.prefix(1024)))
    self.error = error
  }

  /// All that in English.
  public var description: String {
    switch code {
    case .nowhere, .entryUnusable, .messageMissing, .noResources: detail
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
    }
  }
}

extension HandOverFailure {
  /// A system call that a start needs has failed.
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

/// Why it is not known whether something was handed over.
public struct HandOverDoubt: Sendable, Hashable, CustomStringConvertible {
  /// What happened. The raw values are kept in files, and are never given another meaning.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The application has not answered in time; the detail is the time in seconds.
    case unanswered
    /// It has left the bus, or ended, without an answer.
    case leftWithoutAnswer = "left-without-answer"
    /// The session bus went away before it answered.
    case busLost = "bus-lost"
    /// Of the program that keeps the clipboard nobody knows how it has ended; the detail is its name.
    case outOfSight = "out-of-sight"
  }

  /// What happened.
  public let code: Code
  /// To what; what it is, each code says.
  public let detail: String

  /// - Parameters:
  ///   - code: what happened.
  ///   - detail: to what.
  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// All that in English.
  public var description: String {
    switch code {
    case .unanswered: "the app did not answer within \(detail) seconds"
    case .leftWithoutAnswer: "the app left without an answer"
    case .busLost: "the session bus went away before the app answered"
    case .outOfSight: "\(detail) is out of sight"
    }
  }
}

extension HandOverDoubt {
  /// No answer has come in this time.
  static func unanswered(within time: Duration) -> HandOverDoubt {
    let (seconds, rest) = time.components
    return HandOverDoubt(.unanswered, rest == 0 ? "\(seconds)" : "\(time / .seconds(1))")
  }
}
