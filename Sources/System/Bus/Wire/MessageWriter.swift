internal import CDBus
internal import EventLoop

/// Appends values to a message. `WireCheck` has accepted them, so only a lack of memory or descriptors can make this
/// fail.
///
/// Ownership: libdbus copies each appended value and duplicates file descriptors, so the caller keeps its own. An
/// iterator over an open container holds memory until `withContainer` closes or abandons it.
enum MessageWriter {
  static func append(_ body: [Value], to message: OpaquePointer) throws(BusError) {
    var iterator = DBusMessageIter()
    dbus_message_iter_init_append(message, &iterator)
    for value in body {
      guard append(value, &iterator) else { throw .noMemory("write a message, or no file descriptor left for it") }
    }
  }

  private static func append(_ value: Value, _ iterator: inout DBusMessageIter) -> Bool {
    switch value {
    case .byte(let value): return appendBasic(value, TypeCode.byte, &iterator)
    case .boolean(let value): return appendBasic(dbus_bool_t(value ? 1 : 0), TypeCode.boolean, &iterator)
    case .int16(let value): return appendBasic(value, TypeCode.int16, &iterator)
    case .uint16(let value): return appendBasic(value, TypeCode.uint16, &iterator)
    case .int32(let value): return appendBasic(value, TypeCode.int32, &iterator)
    case .uint32(let value): return appendBasic(value, TypeCode.uint32, &iterator)
    case .int64(let value): return appendBasic(value, TypeCode.int64, &iterator)
    case .uint64(let value): return appendBasic(value, TypeCode.uint64, &iterator)
    case .double(let value): return appendBasic(value, TypeCode.double, &iterator)
    case .string(let value): return appendText(value, TypeCode.string, &iterator)
    case .objectPath(let value): return appendText(value.string, TypeCode.objectPath, &iterator)
    case .signature(let value): return appendText(value.string, TypeCode.signature, &iterator)
    case .unixFD(let value): return appendBasic(value.rawValue, TypeCode.unixFD, &iterator)
    case .bytes(let bytes): return appendBytes(bytes, &iterator)
    case .array(let element, let elements):
      return withContainer(TypeCode.array, element.string, &iterator) { inner in
        elements.allSatisfy { append($0, &inner) }
      }
    case .dictionary(let key, let value, let entries):
      return withContainer(TypeCode.array, "{\(key.string)\(value.string)}", &iterator) { inner in
        entries.allSatisfy { append($0, &inner) }
      }
    case .structure(let members):
      return withContainer(TypeCode.structure, nil, &iterator) { inner in
        members.allSatisfy { append($0, &inner) }
      }
    case .variant(let content):
      return withContainer(TypeCode.variant, content.typeCode(), &iterator) { inner in append(content, &inner) }
    }
  }

  private static func append(_ entry: DictionaryEntry, _ iterator: inout DBusMessageIter) -> Bool {
    withContainer(TypeCode.dictionaryEntry, nil, &iterator) { inner in
      append(entry.key, &inner) && append(entry.value, &inner)
    }
  }

  private static func appendBasic<T: BitwiseCopyable>(
    _ value: T, _ code: UInt8, _ iterator: inout DBusMessageIter
  ) -> Bool {
    var value = value
    return dbus_message_iter_append_basic(&iterator, Int32(code), &value) != 0
  }

  private static func appendText(_ text: String, _ code: UInt8, _ iterator: inout DBusMessageIter) -> Bool {
    text.withCString { characters in
      var pointer: UnsafePointer<CChar>? = characters
      return dbus_message_iter_append_basic(&iterator, Int32(code), &pointer) != 0
    }
  }

  private static func appendBytes(_ bytes: [UInt8], _ iterator: inout DBusMessageIter) -> Bool {
    withContainer(TypeCode.array, "y", &iterator) { inner in
      guard !bytes.isEmpty else { return true }
      return bytes.withUnsafeBufferPointer { buffer in
        var pointer = buffer.baseAddress
        return dbus_message_iter_append_fixed_array(&inner, Int32(TypeCode.byte), &pointer, Int32(buffer.count)) != 0
      }
    }
  }

  private static func withContainer(
    _ code: UInt8, _ contained: String?, _ iterator: inout DBusMessageIter,
    _ append: (inout DBusMessageIter) -> Bool
  ) -> Bool {
    var inner = DBusMessageIter()
    guard dbus_message_iter_open_container(&iterator, Int32(code), contained, &inner) != 0 else { return false }
    guard append(&inner) else {
      dbus_message_iter_abandon_container(&iterator, &inner)
      return false
    }
    return dbus_message_iter_close_container(&iterator, &inner) != 0
  }
}
