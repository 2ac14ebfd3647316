import EventLoop
import Glibc
import ScanGate

/// A display's connector as the kernel shows it in `/sys/class/drm` (the attributes `status` and `dpms` of drm_sysfs.c).
struct DisplayConnector: Sendable, Hashable {
  /// `connected`, `disconnected` or `unknown`.
  let status: String
  /// `On`, `Standby`, `Suspend` or `Off`.
  let power: String

  /// Whether every display is off: all that are connected, and there is one. A word that is not known counts as on.
  static func areOff(_ connectors: [DisplayConnector]) -> Fact {
    let connected = connectors.filter { $0.status == "connected" }
    guard !connected.isEmpty else { return .unknown }
    return Fact(connected.allSatisfy { ["Standby", "Suspend", "Off"].contains($0.power) })
  }

  /// A machine has a handful; what is beyond that is not looked at.
  private static let maximumNumber = 64

  /// Looks at the connectors. Does not belong on a loop that has other things to do: it reads files.
  ///
  /// - Parameter folder: `/sys/class/drm`.
  /// - Returns: those that have both attributes.
  static func present(in folder: String) -> [DisplayConnector] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var connectors: [DisplayConnector] = []
    while connectors.count < maximumNumber, let entry = readdir(stream) {
      // card0-HDMI-A-1; the cards themselves and their render nodes have no hyphen.
      let name = entryName(entry)
      guard name.contains("-") else { continue }
      guard let status = word("\(folder)/\(name)/status"), let power = word("\(folder)/\(name)/dpms") else { continue }
      connectors.append(DisplayConnector(status: status, power: power))
    }
    return connectors
  }

  /// The one line of an attribute, without its end.
  private static func word(_ path: String) -> String? {
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: number)
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = read(descriptor.rawValue, &buffer, buffer.count)
    guard count >= 0 else { return nil }
    return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}

/// The name in a directory's entry; empty where it is no text.
func entryName(_ entry: UnsafeMutablePointer<dirent>) -> String {
  withUnsafeBytes(of: entry.pointee.d_name) { bytes in
    String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) ?? ""
  }
}

/// Looks at the connectors of displays by the clock, since the kernel tells nobody when one goes off.
///
/// On a thread of its own. A look at four connectors takes 0.2 ms in a debug build; where no connector tells its power, as before
/// the driver is there, the next one comes later.
actor ConnectorWatch {
  private let loop = EventLoop(label: "connectors")
  private let folder: String
  private let interval: Duration
  private let longInterval: Duration
  private let tell: @Sendable (Fact) -> Void
  private var isNeeded = false
  private var timer: LoopTimer?
  private var told = Fact.unknown
  /// Until the next look; nil where there is none.
  private(set) var pause: Duration?

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - folder: `/sys/class/drm`.
  ///   - interval: from one look to the next.
  ///   - longInterval: the same where there was nothing to see.
  ///   - tell: called on the watch's own thread with what is news.
  init(
    folder: String, interval: Duration, longInterval: Duration = .seconds(30),
    tell: @escaping @Sendable (Fact) -> Void
  ) {
    self.folder = folder
    self.interval = interval
    self.longInterval = longInterval
    self.tell = tell
  }

  /// Begins to look, at once, or ends it: what was seen last is not known any more then.
  func setNeeded(_ value: Bool) {
    guard value != isNeeded else { return }
    isNeeded = value
    timer?.cancel()
    (timer, pause) = (nil, nil)
    if value { look() } else { see(.unknown) }
  }

  private func look() {
    let connectors = DisplayConnector.present(in: folder)
    see(DisplayConnector.areOff(connectors))
    let pause = connectors.isEmpty ? longInterval : interval
    self.pause = pause
    timer = loop.schedule(after: pause) { [weak self] in self?.assumeIsolated { $0.look() } }
  }

  private func see(_ fact: Fact) {
    guard fact != told else { return }
    told = fact
    tell(fact)
  }
}
