import Glibc

/// A user of this machine.
package struct LocalUser: Sendable, Hashable {
  /// The login name.
  package let name: String
  /// The user's number.
  package let uid: UInt32

  /// Creates a user that is known to exist.
  package init(name: String, uid: UInt32) {
    self.name = name
    self.uid = uid
  }

  /// Looks a user up by name; nil if there is none. Blocks: a directory service may answer slowly.
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
