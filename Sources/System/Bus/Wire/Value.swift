public import EventLoop

/// One value of any D-Bus type.
///
/// An array of bytes is always `bytes`, and an array of dictionary entries always `dictionary`, in sent and in received
/// messages.
public enum Value: Sendable, Hashable {
  /// `y`
  case byte(UInt8)
  /// `b`
  case boolean(Bool)
  /// `n`
  case int16(Int16)
  /// `q`
  case uint16(UInt16)
  /// `i`
  case int32(Int32)
  /// `u`
  case uint32(UInt32)
  /// `x`
  case int64(Int64)
  /// `t`
  case uint64(UInt64)
  /// `d`
  case double(Double)
  /// `s`: text without U+0000.
  case string(String)
  /// `o`
  case objectPath(ObjectPath)
  /// `g`
  case signature(Signature)
  /// `h`: sending duplicates the descriptor, so the sender keeps its own. The receiver owns the one that arrives.
  case unixFD(FileDescriptor)
  /// `ay`
  case bytes([UInt8])
  /// `a` and the element type, which is one complete type, but neither a byte nor a dictionary entry.
  indirect case array(element: Signature, [Value])
  /// `a{…}`: the key has a basic type. Entries keep their order.
  indirect case dictionary(key: Signature, value: Signature, [DictionaryEntry])
  /// `(…)`: at least one member.
  case structure([Value])
  /// `v`
  indirect case variant(Value)
}

/// One entry of a dictionary.
public struct DictionaryEntry: Sendable, Hashable {
  /// A value of a basic type.
  public let key: Value
  /// A value of any type.
  public let value: Value

  /// - Parameters:
  ///   - key: a value of a basic type.
  ///   - value: a value of any type.
  public init(_ key: Value, _ value: Value) {
    self.key = key
    self.value = value
  }
}

extension Value {
  /// The code of this value's type, or nil if containers are nested deeper than any message allows.
  func typeCode(depth: Int = 0) -> String? {
    guard depth <= WireCheck.maximumDepth else { return nil }
    switch self {
    case .byte: return "y"
    case .boolean: return "b"
    case .int16: return "n"
    case .uint16: return "q"
    case .int32: return "i"
    case .uint32: return "u"
    case .int64: return "x"
    case .uint64: return "t"
    case .double: return "d"
    case .string: return "s"
    case .objectPath: return "o"
    case .signature: return "g"
    case .unixFD: return "h"
    case .bytes: return "ay"
    case .array(let element, _): return "a" + element.string
    case .dictionary(let key, let value, _): return "a{" + key.string + value.string + "}"
    case .structure(let members):
      var code = "("
      for member in members {
        guard let memberCode = member.typeCode(depth: depth + 1) else { return nil }
        code += memberCode
      }
      return code + ")"
    case .variant: return "v"
    }
  }
}

extension Value {
  /// `as`
  public static func strings(_ strings: [String]) -> Value {
    .array(element: "s", strings.map { .string($0) })
  }

  /// `ao`
  public static func objectPaths(_ paths: [ObjectPath]) -> Value {
    .array(element: "o", paths.map { .objectPath($0) })
  }

  /// `a{sv}`, sorted by key.
  ///
  /// - Parameter entries: the values without variants around them. A value that is already a variant is not wrapped
  ///   again.
  /// - Returns: a dictionary of variants.
  public static func dictionary(_ entries: [String: Value]) -> Value {
    .dictionary(
      key: "s", value: "v",
      entries.sorted { $0.key < $1.key }.map { DictionaryEntry(.string($0.key), $0.value.wrapped) })
  }

  /// `aa{sv}`
  ///
  /// - Parameter dictionaries: as for `dictionary(_:)`.
  /// - Returns: an array of dictionaries of variants.
  public static func dictionaries(_ dictionaries: [[String: Value]]) -> Value {
    .array(element: "a{sv}", dictionaries.map { .dictionary($0) })
  }

  private var wrapped: Value {
    if case .variant = self { self } else { .variant(self) }
  }

  /// `a{sb}`, sorted by key.
  ///
  /// - Parameter entries: the values.
  /// - Returns: a dictionary of booleans.
  public static func booleans(_ entries: [String: Bool]) -> Value {
    .dictionary(
      key: "s", value: "b",
      entries.sorted { $0.key < $1.key }.map { DictionaryEntry(.string($0.key), .boolean($0.value)) })
  }

  /// The content of a variant, or the value itself if it is not a variant.
  public var unwrapped: Value {
    if case .variant(let value) = self { value } else { self }
  }
}

/// The value if it has exactly this type, else nil. A variant is not unwrapped.
extension Value {
  /// `y`
  public var asByte: UInt8? { if case .byte(let value) = self { value } else { nil } }
  /// `b`
  public var asBool: Bool? { if case .boolean(let value) = self { value } else { nil } }
  /// `q`
  public var asUInt16: UInt16? { if case .uint16(let value) = self { value } else { nil } }
  /// `i`
  public var asInt32: Int32? { if case .int32(let value) = self { value } else { nil } }
  /// `u`
  public var asUInt32: UInt32? { if case .uint32(let value) = self { value } else { nil } }
  /// `t`
  public var asUInt64: UInt64? { if case .uint64(let value) = self { value } else { nil } }
  /// `s`
  public var asString: String? { if case .string(let value) = self { value } else { nil } }
  /// `o`
  public var asObjectPath: ObjectPath? { if case .objectPath(let value) = self { value } else { nil } }
  /// `h`
  public var asUnixFD: FileDescriptor? { if case .unixFD(let value) = self { value } else { nil } }
  /// `ay`
  public var asBytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  /// The elements of an array of anything but bytes and dictionary entries.
  public var asArray: [Value]? { if case .array(_, let elements) = self { elements } else { nil } }
  /// The members of a structure.
  public var asStructure: [Value]? { if case .structure(let members) = self { members } else { nil } }

  /// `as`
  public var asStrings: [String]? {
    guard case .array(let element, let elements) = self, element.string == "s" else { return nil }
    return elements.compactMap(\.asString)
  }

  /// `ao`
  public var asObjectPaths: [ObjectPath]? {
    guard case .array(let element, let elements) = self, element.string == "o" else { return nil }
    return elements.compactMap(\.asObjectPath)
  }

  /// `a{s…}` with the values unwrapped from their variants. If a key occurs twice, the last value is used.
  public var asDictionary: [String: Value]? {
    guard case .dictionary(let key, _, let entries) = self, key.string == "s" else { return nil }
    var dictionary: [String: Value] = [:]
    for entry in entries {
      guard let name = entry.key.asString else { return nil }
      dictionary[name] = entry.value.unwrapped
    }
    return dictionary
  }

  /// `a{sb}`. If a key occurs twice, the last value is used.
  public var asBooleans: [String: Bool]? {
    guard case .dictionary(let key, let value, _) = self, key.string == "s", value.string == "b" else { return nil }
    return asDictionary?.compactMapValues(\.asBool)
  }
}
