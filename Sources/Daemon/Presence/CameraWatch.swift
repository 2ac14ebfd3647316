import EventLoop
import Glibc

/// Follows whether a camera is in use: whether a process of this user has a node `/dev/video*` open. Runs on its own
/// thread.
actor CameraWatch {
  private let loop = EventLoop(label: "cameras")
  private let directories: SystemDirectories
  private let changed: @Sendable (Fact) -> Void
  private var plan = CameraPlan()
  private var reported = Fact.unknown
  private var files: FileWatch?
  private var folder: Int32 = -1
  /// The watch number of each node by name; -1 if the node cannot be watched.
  private var nodes: [String: Int32] = [:]

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Called on the watch's own thread.
  init(_ directories: SystemDirectories, changed: @escaping @Sendable (Fact) -> Void) {
    self.directories = directories
    self.changed = changed
  }

  /// The first check is at once. If the folder of devices cannot be watched, the state stays unknown.
  func start() throws(SystemError) {
    let files = try FileWatch(on: loop) { [weak self] events in self?.assumeIsolated { $0.take(in: events) } }
    folder = try files.add(
      directories.devices, UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR))
    self.files = files
    readNodes()
  }

  private func take(in events: [FileWatch.Event]) {
    if events.contains(where: \.isLoss) { perform(plan.handle(.lost)) }
    if events.contains(where: { $0.isLoss || $0.number == folder && CameraScan.isNode($0.name) }) { readNodes() }
    for event in events where nodes.values.contains(event.number) {
      if event.mask & UInt32(IN_OPEN) != 0 { perform(plan.handle(.opened)) }
      if event.mask & UInt32(IN_CLOSE_WRITE | IN_CLOSE_NOWRITE) != 0 { perform(plan.handle(.closed)) }
    }
  }

  /// Nodes come and go. The user may watch them once the session is in the foreground of its seat.
  private func readNodes() {
    guard let files else { return }
    let names = CameraScan.nodes(in: directories.devices)
    for (name, number) in nodes where number >= 0 && !names.contains(name) { files.remove(number) }
    nodes = [:]
    for name in names {
      nodes[name] =
        (try? files.add("\(directories.devices)/\(name)", UInt32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE))) ?? -1
    }
    perform(plan.handle(.devices(present: !nodes.isEmpty, watched: nodes.values.allSatisfy { $0 >= 0 })))
  }

  private func perform(_ actions: [CameraPlan.Action]) {
    for action in actions {
      switch action {
      case .look:
        let isInUse = CameraScan(directories, nodes: Set(nodes.keys)).findsUser()
        perform(plan.handle(.looked(isInUse)))
      case .rest(let pause):
        loop.schedule(after: pause) { [weak self] in
          self?.assumeIsolated { $0.perform($0.plan.handle(.rested)) }
        }
      }
    }
    guard plan.fact != reported else { return }
    reported = plan.fact
    changed(reported)
  }
}

/// Checks the descriptors of all processes that this user may inspect, which are the user's own.
struct CameraScan {
  /// More cameras than a machine has, and more descriptors than a process has. Servers and tests may have ten thousand.
  private static let maximumNodes = 64
  private static let maximumDescriptors = 65_536

  private let directories: SystemDirectories
  private let nodes: Set<String>

  /// The names of the cameras.
  init(_ directories: SystemDirectories, nodes: Set<String>) {
    self.directories = directories
    self.nodes = nodes
  }

