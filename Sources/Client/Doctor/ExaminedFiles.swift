import EventLoop
import Glibc
import Handlers
import Names
import ReaderModels
import Settings

extension Setup {
  /// How this program is installed.
  package static var current: Setup { ExaminedFiles(ProcessEnvironment.current).setup() }
}

/// Reads files: the installation, the configurations and the device files.
struct ExaminedFiles {
  let environment: [String: String]
  let directories: SystemDirectories

  /// `environment` is a whole environment. `TAGROUTE_DEV`, `TAGROUTE_SYS`, `TAGROUTE_PROC` and `TAGROUTE_RUN` replace
  /// the system's directories in tests.
  init(_ environment: [String: String]) {
    self.environment = environment
    directories = SystemDirectories(environment: environment)
  }

  // MARK: The system

  func setup() -> Setup {
    let folder = OwnProgram.directory
    let daemon = folder.map { "\($0)/../libexec/\(RunningProgram.daemon.program)" } ?? ""
    let release = text("/etc/os-release") ?? text("/usr/lib/os-release") ?? ""
    return Setup(
      folder: folder, hasDaemon: isThere(daemon), release: release, hasSystemd: directories.hasSystemd,
      hasUser: getpwnam(ReaderRemedy.owner) != nil)
  }

  /// The versions of the kernel and the distribution.
  func versions(_ setup: Setup) -> [String] {
    var kernel = utsname()
    uname(&kernel)
    let release = withUnsafeBytes(of: &kernel.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return ["Linux \(release)"] + (setup.system.isEmpty ? [] : [setup.system])
  }

  func isLoaded(_ module: String) -> Bool { isThere("\(directories.kernel)/module/\(module)") }

  /// Whether a modprobe.d(5) file blacklists a module.
  func isKeptOff(
    _ module: String,
    folders: [String] = [
      "/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d",
    ]
  ) -> Bool {
    // modprobe(8): dashes and underscores in module names are equal.
    func name(_ module: some StringProtocol) -> String { String(module.map { $0 == "-" ? "_" : $0 }) }
    return dropIns(in: folders.reversed()).contains { file in
      (text(file) ?? "").split(separator: "\n").contains { line in
        let words = line.split { $0 == " " || $0 == "\t" }
        return words.count == 2 && words[0] == "blacklist" && name(words[1]) == name(module)
      }
    }
  }

  /// Whether a file of the administrator replaces Tagroute's modprobe.d(5) file.
  var hasOwnModuleFile: Bool { isThere(ReaderRemedy.moduleFile) }

  /// Whether Tagroute's rules are in one of the udev(7) folders.
  var hasUdevRules: Bool {
    ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].contains {
      isThere("\($0)/udev/rules.d/\(ReaderRemedy.udevRules)")
    }
  }

  /// Tagroute's policy in the folders of the system bus (dbus-daemon(1)).
  func policy() -> String? {
    ["/etc/dbus-1/system.d", "/usr/share/dbus-1/system.d"].map { "\($0)/\(Diagnosis.policyName)" }.first(where: isThere)
  }

  // MARK: Configurations

  /// The configuration of a daemon with this command line; nil if unknown.
  func daemonConfiguration(arguments: [String]?) -> Examination.Settings {
    var configuration: DaemonConfiguration?
    var settings: Examination.Settings
    if let file = arguments.flatMap(Self.configuration) {
      settings = self.settings(file, isThere: true, isNamed: true, changed: changed(file)) { () throws(KeyFileError) in
        configuration = try DaemonConfiguration.load(only: file)
      }
    } else {
      let files = DaemonConfiguration.standardFiles()
      // Removing a drop-in changes its directory.
      settings = self.settings(
        Names.Files.daemonConfiguration, isThere: files.contains(where: isThere),
        changed: (files + Names.Files.daemonDropIns).compactMap { changed($0) }.max()
      ) { () throws(KeyFileError) in configuration = try DaemonConfiguration.load(files) }
    }
    settings.namesReaders = configuration.map { !$0.devices.isEmpty }
    settings.backend = configuration?.backend
    return settings
  }

