internal import CDBus
internal import EventLoop
internal import Glibc

/// Connects libdbus's watches of one connection to the event loop.
///
/// libdbus has separate watches for reading and writing on the same descriptor, and enables and disables them as
/// needed. So the loop has one watch per descriptor, with the union of the interests of its enabled libdbus watches.
///
/// All methods run on the loop: libdbus calls back only during our calls to it, and we make all of them there.
///
/// Ownership: libdbus owns its watches; a pointer is valid between `add` and `remove`. libdbus may close the descriptor
/// at any time. So the loop watches a duplicate, which is closed after the last watch on it is removed.
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

  /// `onReady` is called on the loop with libdbus's own descriptor.
  init(on loop: EventLoop, onReady: @escaping @Sendable (Int32) -> Void) {
    self.loop = loop
    self.onReady = onReady
  }

  /// Returns false if the descriptor cannot be duplicated or watched. libdbus treats this as a lack of memory.
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

  /// Lets libdbus read and write. The socket is non-blocking, so it does no harm if only one of the two is possible.
  func handle(_ descriptor: Int32) {
    let wanted = DBUS_WATCH_READABLE.rawValue | DBUS_WATCH_WRITABLE.rawValue
    // Handling one watch may remove another.
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
      // Remove the old watch first: the loop accepts one watch per descriptor.
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
