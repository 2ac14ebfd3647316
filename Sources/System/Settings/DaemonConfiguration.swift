import Glibc
package import Names

/// The administrator's settings for `tagrouted`, from `/etc/tagroute.conf` and its drop-ins.
package struct DaemonConfiguration: KeyFileConfiguration {
  /// The service that decides which session a tap belongs to.
  package enum Sessions: String, Sendable, CaseIterable {
    /// logind, or elogind.
    case logind
    /// No service: each agent that registers is treated as the agent of an active, unlocked session.
    case any
  }

  /// Which library drives the readers that ``devices`` does not name.
  package enum Backend: String, Sendable, CaseIterable {
    /// PC/SC, if pcscd is installed and has a driver for the reader; else libnfc.
    case auto
    /// Only libnfc.
    case libnfc
    /// Only PC/SC.
    case pcsc
  }

  /// Connection strings of libnfc, and `pcsc:NAME` with pcscd's name of a reader. If empty, all readers that are
  /// plugged in.
  package var devices: [String] = []
  package var backend = Backend.auto
  /// The time from the start of one poll, when the field comes on, to the start of the next.
  package var pollInterval: Duration = .milliseconds(125)
  /// The poll interval after five minutes without activity.
  package var idlePollInterval: Duration = .milliseconds(250)
  /// The kinds of tags to read.
  package var technologies = TagType.readable
  /// Whether readers show the result of a tap with their LED and buzzer.
  package var feedback = false
  /// How long the removal of a tag is held back. A tag that drops out and comes back within this time was not removed.
  package var removalDelay: Duration = .milliseconds(400)
  /// How long a reader session may use the reader.
  package var sessionLimit: Duration = .seconds(60)
  package var sessions = Sessions.logind
  /// This user's agent gets taps while no other user is at the machine. Nil if this machine is not a station.
  package var stationUser: LocalUser?
  package var scan = ScanPolicy()
  /// Whether a Smart Poster's URI is used if a message has no URI record.
  package var smartPosters = true

  package init() {}

  static let settings: [Setting<DaemonConfiguration>] = [
    Setting("Reader", "Devices", \.devices) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry("Reader", "Devices"), let devices = try file.strings("Reader", "Devices") else {
        return
      }
      for device in devices where !isDevice(device) {
        throw file.mistake(
          entry, "\"\(device)\" names no reader",
          "write driver:device for libnfc, for example pn532_uart:/dev/ttyUSB0 or pn53x_usb, or pcsc:NAME for pcscd")
      }
      // Two reader processes on one port would take it from each other forever.
      for (index, device) in devices.enumerated() where devices[..<index].contains(device) {
        throw file.mistake(entry, "\"\(device)\" is named twice", "name each device once")
      }
      configuration.devices = devices
    },
    .choice("Reader", "Backend", \.backend),
    Setting("Reader", "PollInterval", \.pollInterval) { configuration, file throws(KeyFileError) in
      let value = try file.integer("Reader", "PollInterval", in: Names.pollIntervals, unit: "milliseconds")
      if let value { configuration.pollInterval = .milliseconds(value) }
    },
    Setting("Reader", "IdlePollInterval", \.idlePollInterval) { configuration, file throws(KeyFileError) in
      let value = try file.integer("Reader", "IdlePollInterval", in: Names.pollIntervals, unit: "milliseconds")
      if let value { configuration.idlePollInterval = .milliseconds(value) }
    },
    Setting("Reader", "SessionLimit", \.sessionLimit) { configuration, file throws(KeyFileError) in
      let value = try file.integer("Reader", "SessionLimit", in: 1...60, unit: "seconds")
      if let value { configuration.sessionLimit = .seconds(value) }
    },
    Setting("Reader", "Technologies", \.technologies) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry("Reader", "Technologies"), let names = try file.strings("Reader", "Technologies")
      else { return }
      let known = TagType.readable.map(\.rawValue)
      for name in names where !known.contains(name) {
        throw file.mistake(entry, "\"\(name)\" is no kind of tag", "write some of \(known.joined(separator: ", "))")
      }
      // A fixed order, so that clients see the same list for any order in the file.
      let chosen = TagType.readable.filter { names.contains($0.rawValue) }
      guard !chosen.isEmpty else {
        throw file.mistake(entry, "no kind of tag is named", "name one, or use Enabled to stop scanning")
      }
      configuration.technologies = chosen
    },
    .flag("Reader", "Feedback", \.feedback),
    .choice("Scan", "Sessions", \.sessions),
    Setting("Scan", "StationUser", \.stationUser) { configuration, file throws(KeyFileError) in
      guard let entry = file.entry("Scan", "StationUser") else { return }
      let name = try file.string(entry)
      // Empty takes the value of an earlier file back.
      configuration.stationUser = name.isEmpty ? nil : LocalUser(named: name)
      guard name.isEmpty || configuration.stationUser != nil else {
        throw file.mistake(
          entry, "\(KeyFile.quoted(entry)) is no user of this machine",
          "correct the name, or create the user first; the package tagroute-station creates tagroute-station")
      }
    },
    Setting("Scan", "RemovalDelay", \.removalDelay) { configuration, file throws(KeyFileError) in
      let value = try file.integer("Scan", "RemovalDelay", in: 0...10_000, unit: "milliseconds")
      if let value { configuration.removalDelay = .milliseconds(value) }
    },
    .choice("Scan", "WhenLocked", \.scan.whenLocked),
    .choice("Scan", "LockDetection", \.scan.lockDetection),
    .flag("Tags", "SmartPosters", \.smartPosters),
  ]

  package static let schema: KeyFileSchema = schema(of: settings)

  package mutating func merge(_ file: KeyFile) throws(KeyFileError) {
    try merge(file, DaemonConfiguration.settings)
  }

  package func keys(differingFrom other: Self) -> [String] { keys(differingFrom: other, DaemonConfiguration.settings) }

  /// The files that are read without `--config`: the main file, then the drop-ins, which override it.
  package static func standardFiles() -> [String] {
    [Names.Files.daemonConfiguration] + dropIns(in: Names.Files.daemonDropIns)
  }

  private static func isDevice(_ text: String) -> Bool {
    Names.PCSC.readerName(inDevice: text).map(Names.PCSC.isReaderName) ?? isConnectionString(text)
  }

  /// nfc-internal.h, `connstring_decode`: a driver's name, then optionally a colon and text for the driver; at most
  /// 1,023 bytes.
  private static func isConnectionString(_ text: String) -> Bool {
    guard text.utf8.count < 1024, text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
      return false
    }
    let driver = text.prefix { $0 != ":" }
    return !driver.isEmpty && driver.utf8.allSatisfy { isDriverByte($0) }
  }

  private static func isDriverByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

