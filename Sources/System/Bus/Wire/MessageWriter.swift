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

/// Decides whether values can be sent, before libdbus sees them.
///
/// libdbus aborts the process if a value is invalid, and the bus drops a connection that sends too much. So this check
/// finds every possible fault: U+0000 in text, array elements of the wrong type, structures without members, nesting,
/// lengths, the number of file descriptors.
struct WireCheck {
  /// The maximum nesting of containers, variants included ("Valid Signatures" and "Message Format" in the
  /// specification).
  static let maximumDepth = 64
  /// The maximum of `length`, in bytes: what one array may have, and half of what a message may have.
  static let maximumLength = 1 << 26
  /// The most bytes of a value besides its text, array elements or members: a number, a length, the padding before it.
  private static let overhead = 16
  /// The number of file descriptors that libdbus and dbus-daemon accept in one message.
  static let maximumFileDescriptors = 16

  /// An upper estimate of the body's length, in bytes.
  private var length = 0
  private var fileDescriptors = 0

  /// Checks a message body and returns its signature. The error names the first value that cannot be sent.
  static func signature(of body: [Value]) throws(BusError) -> Signature {
    guard !body.isEmpty else { return .empty }
    var code = ""
    for (index, value) in body.enumerated() {
      guard let valueCode = value.typeCode() else { throw tooDeep(index) }
      code += valueCode
      guard code.utf8.count <= 255 else { throw .invalidValue("the arguments' signature has more than 255 bytes") }
    }
    let signature = try Signature(code)
    // The count catches a value with a code for several types, for example an array with the element signature "ss".
    guard signature.types.count == body.count else { throw .invalidValue("an argument is not of one complete type") }
    var check = WireCheck()
    for (index, (value, type)) in zip(body, signature.types).enumerated() {
      do throws(Refusal) {
        try check.add(value, as: type, depth: 0)
      } catch {
        throw .invalidValue("argument \(index + 1): \(error.reason)")
      }
    }
    return signature
  }

  private static func tooDeep(_ index: Int) -> BusError {
    .invalidValue("argument \(index + 1): containers are nested more than \(maximumDepth) deep")
  }

  private struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private mutating func add(_ value: Value, as type: SignatureType, depth: Int) throws(Refusal) {
    guard depth <= Self.maximumDepth else {
      throw Refusal("containers are nested more than \(Self.maximumDepth) deep")
    }
    try grow(by: Self.overhead)
    switch (type, value) {
    case (.basic(let code), _): try addBasic(value, code: code)
    case (.variant, .variant(let content)): try addVariant(content, depth: depth)
    case (.array(let element), .bytes(let bytes)) where element.string == "y": try grow(by: bytes.count)
    case (.array(let element), .array(let declared, let elements)) where element == declared:
      try addElements(elements, of: element, depth: depth)
    case (.dictionary(let key, let content), .dictionary(let declaredKey, let declaredContent, let entries))
    where key == declaredKey && content == declaredContent:
      try addEntries(entries, key: key, value: content, depth: depth)
    case (.structure(let types), .structure(let members)) where types.count == members.count:
      for (type, member) in zip(types, members) { try add(member, as: type, depth: depth + 1) }
    default: throw Refusal("a value of type \(value.typeCode() ?? "?") stands where \(type.code) is declared")
    }
  }

  private mutating func addElements(_ elements: [Value], of signature: Signature, depth: Int) throws(Refusal) {
    guard let type = signature.types.first, signature.string != "y" else {
      throw Refusal("an array of bytes must be a `bytes` value")
    }
    for element in elements { try add(element, as: type, depth: depth + 1) }
  }

  private mutating func addEntries(
    _ entries: [DictionaryEntry], key: Signature, value: Signature, depth: Int
  ) throws(Refusal) {
    guard let keyType = key.types.first, let valueType = value.types.first else { throw Refusal("empty signature") }
    for entry in entries {
      // The entry is a container inside the array, and its key and value are inside the entry: two levels. The padding
      // before the entry takes the place of the padding before its key.
      try add(entry.key, as: keyType, depth: depth + 2)
      try add(entry.value, as: valueType, depth: depth + 2)
    }
  }

  private mutating func addVariant(_ content: Value, depth: Int) throws(Refusal) {
    guard let code = content.typeCode(), let signature = try? Signature(code), let type = signature.types.first,
      signature.isSingleType
    else { throw Refusal("a variant's content has no valid type") }
    try grow(by: code.utf8.count)
    try add(content, as: type, depth: depth + 1)
  }

  private mutating func addBasic(_ value: Value, code: UInt8) throws(Refusal) {
    guard let valueCode = value.typeCode(), valueCode.utf8.elementsEqual([code]) else {
      throw Refusal(
        "a value of type \(value.typeCode() ?? "?") stands where \(String(UnicodeScalar(code))) is declared")
    }
    switch value {
    case .string(let string):
      guard NameRules.isWireString(string) else { throw Refusal("a string contains U+0000") }
      try grow(by: string.utf8.count)
    case .objectPath(let path): try grow(by: path.string.utf8.count)
    case .signature(let signature): try grow(by: signature.string.utf8.count)
    case .unixFD(let descriptor):
      fileDescriptors += 1
      guard fileDescriptors <= Self.maximumFileDescriptors else {
        throw Refusal("more than \(Self.maximumFileDescriptors) file descriptors in a message")
      }
      guard descriptor.rawValue >= 0 else { throw Refusal("\(descriptor.rawValue) is not a file descriptor") }
    default: break
    }
  }

  private mutating func grow(by count: Int) throws(Refusal) {
    length += count
    guard length <= Self.maximumLength else {
      throw Refusal("the body may have more than the \(Self.maximumLength) bytes that are allowed")
    }
  }
}
