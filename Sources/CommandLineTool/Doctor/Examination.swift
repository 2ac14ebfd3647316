import Bus
import KeyFile
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
    /// `loaded`, `not-found`, `masked`, `error`, `bad-setting`, …
    var load: String
    /// `active`, `inactive`, `failed`, `activating`, …
    var active: String
    /// `running`, `dead`, `auto-restart`, …
    var sub = ""
    /// `enabled`, `disabled`, `static`, …; empty where it has no file.
    var file: String
    /// Why it could not be loaded; empty where it could.
    var loadError = ""
    /// `success`, `exit-code`, `signal`, `watchdog`, …; empty of what is no service.
    var result = ""
    /// With which code its program ended last; nil where it has not ended by itself.
    var exitStatus: Int32?
    /// How often it was started again.
    var restarts: UInt32 = 0
    /// Whether systemd has left it alone at the last try, since a `Condition…=` of it did not hold.
    var missesCondition = false
    /// What its program is started with.
    var arguments: [String] = []
    /// The devices that it lets its program open; nil where it lets it open every one.
    var devices: [AllowedDevice]?
  }

  /// An entry of DeviceAllow= (systemd.resource-control(5)).
  struct AllowedDevice: Sendable, Hashable {
    /// A path, or a driver, which may be a pattern.
    var name: String
    /// What may be done with it: of `r`, `w` and `m`; all where there is no letter.
    var access = ""

    /// Whether it is enough for a program that opens the device to read and write it. The kernel asks entry by entry.
    var isToReadAndWrite: Bool { access.isEmpty || access.contains("r") && access.contains("w") }
  }

  struct NotificationServer: Sendable, Hashable {
    var name: String
    var version: String
    var capabilities: Set<String>
  }

  /// What is to be said of a configuration.
  struct Settings: Sendable, Hashable {
    /// The file that counts.
    var file: String
    /// Whether it, or a drop-in, is there; where neither is, the defaults count.
    var isThere: Bool
    /// Whether the program was told to read this one instead of the standard ones.
    var isNamed = false
    /// What is wrong and where; nil where nothing is.
    var mistake: KeyFileError?
    /// Whether the mistake is only that whoever asks may not read it, which its program may.
    var isForbidden = false
    /// When it, a drop-in, or a directory of drop-ins was changed last, in microseconds since 1970; nil where there is none, or that
    /// does not matter.
    var changed: UInt64?
    /// When it may have been taken away, in microseconds since 1970; nil where it is there, or nothing says that it was.
    var removed: UInt64?
    /// Whether it names readers; nil where nobody asked, or whoever asks cannot read it.
    var namesReaders: Bool?
  }

  /// The file by which a reader is opened.
  struct Node: Sendable, Hashable {
    var path: String
    /// Whether a USB device is behind it, whose file udev's rules give away.
    var isUSB = false
    var isThere = true
    var owner: UInt32 = 0
    var group: UInt32 = 0
    /// The group's name, or its number where it has none.
    var groupName = ""
    /// The permissions, as `chmod` takes them.
    var mode: UInt32 = 0
    /// How DeviceAllow= may name it, letter by letter.
    var names: Set<String> = []
    /// What of these a pattern of DeviceAllow= may stand for: the names of drivers.
    var drivers: Set<String> = []

    /// Gives it the names that systemd.resource-control(5) lets a unit call it by.
    ///
    /// - Parameters:
    ///   - major: its major number.
    ///   - minor: its minor number.
    ///   - drivers: what /proc/devices calls the drivers of the major number.
    mutating func name(major: UInt, minor: UInt, drivers: [String]) {
      self.drivers = Set(drivers.map { "char-\($0)" })
      names = self.drivers.union([path, "/dev/char/\(major):\(minor)", "char-\(major)"])
    }
  }

  /// Whom the kernel takes the daemon for (proc(5), `status`).
  struct Credentials: Sendable, Hashable {
    var user: UInt32
    /// The user's name, or the number where it has none.
    var userName: String
    /// The name of its own group, or the number where it has none.
    var groupName: String
    /// All groups.
    var groups: Set<UInt32>
  }

  /// What becomes of the program that opens readers, where it is started to say its version.
  enum ReaderProgram: Sendable, Hashable {
    case notAsked
    /// It starts, with this version of libnfc.
    case loads(libnfc: String)
    case isMissing(path: String)
    /// The dynamic linker does not put it together; in the linker's words.
    case isNotLinked(String)
    case fails(String)
  }

  var setup = Setup(folder: nil, hasDaemon: true, release: "")
  /// The home that is not to be named; nil where there is none.
  var home: String?
  /// What programs say of their versions, ours first.
  var versions: [String] = []
  var readerProgram = ReaderProgram.notAsked
  /// Whether the rules that give readers to the daemon's group are in a folder of udev's.
  var hasUdevRules = true
  /// Why there is no system bus; nil where there is one.
  var systemBus: BusError?
  var configuration = Settings(file: "", isThere: false)
  var daemonUnit = Answer<Unit>.notAsked
  var daemon = Answer<DaemonStatus>.notAsked
  /// Who the daemon is; nil where that cannot be seen.
  var daemonCredentials: Credentials?
  var inhibitors: [InhibitorDescription] = []
  /// Where the policy of the system bus is; nil where none of ours is in the bus's folders.
  var policyFile: String?
  var polkitUnit = Answer<Unit>.notAsked
  /// The actions of ours that polkit knows.
  var polkitActions = Answer<Set<String>>.notAsked
  /// Whether the kernel module that takes readers is loaded.
  var hasKernelModule = false
  /// Whether a file of modprobe.d(5) keeps that module from being loaded by itself.
  var isKernelModuleKeptOff = true
  /// Whether the administrator has a file of modprobe.d(5) with the name of ours, which then does not count.
  var hasOwnModuleFile = false
  /// Whether pcscd runs, or would if anybody asked for it.
  var hasPCSCD = false
  /// The files of the readers that cannot be used, by the readers' paths.
  var nodes: [String: Node] = [:]
  /// Why there is no session bus; nil where there is one.
  var sessionBus: BusError?
  /// Nil where there is no home to look for it.
  var agentConfiguration: Settings?
  var agentUnit = Answer<Unit>.notAsked
  /// `graphical-session.target`, with which the agent's unit is started.
  var graphicalSession = Answer<Unit>.notAsked
  /// Its value is nil where no agent runs.
  var agent = Answer<AgentStatus?>.notAsked
  var notifications = Answer<NotificationServer>.notAsked
  var handlers = Answer<[HandlerDescription]>.notAsked
}