/// Group `[Scan]` of the configuration.
package struct ScanPolicy: Sendable, Hashable {
  /// How the daemon treats taps while the session is locked.
  package enum WhenLocked: String, Sendable, CaseIterable {
    /// The reader does not scan, and its field is off.
    case suspend
    /// The reader reads tags, and the daemon keeps the taps until the session is unlocked.
    case hold
  }

  /// How the daemon detects that a session is unlocked.
  package enum LockDetection: String, Sendable, CaseIterable {
    /// A session is unlocked unless a source says that it is locked.
    case hint
    /// A session is locked unless a source says that it is unlocked. For lockers that do not report a lock.
    case strict
  }

  package var whenLocked: WhenLocked
  package var lockDetection: LockDetection

  /// No scanning while locked, and a session is locked only if a source says so.
  package init(whenLocked: WhenLocked = .suspend, lockDetection: LockDetection = .hint) {
    self.whenLocked = whenLocked
    self.lockDetection = lockDetection
  }
}

/// A user of this machine.
package struct LocalUser: Sendable, Hashable {
  package let name: String
  package let uid: UInt32

  package init(name: String, uid: UInt32) {
    self.name = name
    self.uid = uid
  }

  /// Nil if there is none. Blocks: a directory service may answer slowly.
  init?(named name: String) {
    let uid = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { buffer -> UInt32? in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      guard let base = buffer.baseAddress, getpwnam_r(name, &entry, base, buffer.count, &found) == 0, found != nil
      else { return nil }
      return entry.pw_uid
    }
    guard let uid else { return nil }
    self.init(name: name, uid: uid)
  }
}