  /// The configuration of an agent with this command line (nil if unknown). Nil without a home directory.
  func agentConfiguration(arguments: [String]?) -> Examination.Settings? {
    if let file = arguments.flatMap(Self.configuration) {
      return settings(file, isThere: true, isNamed: true, changed: changed(file)) { () throws(KeyFileError) in
        _ = try AgentConfiguration.load(only: file)
      }
    }
    guard let folder = BaseDirectories(environment: environment).configuration else { return nil }
    let file = "\(folder)/\(Names.Files.agentConfiguration)"
    return settings(file, isThere: isThere(file), changed: changed(file)) { () throws(KeyFileError) in
      _ = try AgentConfiguration.load([file])
    }
  }

  /// The file of `--config` in a command line, as both programs parse it; nil without the option.
  static func configuration(_ arguments: [String]) -> String? {
    var file: String?
    for (argument, next) in zip(arguments, arguments.dropFirst() + [""]) {
      if argument == "--config", !next.isEmpty { file = next }
      if argument.hasPrefix("--config=") { file = String(argument.dropFirst("--config=".count)) }
    }
    return file
  }

  /// When a file was last changed or moved, in microseconds since 1970; nil if there is none.
  private func changed(_ path: String, flags: Int32 = 0) -> UInt64? {
    var status = stat()
    guard fstatat(AT_FDCWD, path, &status, flags) == 0 else { return nil }
    // The modification time would not change if an old file is moved here.
    let time = status.st_ctim
    return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec / 1000)
  }

  /// When a missing file may have been removed, in microseconds since 1970: the change of its directory, if that is
  /// later than all files in it. Otherwise nil.
  private func removed(_ path: String) -> UInt64? {
    guard !isThere(path), let slash = path.lastIndex(of: "/") else { return nil }
    let folder = String(path[..<slash])
    guard let time = changed(folder), let names = FileContents.names(inDirectory: folder, atMost: 4096) else {
      return nil
    }
    let latest = names.compactMap { changed("\(folder)/\($0)", flags: AT_SYMLINK_NOFOLLOW) }.max() ?? 0
    // Creating a file changes both times, and the clock may advance in between.
    return time > latest &+ 1_000_000 ? time : nil
  }

  private func settings(
    _ file: String, isThere: Bool, isNamed: Bool = false, changed: UInt64? = nil,
    _ load: () throws(KeyFileError) -> Void
  ) -> Examination.Settings {
    var settings = Examination.Settings(file: file, isThere: isThere, isNamed: isNamed, changed: changed)
    if !isNamed { settings.removed = removed(file) }
    do throws(KeyFileError) {
      try load()
    } catch {
      settings.mistake = error
      settings.isForbidden = access(error.file, R_OK) != 0 && errno == EACCES
    }
    return settings
  }

  /// The rules of this user, and those of the administrator.
  func rules() -> Examination.Rules {
    let content = RuleFiles(environment: environment).read()
    return Examination.Rules(
      count: content.rules.count, mistakes: content.problems, warnings: content.warnings(environment: environment))
  }

  // MARK: Processes and devices

  /// The command line of a process; nil if it cannot be read.
  func arguments(of process: UInt32) -> [String]? {
    text("\(directories.processes)/\(process)/cmdline")?.split(separator: "\0").map(String.init)
  }

  /// The user and groups of a process (proc(5), `status`); nil if unreadable.
  func credentials(of process: UInt32) -> Examination.Credentials? {
    var values: [Substring: [UInt32]] = [:]
    for line in (text("\(directories.processes)/\(process)/status") ?? "").split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      values[line[..<colon]] = line[line.index(after: colon)...].split { $0 == "\t" || $0 == " " }.compactMap {
        UInt32($0)
      }
    }
    // Real, effective, saved, file system.
    guard let users = values["Uid"], let groups = values["Gid"], users.count == 4, groups.count == 4 else { return nil }
    let name = getpwuid(users[3]).map { String(cString: $0.pointee.pw_name) } ?? "\(users[3])"
    let group = getgrgid(groups[3]).map { String(cString: $0.pointee.gr_name) } ?? "\(groups[3])"
    return Examination.Credentials(
      user: users[3], userName: name, groupName: group, groups: Set([groups[3]] + (values["Groups"] ?? [])))
  }

  /// The device file of a reader with libnfc's connection string `pn532_uart:/dev/ttyUSB0` or `acr122_usb:001:004`; nil
  /// if the string names no file.
  func node(of device: String) -> Examination.Node? {
    // Only pcscd opens these.
    if device.hasPrefix(Names.PCSC.devicePrefix) || device.hasPrefix(Diagnosis.undrivenPrefix) { return nil }
    let parts = device.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count > 1, parts[1].hasPrefix("/") { return examined(Examination.Node(path: String(parts[1]))) }
    guard parts.count > 2, parts[1...2].allSatisfy({ $0.count == 3 && $0.allSatisfy(\.isWholeNumber) }) else {
      return nil
    }
    return node(ofUSB: "\(parts[1])/\(parts[2])")
  }

  /// The device file of a USB device at `001/004`.
  func node(ofUSB place: String) -> Examination.Node {
    examined(Examination.Node(path: "\(directories.devices)/bus/usb/\(place)", isUSB: true))
  }

  private func examined(_ node: Examination.Node) -> Examination.Node {
    var node = node
    var file = stat()
    node.isThere = stat(node.path, &file) == 0
    guard node.isThere else { return node }
    (node.owner, node.group, node.mode) = (file.st_uid, file.st_gid, file.st_mode & 0o7777)
    node.groupName = getgrgid(file.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "\(file.st_gid)"
    // The layout of makedev(3).
    let major = (file.st_rdev >> 8 & 0xFFF) | (file.st_rdev >> 32 & ~0xFFF)
    let minor = (file.st_rdev & 0xFF) | (file.st_rdev >> 12 & ~0xFF)
    node.name(major: major, minor: minor, drivers: characterDrivers(major))
    return node
  }

  /// The drivers of a major number in /proc/devices.
  private func characterDrivers(_ major: UInt) -> [String] {
    var drivers: [String] = []
    for line in (text("\(directories.processes)/devices") ?? "").split(separator: "\n") {
      if line == "Block devices:" { break }
      let words = line.split(separator: " ")
      if words.count == 2, UInt(words[0]) == major { drivers.append(String(words[1])) }
    }
    return drivers
  }

  func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The beginning of a text file; nil if it cannot be read.
  func text(_ path: String, upTo maximum: Int = 65536) -> String? {
    guard let bytes = try? FileContents.read(path, upTo: maximum) else { return nil }
    return String(decoding: bytes.prefix(maximum), as: UTF8.self)
  }
}

