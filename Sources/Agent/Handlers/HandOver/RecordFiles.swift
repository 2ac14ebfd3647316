import EventLoop
import Glibc
import Names
import Settings

/// Files with the payload of a record, for applications that open files.
///
/// They are in the user's runtime directory, which is in memory and is gone after the session. Only the user can read
/// them. Nothing from the tag is in a file's name but the extension of its type. A file is removed after its lifetime
/// and at the end of the process. The next run of the agent removes a file that a killed process has left.
actor RecordFiles {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// At one time. If there are more, the oldest one is removed: a message has up to 1 MiB.
  static let maximumFiles = 16

  private let environment: [String: String]
  private let lifetime: Duration
  /// The oldest first.
  private var paths: [String] = []

  init(environment: [String: String], lifetime: Duration, on loop: EventLoop) {
    self.environment = environment
    self.lifetime = lifetime
    self.loop = loop
  }

  /// Returns the absolute path. The type is a media type in lower case.
  func write(_ payload: [UInt8], ofType type: String) async throws(HandOverFailure) -> String {
    let (environment, lifetime) = (environment, lifetime)
    let written: Result<String, SystemError>
    do throws(SystemError) {
      written = try await DedicatedThread.run {
        let directory = RecordDirectory(environment: environment)
        return Result { () throws(SystemError) -> String in
          try directory.removeFiles(olderThan: lifetime)
          return try directory.write(payload, extension: FileExtension.of(type, environment: environment))
        }
      }
    } catch {
      throw HandOverFailure(error)
    }
    switch written {
    case .success(let path):
      await keep(path)
      return path
    case .failure(let error): throw HandOverFailure(.fileNotWritten, error.description)
    }
  }

  private func keep(_ path: String) async {
    paths.append(path)
    let excess = Array(paths.prefix(max(0, paths.count - Self.maximumFiles)))
    if !excess.isEmpty { await remove(excess) }
    loop.schedule(after: lifetime) { [weak self] in Task { await self?.remove([path]) } }
  }

  private func remove(_ some: [String]) async {
    let own = some.filter(paths.contains)
    paths.removeAll(where: own.contains)
    guard !own.isEmpty else { return }
    _ = try? await DedicatedThread.run { for path in own { unlink(path) } }
  }

  /// Those of killed processes: the old ones now, the others when they are old. A file's age is in whole seconds.
  func removeLeft() async {
    await removeOld()
    loop.schedule(after: lifetime + .seconds(1)) { [weak self] in Task { await self?.removeOld() } }
  }

  private func removeOld() async {
    let directory = RecordDirectory(environment: environment)
    // A clean-up does not make the directory.
    guard let path = directory.path else { return }
    _ = try? await DedicatedThread.run { [lifetime] in
      guard access(path, F_OK) == 0 else { return }
      try? directory.removeFiles(olderThan: lifetime)
    }
  }

  /// Those of this process.
  func removeAll() async { await remove(paths) }
}

/// The directory of ``RecordFiles``. Every function blocks on files.
struct RecordDirectory {
  /// Nil without `XDG_RUNTIME_DIR`.
  let path: String?

