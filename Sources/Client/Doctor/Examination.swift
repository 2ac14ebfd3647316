import Bus
import Names
import ReaderModels
import Settings
import TagrouteClient

/// The state of the system, as values. ``Diagnosis`` interprets them.
package struct Examination: Sendable {
  /// The answer to a question, or the error.
  enum Answer<Value: Sendable>: Sendable {
    case given(Value)
    case failed(BusError)
    /// The question was skipped. Another value says why.
    case notAsked

    var value: Value? {
      guard case .given(let value) = self else { return nil }
      return value
    }

    /// Asks, and keeps the answer or the error.
    init(_ question: () async throws(BusError) -> Value) async {
      do throws(BusError) {
        self = .given(try await question())
      } catch {
        self = .failed(error)
      }
    }
  }

  /// A systemd unit, with the values of org.freedesktop.systemd1(5).
  struct Unit: Sendable, Hashable {
    /// `loaded`, `not-found`, `masked`, `error`, `bad-setting`, …
    var load: String
    /// `active`, `inactive`, `failed`, `activating`, …
    var active: String
    /// `running`, `dead`, `auto-restart`, …
    var sub = ""
    /// `enabled`, `disabled`, `static`, …; empty if it has no file.
    var file: String
    /// Why it could not be loaded; empty without an error.
    var loadError = ""
    /// `success`, `exit-code`, `signal`, `watchdog`, …; empty if the unit is not a service.
    var result = ""
    /// The last exit code of its program; nil if the program did not exit by itself.
    var exitStatus: Int32?
    /// The number of automatic restarts.
    var restarts: UInt32 = 0
    /// Whether systemd skipped the last start because a `Condition…=` was not met.
    var missesCondition = false
    /// The command line of its program.
    var arguments: [String] = []
    /// The devices that its program may open; nil for all.
    var devices: [AllowedDevice]?
  }

  /// An entry of DeviceAllow= (systemd.resource-control(5)).
  struct AllowedDevice: Sendable, Hashable {
    /// A path, or a driver, which may be a pattern.
    var name: String
    /// The letters `r`, `w` and `m`; empty for all.
    var access = ""

    /// Whether it allows opening the device for reading and writing. The kernel checks each entry separately.
    var isToReadAndWrite: Bool { access.isEmpty || access.contains("r") && access.contains("w") }
  }

  struct NotificationServer: Sendable, Hashable {
    var name: String
    var version: String
    var capabilities: Set<String>
  }

  /// A configuration of the daemon or the agent.
  struct Settings: Sendable, Hashable {
    var file: String
    /// Whether it or a drop-in exists. Otherwise the defaults apply.
    var isThere: Bool
    /// Whether the program was started with this file (`--config`).
    var isNamed = false
    /// The error and its place; nil without an error.
    var mistake: KeyFileError?
    /// Whether the only error is that the user may not read it.
    var isForbidden = false
    /// The last change of it, of a drop-in or of a directory of drop-ins, in microseconds since 1970; nil if there is
    /// none.
    var changed: UInt64?
    /// When it may have been removed, in microseconds since 1970; nil if it exists, or if there is no sign of that.
    var removed: UInt64?
    /// Whether it names readers; nil if it was not read.
    var namesReaders: Bool?
    /// Which program drives readers; nil if it was not read.
    var backend: Backend?

    typealias Backend = DaemonConfiguration.Backend
  }

  /// What the files of rules hold.
  struct Rules: Sendable, Hashable {
    /// How many rules are in force.
    var count = 0
    /// Of rules and files that are ignored.
    var mistakes: [KeyFileError] = []
    /// Of rules in force that start a program or open an app that is missing, or never act.
    var warnings: [KeyFileError] = []
  }

  /// The device file of a reader.
  struct Node: Sendable, Hashable {
    var path: String
    /// Whether it is a USB device, so that the udev rules set its group.
    var isUSB = false
    var isThere = true
    var owner: UInt32 = 0
    var group: UInt32 = 0
    /// The group's name, or its number if it has none.
    var groupName = ""
    var mode: UInt32 = 0
    /// The names that DeviceAllow= may have for it.
    var names: Set<String> = []
    /// The names of its drivers, which a pattern in DeviceAllow= may match.
    var drivers: Set<String> = []

    /// Sets the names that DeviceAllow= may have for it (systemd.resource-control(5)). `drivers` are those of the major
    /// number in /proc/devices.
    mutating func name(major: UInt, minor: UInt, drivers: [String]) {
      self.drivers = Set(drivers.map { "char-\($0)" })
      names = self.drivers.union([path, "/dev/char/\(major):\(minor)", "char-\(major)"])
    }
  }

  /// The daemon's user and groups (proc(5), `status`).
  struct Credentials: Sendable, Hashable {
    var user: UInt32
    /// The user's name, or the number if it has none.
    var userName: String
    /// The name of its primary group, or the number if it has none.
    var groupName: String
    var groups: Set<UInt32>
  }

  /// The result of starting a program that uses readers, with `--version`.
  enum ReaderProgram: Sendable, Hashable {
    case notAsked
    /// It starts, and has this library, such as `libnfc 1.8.0`.
    case loads(String)
    case isMissing(path: String)
    /// The dynamic linker failed, with this message.
    case isNotLinked(String)
    case fails(String)
  }

  var setup = Setup(folder: nil, hasDaemon: true, release: "")
  /// The home directory, which is replaced by `~` in the output; nil if unknown.
  var home: String?
  /// The versions of programs, Tagroute first.
  var versions: [String] = []
  /// The program with libnfc.
  var readerProgram = ReaderProgram.notAsked
  /// The program with libpcsclite.
  var pcscReaderProgram = ReaderProgram.notAsked
  /// Whether the udev rules that set the group of readers are installed.
  var hasUdevRules = true
  /// Why there is no system bus; nil if there is one.
  var systemBus: BusError?
  var configuration = Settings(file: "", isThere: false)
  var daemonUnit = Answer<Unit>.notAsked
  var daemon = Answer<DaemonStatus>.notAsked
  /// The daemon's credentials; nil if unknown.
  var daemonCredentials: Credentials?
  var inhibitors: [InhibitorDescription] = []
  /// The path of Tagroute's policy for the system bus; nil if it is not installed.
  var policyFile: String?
  var polkitUnit = Answer<Unit>.notAsked
  var polkitActions = Answer<Set<String>>.notAsked
  /// Whether the kernel module that takes readers is loaded.
  var hasKernelModule = false
  /// Whether a modprobe.d(5) file blacklists that module.
  var isKernelModuleKeptOff = true
  /// Whether the administrator has replaced Tagroute's modprobe.d(5) file.
  var hasOwnModuleFile = false
  var pcsc = PCSC()
  /// The device files of readers that cannot be used, by the readers' object paths.
  var nodes: [String: Node] = [:]
  /// Why there is no session bus; nil if there is one.
  var sessionBus: BusError?
  /// Nil without a home directory.
  var agentConfiguration: Settings?
  var agentUnit = Answer<Unit>.notAsked
  /// `graphical-session.target`, which starts the agent's unit.
  var graphicalSession = Answer<Unit>.notAsked
  /// The value is nil if no agent runs.
  var agent = Answer<AgentStatus?>.notAsked
  /// Not asked if the agent has no outbox. The value is nil if `tagroute-mqtt` does not run.
  var mqtt = Answer<MqttStatus?>.notAsked
  var mqttUnit = Answer<Unit>.notAsked
  /// In microseconds since 1970.
  var now: UInt64 = 0
  var notifications = Answer<NotificationServer>.notAsked
  var handlers = Answer<[HandlerDescription]>.notAsked
  var rules = Rules()
}