  /// As in `video0`: the names of video4linux (v4l2-dev.c).
  static func isNode(_ name: String) -> Bool {
    guard name.hasPrefix("video") else { return false }
    let digits = name.dropFirst(5).utf8
    return (1...3).contains(digits.count) && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  static func nodes(in folder: String) -> Set<String> {
    var names: Set<String> = []
    each(in: folder) { name in
      if isNode(name) { names.insert(name) }
      return names.count < maximumNodes
    }
    return names
  }

  func findsUser() -> Bool {
    guard !nodes.isEmpty else { return false }
    var isFound = false
    Self.each(in: directories.processes) { name in
      if name.utf8.first.map({ (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }) == true {
        isFound = hasCamera("\(directories.processes)/\(name)/fd")
      }
      return !isFound
    }
    return isFound
  }

  private func hasCamera(_ folder: String) -> Bool {
    var isFound = false
    var count = 0
    Self.each(in: folder) { name in
      count += 1
      isFound = isCamera("\(folder)/\(name)")
      return !isFound && count < Self.maximumDescriptors
    }
    return isFound
  }

  /// Compares the names first, because that asks no file system that may not answer. In a sandbox the path has another
  /// beginning. Both paths must then lead to the same device.
  private func isCamera(_ link: String) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = readlink(link, &buffer, buffer.count)
    guard count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else { return false }
    let name = String(decoding: buffer[(slash + 1)..<count], as: UTF8.self)
    guard nodes.contains(name) else { return false }
    let folder = String(decoding: buffer[..<slash], as: UTF8.self)
    if folder == directories.devices { return true }
    var file = stat()
    var node = stat()
    guard stat(link, &file) == 0, stat("\(directories.devices)/\(name)", &node) == 0 else { return false }
    return file.st_mode & S_IFMT == S_IFCHR && node.st_mode & S_IFMT == S_IFCHR && file.st_rdev == node.st_rdev
  }

  /// Stops if `body` returns false.
  private static func each(in folder: String, _ body: (String) -> Bool) {
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream), body(entryName(entry)) {}
  }
}

/// When to check whether a camera is in use.
///
/// Pure. Device events report that a program opens or closes a camera. A check of all processes tells whether one has a
/// camera open. A check takes milliseconds, so a pause follows each one. The pause doubles while checks follow one
/// another.
struct CameraPlan: Sendable, Hashable {
  enum Event: Sendable, Hashable {
    /// Whether there are cameras, and whether each of them can be watched.
    case devices(present: Bool, watched: Bool)
    case opened
    case closed
    /// Events were lost.
    case lost
    /// The check has ended: whether a process has a camera open.
    case looked(Bool)
    /// The pause is over.
    case rested
  }

  enum Action: Sendable, Hashable {
    /// Check, then report `looked`.
    case look
    /// Wait, then report `rested`.
    case rest(Duration)
  }

  private enum Phase: Sendable, Hashable {
    /// No check is running or due. Can transition to: `.looking`.
    case idle
    /// A check is running. Can transition to: `.resting`.
    case looking
    /// The pause after a check. Can transition to: `.looking` if another check is due, else `.idle`.
    case resting
  }

  private var phase = Phase.idle
  /// An event came that the running check may have missed.
  private var isDue = false
  /// The kernel reports an open before the descriptor can be seen. A check that finds no open camera is then repeated
  /// once.
  private var looksAgain = false
  private var pause = Backoff(from: .milliseconds(250), to: .seconds(4))
  private var seen = Fact.unknown
  private var isPresent = false
  private var isWatched = false

  /// If a camera cannot be watched, this is unknown, unless another camera is in use.
  var fact: Fact {
    guard isPresent else { return .no }
    return isWatched || seen == .yes ? seen : .unknown
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .devices(let present, let watched):
      (isPresent, isWatched) = (present, watched)
      return look()
    case .opened:
      guard seen != .yes || phase == .looking else { return [] }
      looksAgain = true
      return look()
    case .closed:
      guard seen == .yes || phase == .looking else { return [] }
      return look()
    case .lost: return look()
    case .looked(let isInUse):
      seen = Fact(isInUse)
      if looksAgain && !isInUse { isDue = true }
      looksAgain = false
      phase = .resting
      return [.rest(pause.next())]
    case .rested:
      phase = .idle
      guard isDue else {
        pause.reset()
        return []
      }
      return look()
    }
  }

  private mutating func look() -> [Action] {
    guard phase == .idle else {
      isDue = true
      return []
    }
    isDue = false
    phase = .looking
    return [.look]
  }
}
