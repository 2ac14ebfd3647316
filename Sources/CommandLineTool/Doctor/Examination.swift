import Bus
import TagrouteClient

/// What `tagroute doctor` has seen. Values only: what they mean is for the ``Diagnosis``.
struct Examination: Sendable {
  /// An answer to a question, or why there is none.
  enum Answer<Value: Sendable>: Sendable {
    case given(Value)
    case failed(BusError)
    /// What was to be asked is not there, and something else says so.
    case notAsked

    var value: Value? {
      guard case .given(let value) = self else { return nil }
      return value
    }

    /// Asks, and keeps what comes of it.
    init(_ question: () async throws(BusError) -> Value) async {
      do throws(BusError) {
        self = .given(try await question())
      } catch {
        self = .failed(error)
      }
    }
  }

  /// A unit of systemd, in its own words (org.freedesktop.systemd1(5)).
  struct Unit: Sendable, Hashable {
    /// `loaded`, `not-found`, `masked`, `error`, …
    var load: String
    /// `active`, `inactive`, `failed`, `activating`, …
    var active: String
    /// `enabled`, `disabled`, `static`, …; empty where it has no file.
    var file: String
  }

  struct NotificationServer: Sendable, Hashable {
    var name: String
    var version: String
    var capabilities: Set<String>
  }

  /// Why there is no system bus; nil where there is one.
  var systemBus: BusError?
  /// What is wrong with the daemon's configuration; nil where nothing is.
  var configuration: String?
  var daemonUnit = Answer<Unit>.notAsked
  var daemon = Answer<DaemonStatus>.notAsked
  /// The actions of ours that polkit knows.
  var polkitActions = Answer<Set<String>>.notAsked
  /// The loaded kernel modules that take readers.
  var kernelModules: [String] = []
  /// Whether pcscd runs, or would if anybody asked for it.
  var hasPCSCD = false
  /// Why there is no session bus; nil where there is one.
  var sessionBus: BusError?
  /// What is wrong with the user's `agent.conf`; nil where nothing is.
  var agentConfiguration: String?
  var agentUnit = Answer<Unit>.notAsked
  /// Its value is nil where no agent runs.
  var agent = Answer<AgentStatus?>.notAsked
  var notifications = Answer<NotificationServer>.notAsked
  var handlers = Answer<[HandlerDescription]>.notAsked
}
