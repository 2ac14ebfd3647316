internal import CDBus
internal import EventLoop
internal import Glibc

/// Limits on what this process allocates for one message of a peer.
struct DecodingLimits {
  /// Values of any kind. An array of bytes is one value.
  var values: Int
  /// Bytes of text and of byte arrays together.
  var bytes: Int

  /// For replies, because this process has requested them.
  static let reply = DecodingLimits(values: 1 << 18, bytes: 16 << 20)
  /// For signals, because many of them can wait for a slow reader.
  static let signal = DecodingLimits(values: 1 << 14, bytes: 1 << 20)
}

extension DecodingLimits {
  /// For the calls of an interface.
  init(_ limits: CallLimits) { self.init(values: limits.values, bytes: limits.bytes) }
}

/// Converts a received message's body to values.
///
/// libdbus has already validated the message: its nesting, its lengths, UTF-8. This reader only has to bound the
/// amount.
///
/// Ownership: text is copied out of the message. libdbus returns a duplicate of a file descriptor, which the
/// `FileDescriptor` in the value owns. The message closes its own descriptor.
struct MessageReader {
  private var remaining: DecodingLimits

  init(_ limits: DecodingLimits) {
    remaining = limits
  }

  mutating func read(_ message: OpaquePointer, signature: Signature) throws(BusError) -> [Value] {
    var iterator = DBusMessageIter()
    guard dbus_message_iter_init(message, &iterator) != 0 else { return [] }
    return try readAll(signature.types, &iterator)
  }

  private mutating func readAll(
    _ types: [SignatureType], _ iterator: inout DBusMessageIter
  ) throws(BusError) -> [Value] {
    var values: [Value] = []
    for type in types {
      values.append(try read(type, &iterator))
      dbus_message_iter_next(&iterator)
    }
    return values
  }

  private mutating func read(_ type: SignatureType, _ iterator: inout DBusMessageIter) throws(BusError) -> Value {
    try spend(values: 1)
    switch type {
    case .basic(let code): return try readBasic(code, &iterator)
    case .array(let element) where element.string == "y": return .bytes(try readBytes(&iterator))
    case .array(let element): return .array(element: element, try readElements(element, &iterator))
    case .dictionary(let key, let value):
      return .dictionary(key: key, value: value, try readEntries(key, value, &iterator))
    case .structure(let members):
      var inner = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &inner)
      return .structure(try readAll(members, &inner))
    case .variant:
      var inner = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &inner)
      guard let text = dbus_message_iter_get_signature(&inner) else { throw .noMemory("read a message") }
      defer { dbus_free(text) }
      guard let content = try Signature(String(cString: text)).types.first else {
        throw BusError(name: BusError.Name.inconsistentMessage, message: "a variant holds nothing")
      }
      return .variant(try read(content, &inner))
    }
  }

  private mutating func readElements(
    _ signature: Signature, _ iterator: inout DBusMessageIter
  ) throws(BusError) -> [Value] {
    guard let type = signature.types.first else { return [] }
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    var elements: [Value] = []
    while dbus_message_iter_get_arg_type(&inner) != endOfContainer {
      elements.append(try read(type, &inner))
      dbus_message_iter_next(&inner)
    }
    return elements
  }

  private mutating func readEntries(
    _ key: Signature, _ value: Signature, _ iterator: inout DBusMessageIter
  ) throws(BusError) -> [DictionaryEntry] {
    guard let keyType = key.types.first, let valueType = value.types.first else { return [] }
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    var entries: [DictionaryEntry] = []
    while dbus_message_iter_get_arg_type(&inner) != endOfContainer {
      var entry = DBusMessageIter()
      dbus_message_iter_recurse(&inner, &entry)
      let key = try read(keyType, &entry)
      dbus_message_iter_next(&entry)
      entries.append(DictionaryEntry(key, try read(valueType, &entry)))
      dbus_message_iter_next(&inner)
    }
    return entries
  }

  private mutating func readBytes(_ iterator: inout DBusMessageIter) throws(BusError) -> [UInt8] {
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    var start: UnsafePointer<UInt8>?
    var count: Int32 = 0
    dbus_message_iter_get_fixed_array(&inner, &start, &count)
    try spend(bytes: Int(count))
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }

  private mutating func readBasic(_ code: UInt8, _ iterator: inout DBusMessageIter) throws(BusError) -> Value {
    switch code {
    case TypeCode.byte: return .byte(basic(0, &iterator))
    case TypeCode.boolean: return .boolean(basic(dbus_bool_t(0), &iterator) != 0)
    case TypeCode.int16: return .int16(basic(0, &iterator))
    case TypeCode.uint16: return .uint16(basic(0, &iterator))
    case TypeCode.int32: return .int32(basic(0, &iterator))
    case TypeCode.uint32: return .uint32(basic(0, &iterator))
    case TypeCode.int64: return .int64(basic(0, &iterator))
    case TypeCode.uint64: return .uint64(basic(0, &iterator))
    case TypeCode.double: return .double(basic(0, &iterator))
    case TypeCode.objectPath: return .objectPath(ObjectPath(validated: try readText(&iterator)))
    case TypeCode.signature: return .signature(try Signature(readText(&iterator)))
    case TypeCode.unixFD:
      let descriptor: Int32 = basic(-1, &iterator)
      guard descriptor >= 0 else { throw .failed("no file descriptor is left for one that arrived in a message") }
      return .unixFD(FileDescriptor(owning: descriptor))
    default: return .string(try readText(&iterator))
    }
  }

  private func basic<T: BitwiseCopyable>(_ initial: T, _ iterator: inout DBusMessageIter) -> T {
    var value = initial
    dbus_message_iter_get_basic(&iterator, &value)
    return value
  }

  private mutating func readText(_ iterator: inout DBusMessageIter) throws(BusError) -> String {
    var pointer: UnsafePointer<CChar>?
    dbus_message_iter_get_basic(&iterator, &pointer)
    guard let pointer else { return "" }
    try spend(bytes: strlen(pointer))
    return String(cString: pointer)
  }

  private mutating func spend(values: Int = 0, bytes: Int = 0) throws(BusError) {
    remaining.values -= values
    remaining.bytes -= bytes
    guard remaining.values >= 0, remaining.bytes >= 0 else {
      throw .limitsExceeded("a message holds more than this process is willing to read")
    }
  }
}

/// `DBUS_TYPE_INVALID`, a character macro. libdbus returns it after the last element of a container.
private let endOfContainer: Int32 = 0
