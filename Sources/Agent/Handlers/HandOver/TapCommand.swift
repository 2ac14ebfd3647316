import EventLoop
import Glibc
import Names
package import Routing
package import UniversalLinks

/// The program of a rule's `Run` or `OnRemove`, for one tap.
///
/// It gets its arguments as they are in the rule. The contents of the tag are only in its standard input and in
/// variables of its environment, so no shell and no argument parser sees them.
package struct TapCommand: Sendable, Hashable {
  package let arguments: [String]
  package let rule: String
  let file: String
  let line: Int
  /// Nil if there is none that may be opened.
  let uri: URI?

  /// Nil if the rule has another action.
  package init?(_ rule: TapRule, uri: URI?) {
    guard case .run(let arguments) = rule.action else { return nil }
    self.init(arguments, rule, uri: uri)
  }

  /// Nil if the rule has no such program.
  package init?(onRemovalFor rule: TapRule, uri: URI?) {
    guard !rule.onRemove.isEmpty else { return nil }
    self.init(rule.onRemove, rule, uri: uri)
  }

  package var program: String { arguments.first ?? "" }

  /// Of the program's end.
  func outcome(of end: ProgramEnd) -> HandOverOutcome {
    guard let failure = end.failure else { return .delivered }
    return .failed(HandOverFailure(.commandFailed, "\(program) \(failure)"))
  }

  /// The rule may have moved within the file, for example below a new comment.
  package func isSame(as other: TapCommand) -> Bool {
    arguments == other.arguments && rule == other.rule && file == other.file && uri == other.uri
  }

  private init(_ arguments: [String], _ rule: TapRule, uri: URI?) {
    self.arguments = arguments
    self.rule = rule.name
    (file, line) = (rule.file, rule.line)
    self.uri = uri
  }

  /// How systemd and the desktop see the program.
  var application: Application {
    Application(desktopID: "rule-\(rule)", name: rule, file: file, origin: .user)
  }

  /// The given variables with those of the tap. A variable without a value is removed, so that the program does not
  /// see one that we inherited.
  func environment(_ base: [String: String], tapID: String?) -> [String: String] {
    var result = base
    result["TAGROUTE_URI"] = uri?.string
    result["TAGROUTE_TAP_ID"] = tapID
    return result
  }

  /// Blocks on files and until the program is loaded. Returns the process id, which the caller has to reap. The output
  /// is discarded: it could be large, and could contain the contents of the tag.
  func start(_ message: [UInt8], environment: [String: String]) -> Result<pid_t, HandOverFailure> {
    guard let path = ProcessEnvironment.program(program, in: environment) else {
      return .failure(
        HandOverFailure(.commandMissing, "\(HandlerCheck.absence(of: program)); correct \(file):\(line)"))
    }
    let home = environment["HOME"].flatMap { Files.isDirectory($0) ? $0 : nil } ?? "/"
    do throws(SystemError) {
      return .success(
        try DetachedProcess(
          program: path, arguments: arguments, environment: environment, workingDirectory: home, input: message,
          discardsOutput: true
        ).start())
    } catch {
      return .failure(HandOverFailure(error))
    }
  }
}

/// How many programs that rules started still run. A tag that comes and goes must not start them without end. Pure.
struct RunningCommands {
  enum Owner: Sendable, Hashable {
    /// By its name.
    case rule(String)
    /// By its desktop id. A rule opened it without a click.
    case application(String)

    fileprivate var words: String {
      switch self {
      case .rule: "of this rule"
      case .application: "of this app"
      }
    }
  }

  /// Of one owner, and of all together. A program that turns on a lamp ends at once; a player, or a program that waits
  /// for the end of a hold, may run for hours.
  static let mostOfOwner = 16
  static let most = 64

  private var counts: [Owner: Int] = [:]

  /// Takes a place for a program. Returns why there is none, as the end of a sentence.
  mutating func begin(_ owner: Owner) -> String? {
    if counts[owner, default: 0] >= Self.mostOfOwner {
      return "\(Self.mostOfOwner) programs \(owner.words) still run, so no other one is started"
    }
    if counts.values.reduce(0, +) >= Self.most {
      return "\(Self.most) programs of rules still run, so no other one is started"
    }
    counts[owner, default: 0] += 1
    return nil
  }

  /// A program has ended, or was not started.
  mutating func end(_ owner: Owner) {
    counts[owner] = counts[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
