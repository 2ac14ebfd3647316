internal import CDBus
internal import EventLoop
internal import Glibc

/// libdbus's watches of one connection, joined to the loop.
///
/// libdbus has one watch for reading and one for writing on the same descriptor, and switches them on and off as it goes.
/// A descriptor therefore has one watch of the loop's here, for the union of what its enabled watches want.
///
/// Every method is called on the loop: libdbus calls back only from within a call of ours, and all of those are made there.
///
/// Who frees what: libdbus owns its watches; a pointer is valid between `add` and `remove`. libdbus closes the descriptor
/// itself, whenever it likes. So the loop watches a duplicate, which is closed when the last watch on it has been let go.
final class Watches {
  private struct Watched {
    let duplicate: FileDescriptor
    var interest: DescriptorWatch.Interest = []
    var watch: DescriptorWatch?
  }

  private let loop: EventLoop
  private let onReady: @Sendable (Int32) -> Void
  private var watches: Set<OpaquePointer> = []
  private var descriptors: [Int32: Watched] = [:]

  /// - Parameters:
  ///   - loop: where descriptors are watched.
  ///   - onReady: called on the loop with the descriptor as libdbus knows it.
  init(on loop: EventLoop, onReady: @escaping @Sendable (Int32) -> Void) {
    self.loop = loop
    self.onReady = onReady
  }

  /// - Returns: false where no descriptor is left for the duplicate, which libdbus takes for a lack of memory.
  func add(_ watch: OpaquePointer) -> Bool {
    watches.insert(watch)
    guard update(dbus_watch_get_unix_fd(watch)) else {
      watches.remove(watch)
      return false
    }
    return true
  }

  func remove(_ watch: OpaquePointer) {
    watches.remove(watch)
    _ = update(dbus_watch_get_unix_fd(watch))
  }

  func toggle(_ watch: OpaquePointer) {
    _ = update(dbus_watch_get_unix_fd(watch))
  }

  /// Lets libdbus read and write what it wants to; the socket does not block where it was only one of the two.
  func handle(_ descriptor: Int32) {
    let wanted = DBUS_WATCH_READABLE.rawValue | DBUS_WATCH_WRITABLE.rawValue
    // A watch may vanish while another is handled.
    for watch in watches {
      guard watches.contains(watch), dbus_watch_get_unix_fd(watch) == descriptor, dbus_watch_get_enabled(watch) != 0
      else { continue }
      dbus_watch_handle(watch, dbus_watch_get_flags(watch) & wanted)
    }
  }

  func cancel() {
    descriptors = [:]
  }

  private func update(_ descriptor: Int32) -> Bool {
    let present = watches.filter { dbus_watch_get_unix_fd($0) == descriptor }
    guard !present.isEmpty else {
      descriptors[descriptor] = nil
      return true
    }
    let interest = present.filter { dbus_watch_get_enabled($0) != 0 }
      .reduce(DescriptorWatch.Interest()) { $0.union(Self.interest(dbus_watch_get_flags($1))) }
    guard var watched = descriptors[descriptor] ?? duplicate(descriptor) else { return false }
    if watched.interest != interest {
      watched.interest = interest
      // The old one goes first: the loop takes one watch a descriptor.
      descriptors[descriptor] = nil
      watched.watch = nil
      let onReady = onReady
      if !interest.isEmpty {
        watched.watch = try? DescriptorWatch(watched.duplicate, for: interest, on: loop) { onReady(descriptor) }
        guard watched.watch != nil else { return false }
      }
    }
    descriptors[descriptor] = watched
    return true
  }

  private func duplicate(_ descriptor: Int32) -> Watched? {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    return copy >= 0 ? Watched(duplicate: FileDescriptor(owning: copy)) : nil
  }

  private static func interest(_ flags: UInt32) -> DescriptorWatch.Interest {
    var interest = DescriptorWatch.Interest()
    if flags & DBUS_WATCH_READABLE.rawValue != 0 { interest.insert(.reading) }
    if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.writing) }
    return interest
  }
}
