import CGTK
import CGTKShims

/// The values that a signal has sent, each of the type that GObject says.
struct SignalValues {
  private let count: Int
  private let values: UnsafePointer<GValue>
  private let result: UnsafeMutablePointer<GValue>?

  fileprivate init(count: Int, values: UnsafePointer<GValue>, result: UnsafeMutablePointer<GValue>?) {
    (self.count, self.values, self.result) = (count, values, result)
  }

  /// The value at a position; 0 is the object that sent the signal. Nil if there is none, or if it has another type.
  func object(_ position: Int) -> UnsafeMutableRawPointer? {
    guard let value = value(position), g_type_check_value_holds(value, g_object_get_type()) != 0 else { return nil }
    return g_value_get_object(value).map { UnsafeMutableRawPointer($0) }
  }

  func text(_ position: Int) -> String? {
    guard let value = value(position), g_type_check_value_holds(value, Self.stringType) != 0 else { return nil }
    return g_value_get_string(value).map { String(cString: $0) }
  }

  func integer(_ position: Int) -> Int32? {
    guard let value = value(position), g_type_check_value_holds(value, Self.intType) != 0 else { return nil }
    return g_value_get_int(value)
  }

  func number(_ position: Int) -> UInt32? {
    guard let value = value(position), g_type_check_value_holds(value, Self.uintType) != 0 else { return nil }
    return g_value_get_uint(value)
  }

  /// A variant, such as the parameter of an action, if it is a text.
  func variantText(_ position: Int) -> String? {
    guard let value = value(position), g_type_check_value_holds(value, Self.variantType) != 0,
      let variant = g_value_get_variant(value), g_variant_is_of_type(variant, Self.textVariant) != 0
    else { return nil }
    return String(cString: g_variant_get_string(variant, nil))
  }

  /// The answer of a signal that has one: whether the event was handled.
  func answer(_ isHandled: Bool) {
    guard let result, g_type_check_value_holds(result, Self.booleanType) != 0 else { return }
    g_value_set_boolean(result, isHandled ? 1 : 0)
  }

  private func value(_ position: Int) -> UnsafePointer<GValue>? { position < count ? values + position : nil }

  // The fundamental types, which are macros in gtype.h: a number shifted by G_TYPE_FUNDAMENTAL_SHIFT.
  private static let booleanType = GType(5 << 2)
  private static let intType = GType(6 << 2)
  private static let uintType = GType(7 << 2)
  private static let stringType = GType(16 << 2)
  private static let variantType = GType(21 << 2)
  private static let textVariant = OpaquePointer(strdup("s"))
}

/// The Swift side of a connected signal.
private final class SignalHandler {
  let body: (SignalValues) -> Void

  init(_ body: @escaping (SignalValues) -> Void) { self.body = body }
}

nonisolated private func invoke(
  _ box: UnsafeMutableRawPointer, _ result: UnsafeMutablePointer<GValue>?, _ count: UInt32,
  _ values: UnsafePointer<GValue>
) {
  nonisolated(unsafe) let (box, result, values) = (box, result, values)
  MainActor.assumeIsolated {
    let handler = Unmanaged<SignalHandler>.fromOpaque(box).takeUnretainedValue()
    handler.body(SignalValues(count: Int(count), values: values, result: result))
  }
}

nonisolated private func release(_ box: UnsafeMutableRawPointer) {
  nonisolated(unsafe) let box = box
  MainActor.assumeIsolated { Unmanaged<SignalHandler>.fromOpaque(box).release() }
}

extension Kept {
  /// Runs `body` at each signal of the object, as long as the object lives.
  ///
  /// `body` must not keep the object or what owns it: GTK releases it only with the object. So capture `[weak self]`.
  @discardableResult
  func on(_ signal: String, _ body: @escaping (SignalValues) -> Void) -> UInt {
    UInt(tags_connect(raw, signal, Unmanaged.passRetained(SignalHandler(body)).toOpaque(), invoke, release))
  }

  /// The same, for a handler that needs no values.
  @discardableResult
  func on(_ signal: String, _ body: @escaping () -> Void) -> UInt { on(signal) { (_: SignalValues) in body() } }
}