extension Examination {
  /// What the system says about pcscd and the contactless readers that need it.
  struct PCSC: Sendable, Hashable {
    /// Tagroute's rules for polkit, without which a service may not use pcscd.
    enum RulesFile: Sendable, Hashable {
      case isThere
      case isMissing
      /// Only polkit may look into the folder of the rules, as on Debian 12.
      case isHidden
    }

    /// Whether the program or its unit is there.
    var isInstalled = false
    /// Whether pcscd runs, or starts on demand.
    var hasSocket = false
    /// `pcscd.socket`, which starts pcscd on demand.
    var socket: Unit?
    /// The user and groups of a running pcscd; nil if it does not run, or hides its process.
    var credentials: Credentials?
    var drivers: [ReaderDriver] = []
    var readers: [PluggedInReader] = []
    /// Whether pcscd asks polkit about the use of cards: polkit knows its actions.
    var asksPolkit = false
    var rulesFile = RulesFile.isHidden
    /// Whether /proc shows a process only to its own user (`hidepid`, proc(5)).
    var hidesProcesses = false
  }

  /// A contactless USB reader that is plugged in.
  struct PluggedInReader: Sendable, Hashable {
    var vendor: UInt16
    var product: UInt16
    /// The model for a person.
    var title: String
    /// The numbers of the bus and of the device on it: `001:004`.
    var place = ""
    var node = Node(path: "", isUSB: true)
    /// The kernel drivers of its interfaces. `usbfs` means that a program has claimed an interface.
    var interfaceDrivers: Set<String> = []
    /// A program of this user that has opened the device file, such as `scdaemon`; nil if none is visible.
    var holder: Holder?

    /// As lsusb(8) shows it.
    var id: String { "\(Hexadecimal.text(vendor)):\(Hexadecimal.text(product))".lowercased() }
  }

  /// A process that has opened a device.
  struct Holder: Sendable, Hashable {
    /// `comm` (proc(5)).
    var program: String
    var process: Int
  }
}
