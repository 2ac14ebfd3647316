import EventLoop
import Glibc
import Names
import ReaderModels
import Settings

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
      reader.place = "\(Self.threeDigits(bus)):\(Self.threeDigits(device))"
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

  /// The form of the folder and file names below /dev/bus/usb.
  private static func threeDigits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
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