/// Reads what the system says about pcscd: its drivers, its process, and the readers that are plugged in.
extension ExaminedFiles {
  private static let programs = ["/usr/sbin/pcscd", "/usr/bin/pcscd", "/usr/local/sbin/pcscd"]
  /// The folders in which polkit looks for rules (polkit(8)).
  private static let rulesFolders = [
    "/etc/polkit-1/rules.d", "/run/polkit-1/rules.d", "/usr/local/share/polkit-1/rules.d",
    "/usr/share/polkit-1/rules.d",
  ]

  func pcsc() -> Examination.PCSC {
    var seen = Examination.PCSC()
    seen.isInstalled = Self.programs.contains(where: isThere)
    seen.hasSocket = isThere(
      environment[Names.PCSC.socketVariable] ?? "\(directories.runtime)/\(Names.PCSC.socket)")
    seen.drivers = drivers()
    seen.readers = pluggedIn(seen.drivers)
    // The rest matters only to these readers.
    guard !seen.readers.isEmpty else { return seen }
    let process = text("\(directories.runtime)/pcscd/pcscd.pid").flatMap { UInt32($0.filter(\.isNumber)) }
    seen.credentials = process.flatMap { credentials(of: $0) }
    seen.rulesFile = rulesFile()
    seen.hidesProcesses = Self.hidesProcesses(text("\(directories.processes)/self/mounts") ?? "")
    return seen
  }

  private func drivers() -> [ReaderDriver] {
    directories.pcscDrivers.flatMap { folder in
      (FileContents.names(inDirectory: folder, atMost: 256) ?? []).filter { $0.hasSuffix(".bundle") }.sorted()
        .compactMap { bundle in
          text("\(folder)/\(bundle)/Contents/Info.plist", upTo: ReaderDriver.longestFile).map {
            ReaderDriver(bundle: bundle, propertyList: $0)
          }
        }
    }
  }

