import EventLoop
import Glibc

/// Where notifications are, for the next run of an agent that keeps no taps: it finds what one that was killed has left on the screen, and takes
/// it away.
///
/// A line a notification: the bus, the server, the number. Nothing of any tag.
struct ScreenFile {
  /// Beside the database that there would be.
  let path: String

  /// What stands there; nothing where it cannot be read.
  func read() -> [ScreenPlace] {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    let file = FileDescriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(file.rawValue, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 3, let id = UInt32(words[2]) else { return nil }
      return ScreenPlace(bus: String(words[0]), owner: String(words[1]), id: id)
    }
  }

  /// Puts these in the place of what stands there. Where that cannot be, an agent that is killed leaves its notifications to the user.
  func write(_ places: Set<ScreenPlace>) {
    let lines = places.map { "\($0.bus) \($0.owner) \($0.id)\n" }
    guard !lines.isEmpty else {
      unlink(path)
      return
    }
    let new = path + ".new"
    let descriptor = Glibc.open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    let file = FileDescriptor(owning: descriptor)
    let bytes = Array(lines.sorted().joined().utf8)
    // Not synchronised: no notification is up after the machine has crashed.
    guard Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count else {
      unlink(new)
      return
    }
    rename(new, path)
  }
}

/// An inbox that keeps nothing.
extension Inbox {
  /// Removes what was kept before, unless an agent that keeps it still runs.
  func removeFormer() {
    guard let former, !isFormerGone else { return }
    former.prepareDirectory()
    if lock == nil {
      switch InboxLock.ask(former.lockPath) {
      case .held(let lock): self.lock = lock
      case .impossible: break
      case .taken:
        return reportFormer(
          "is in use by another process of this user, as an agent that keeps taps, and stays until that is gone")
      }
    }
    do throws(SQLiteError) {
      let wasThere = try former.remove()
      isFormerGone = true
      if wasThere { notice("taps are not kept any more: the inbox \(former.path) was removed") }
    } catch {
      reportFormer("is still there, though taps are not kept any more: \(error.message); remove it by hand")
    }
  }

  private func reportFormer(_ words: String) {
    guard let former, !hasReportedFormer else { return }
    hasReportedFormer = true
    report("the inbox \(former.path) \(words)")
  }

  /// What an earlier run has left on the screen.
  func placesOfFormer() -> [ScreenPlace] {
    guard let former, lock != nil else { return [] }
    return ScreenFile(path: former.screenPath).read()
  }

  /// Has the next run know where notifications are.
  @discardableResult func keepingPlaces<Result>(_ result: Result) -> Result {
    guard let former, lock != nil, let store, let taps = try? store.places(), let others = try? store.otherPlaces()
    else { return result }
    let places = Set(taps.values).union(others)
    guard places != writtenPlaces else { return result }
    ScreenFile(path: former.screenPath).write(places)
    writtenPlaces = places
    return result
  }
}
