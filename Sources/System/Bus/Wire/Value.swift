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