  /// `$XDG_RUNTIME_DIR/tagroute`.
  init(environment: [String: String]) {
    path = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? "\($0)/tagroute" : nil }
  }

  private static let prefix = "tag-"
  /// Per clean-up.
  private static let maximumNames = 1000

  /// With mode 0600. Returns its path.
  func write(_ bytes: [UInt8], extension suffix: String?) throws(SystemError) -> String {
    let (directory, path) = try open()
    let number = Hexadecimal.text(UInt64.random(in: .min ... .max)).lowercased()
    let name = Self.prefix + number + (suffix.map { ".\($0)" } ?? "")
    let file = openat(directory.rawValue, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("write a file in \(path)") }
    let descriptor = FileDescriptor(owning: file)
    do throws(SystemError) {
      guard fchmod(descriptor.rawValue, 0o600) == 0 else { throw SystemError("write a file in \(path)") }
      try Self.write(bytes, to: descriptor, path)
    } catch {
      unlinkat(directory.rawValue, name, 0)
      throw error
    }
    return "\(path)/\(name)"
  }

  private static func write(_ bytes: [UInt8], to file: FileDescriptor, _ path: String) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write a file in \(path)") }
      rest = rest.dropFirst(count)
    }
  }

  /// Those that stayed because their process was killed.
  func removeFiles(olderThan lifetime: Duration) throws(SystemError) {
    let (directory, path) = try open()
    guard let names = FileContents.names(inDirectory: path, atMost: Self.maximumNames) else { return }
    let limit = time(nil) - Int(lifetime.components.seconds)
    for name in names where name.hasPrefix(Self.prefix) {
      var information = stat()
      guard fstatat(directory.rawValue, name, &information, AT_SYMLINK_NOFOLLOW) == 0,
        information.st_mode & S_IFMT == S_IFREG, information.st_mtim.tv_sec < limit
      else { continue }
      unlinkat(directory.rawValue, name, 0)
    }
  }

  /// The directory belongs to the user and is closed to others. Makes it if it is missing.
  private func open() throws(SystemError) -> (FileDescriptor, path: String) {
    guard let path else { throw SystemError("find XDG_RUNTIME_DIR, which is not set", errno: ENOENT) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("make \(path)") }
    let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { throw SystemError("open \(path)") }
    let directory = FileDescriptor(owning: number)
    var information = stat()
    guard fstat(number, &information) == 0 else { throw SystemError("examine \(path)") }
    guard information.st_uid == geteuid() else { throw SystemError("use \(path) of another user", errno: EPERM) }
    guard information.st_mode & 0o077 == 0 || fchmod(number, 0o700) == 0 else { throw SystemError("close \(path)") }
    return (directory, path)
  }
}

/// The extensions of file names, by media type.
enum FileExtension {
  /// Without the dot; nil if the system knows none. The type is in lower case. Blocks on files.
  ///
  /// The usual types are known without a database. The others are those of shared-mime-info.
  static func of(_ type: String, environment: [String: String]) -> String? {
    if let known = usual[type] { return known }
    let places = DataDirectories(environment: environment)
    for directory in [places.user].compactMap(\.self) + places.system {
      if let suffix = find(type, inFile: "\(directory)/mime/globs2") { return suffix }
    }
    return nil
  }

  /// The size of the database is about 60 kB.
  private static let maximumSize = 1 << 20

  /// shared-mime-info 0.21, section 2.5: each line is `WEIGHT:TYPE:PATTERN`. The heaviest is first.
  private static func find(_ type: String, inFile path: String) -> String? {
    guard let bytes = try? FileContents.read(path, upTo: maximumSize), bytes.count <= maximumSize else { return nil }
    let wanted = Array(":\(type):*.".utf8)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[colon...].starts(with: wanted) else { continue }
      let suffix = line[colon...].dropFirst(wanted.count).prefix { $0 != UInt8(ascii: ":") }
      if isPlain(suffix) { return String(decoding: suffix, as: UTF8.self) }
    }
    return nil
  }

  /// Only small letters and digits, so that the suffix adds nothing else to a name.
  private static func isPlain(_ suffix: ArraySlice<UInt8>) -> Bool {
    (1...12).contains(suffix.count)
      && suffix.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  /// Each type that the default application may get has one here: the database may lack the names of other systems, and
  /// a browser may take a file without an extension for a page. JSON, CSV and Markdown are for rules.
  private static let usual = [
    "application/ics": "ics", "application/json": "json", "application/pdf": "pdf",
    "audio/aac": "aac", "audio/flac": "flac", "audio/midi": "mid", "audio/mp3": "mp3", "audio/mp4": "m4a",
    "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/opus": "opus", "audio/wav": "wav", "audio/webm": "webm",
    "audio/x-flac": "flac", "audio/x-m4a": "m4a", "audio/x-wav": "wav",
    "image/avif": "avif", "image/bmp": "bmp", "image/gif": "gif", "image/heic": "heic", "image/heif": "heif",
    "image/jpeg": "jpg", "image/jpg": "jpg", "image/jxl": "jxl", "image/png": "png", "image/tiff": "tiff",
    "image/webp": "webp",
    "text/calendar": "ics", "text/csv": "csv", "text/directory": "vcf", "text/markdown": "md", "text/plain": "txt",
    "text/vcard": "vcf", "text/x-vcalendar": "vcs", "text/x-vcard": "vcf",
    "video/mp4": "mp4", "video/mpeg": "mpg", "video/ogg": "ogv", "video/quicktime": "mov", "video/webm": "webm",
    "video/x-m4v": "m4v", "video/x-matroska": "mkv",
  ]
}