  /// The contactless readers among the USB devices (sysfs(5)).
  private func pluggedIn(_ drivers: [ReaderDriver]) -> [Examination.PluggedInReader] {
    let folder = "\(directories.kernel)/bus/usb/devices"
    let names = (FileContents.names(inDirectory: folder, atMost: 4096) ?? []).sorted()
    var readers = names.filter { !$0.contains(":") }.compactMap { name -> Examination.PluggedInReader? in
      func number(_ attribute: String, radix: Int) -> Int? {
        text("\(folder)/\(name)/\(attribute)", upTo: 64).flatMap { Int($0.prefix { !$0.isNewline }, radix: radix) }
      }
      guard let vendor = number("idVendor", radix: 16).flatMap(UInt16.init(exactly:)),
        let product = number("idProduct", radix: 16).flatMap(UInt16.init(exactly:)),
        let title = Self.title(vendor, product, drivers),
        let bus = number("busnum", radix: 10), let device = number("devnum", radix: 10)
      else { return nil }
      var reader = Examination.PluggedInReader(vendor: vendor, product: product, title: title)
      // Three digits each, as below /dev/bus/usb.
      reader.place = [bus, device].map { "00\($0)".suffix(3) }.joined(separator: ":")
      reader.node = node(ofUSB: reader.place.replacing(":", with: "/"))
      reader.interfaceDrivers = Set(
        names.filter { $0.hasPrefix("\(name):") }.compactMap { target("\(folder)/\($0)/driver") }
          .compactMap { $0.split(separator: "/").last.map(String.init) })
      return reader
    }
    let holders = holders(of: Set(readers.map(\.node.path)))
    for index in readers.indices { readers[index].holder = holders[readers[index].node.path] }
    return readers
  }

  /// The title of a contactless reader; nil for any other device.
  private static func title(_ vendor: UInt16, _ product: UInt16, _ drivers: [ReaderDriver]) -> String? {
    let names = drivers.compactMap { $0.name(vendor: vendor, product: product) }
    guard ReaderModel.isContactlessDevice(vendor: vendor, product: product, names: names) else { return nil }
    return ReaderModel.find(vendor: vendor, product: product)?.title ?? names.first ?? "a contactless reader"
  }

  /// The programs that have opened these files. The kernel shows only those of this user.
  private func holders(of nodes: Set<String>) -> [String: Examination.Holder] {
    guard !nodes.isEmpty else { return [:] }
    var holders: [String: Examination.Holder] = [:]
    let processes = FileContents.names(inDirectory: directories.processes, atMost: 65536) ?? []
    for process in processes.compactMap({ Int($0) }) {
      let folder = "\(directories.processes)/\(process)"
      for descriptor in FileContents.names(inDirectory: "\(folder)/fd", atMost: 4096) ?? [] {
        guard let file = target("\(folder)/fd/\(descriptor)"), nodes.contains(file),
          let program = text("\(folder)/comm", upTo: 64)
        else { continue }
        holders[file] = Examination.Holder(program: program.filter { !$0.isNewline }, process: process)
      }
    }
    return holders
  }

  private func target(_ link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink(link, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }

  private func rulesFile() -> Examination.PCSC.RulesFile {
    let name = ReaderRemedy.pcscRule.split(separator: "/").last ?? ""
    var isHidden = false
    for folder in Self.rulesFolders {
      if access("\(folder)/\(name)", F_OK) == 0 { return .isThere }
      if errno == EACCES { isHidden = true }
    }
    return isHidden ? .isHidden : .isMissing
  }

  /// Whether /proc is mounted with `hidepid` (proc(5)), by the contents of /proc/self/mounts.
  static func hidesProcesses(_ mounts: String) -> Bool {
    mounts.split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      guard words.count > 3, words[1] == "/proc", words[2] == "proc" else { return false }
      return words[3].split(separator: ",").contains {
        $0.hasPrefix("hidepid=") && !["hidepid=0", "hidepid=off"].contains($0)
      }
    }
  }
}
