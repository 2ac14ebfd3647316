import CGTK

/// A reference to a GObject, which lives at least as long as this value.
///
/// GTK's types come to Swift as different pointers: opaque ones, and typed ones to a struct. The properties give each
/// function the pointer that it takes.
final class Kept {
  let raw: UnsafeMutableRawPointer

  /// Takes a floating reference, which a new widget has, or adds one.
  init(_ raw: UnsafeMutableRawPointer) {
    self.raw = raw
    g_object_ref_sink(raw)
  }

  convenience init(_ pointer: OpaquePointer) { self.init(UnsafeMutableRawPointer(pointer)) }

  convenience init<T>(_ pointer: UnsafeMutablePointer<T>) { self.init(UnsafeMutableRawPointer(pointer)) }

  /// A new object that is not a widget: its creator's reference becomes ours.
  convenience init(adopting pointer: OpaquePointer) {
    self.init(pointer)
    g_object_unref(raw)
  }

  convenience init<T>(adopting pointer: UnsafeMutablePointer<T>) { self.init(adopting: OpaquePointer(pointer)) }

  /// One more reference, for a function that takes it over.
  var added: OpaquePointer {
    g_object_ref(raw)
    return opaque
  }

  /// Releases the object when the main loop runs again, like an autorelease pool: Swift may end this value before a call
  /// that got one of its pointers.
  isolated deinit {
    g_idle_add_full(
      G_PRIORITY_DEFAULT,
      { object in
        g_object_unref(object)
        return 0
      }, raw, nil)
  }

  var opaque: OpaquePointer { OpaquePointer(raw) }
  var widget: UnsafeMutablePointer<GtkWidget> { cast() }

  func cast<T>(to type: T.Type = T.self) -> UnsafeMutablePointer<T> { raw.assumingMemoryBound(to: T.self) }
}
