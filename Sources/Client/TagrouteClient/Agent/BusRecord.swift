package import Bus
import Names

/// A dictionary that the agent returns. One list of keys serves the agent, its clients and the JSON of the command
/// line.
package protocol BusRecord: Encodable, SendableMetatype {
  /// A record without any keys.
  init()
  /// Every key that a dictionary may have.
  static var fields: [BusField<Self>] { get }
  /// The keys of this one.
  var presentFields: [BusField<Self>] { get }
}

extension BusRecord {
  package var presentFields: [BusField<Self>] { Self.fields }

  /// Decodes a dictionary. Ignores unknown keys. A missing key, or a value of another type, leaves the default.
  package init(_ values: [String: Value]) {
    self.init()
    for field in Self.fields {
      if let value = values[field.key] { field.decode(&self, value) }
    }
  }

  /// The dictionary. A key that is nil is absent.
  package var values: [String: Value] {
    var values: [String: Value] = [:]
    for field in presentFields { values[field.key] = field.value(self) }
    return values
  }

  /// Encodes an object with the keys of the dictionary in camel case. A value that is nil is null, because scripts look
  /// for the key. Bytes are hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for field in presentFields where field.isInJSON {
      try container.encode(field.json(self), forKey: field.jsonKey)
    }
  }
}

/// One key of a dictionary, and the property that holds its value.
package struct BusField<Record>: Sendable {
  package typealias Path<Property> = WritableKeyPath<Record, Property> & Sendable

  let key: String
  /// Whether the command line prints it.
  var isInJSON = true
  let decode: @Sendable (inout Record, Value) -> Void
  /// Nil if the key is absent.
  let value: @Sendable (Record) -> Value?
  let json: @Sendable (Record) -> any Encodable

  private init(
    key: String, decode: @escaping @Sendable (inout Record, Value) -> Void,
    value: @escaping @Sendable (Record) -> Value?, json: @escaping @Sendable (Record) -> any Encodable
  ) {
    (self.key, self.decode, self.value, self.json) = (key, decode, value, json)
  }

  /// The key in camel case.
  var jsonKey: JSONKey {
    let words = key.split(separator: "-")
    return JSONKey(
      stringValue: words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
  }

  private init<Property>(
    _ key: String, _ path: any Path<Property>, _ decode: @escaping @Sendable (Value) -> Property?,
    _ encode: @escaping @Sendable (Property) -> Value?, json: @escaping @Sendable (Property) -> any Encodable
  ) {
    self.key = key
    self.decode = { record, value in if let decoded = decode(value) { record[keyPath: path] = decoded } }
    value = { encode($0[keyPath: path]) }
    self.json = { json($0[keyPath: path]) }
  }

  static func flag(_ key: String, _ path: any Path<Bool>) -> BusField {
    BusField(key, path, \.asBool, Value.boolean) { $0 }
  }

  static func text(_ key: String, _ path: any Path<String>) -> BusField {
    BusField(key, path, \.asString, Value.string) { $0 }
  }

  static func text(_ key: String, _ path: any Path<String?>) -> BusField {
    BusField(key, path, \.asString, { $0.map(Value.string) }) { $0 }
  }

  /// Nil is an empty text on the bus.
  static func textOrEmpty(_ key: String, _ path: any Path<String?>) -> BusField {
    BusField(key, path, { $0.asString.map { $0.isEmpty ? nil : $0 } }, { .string($0 ?? "") }) { $0 }
  }

  static func texts(_ key: String, _ path: any Path<[String]>) -> BusField {
    BusField(key, path, \.asStrings, Value.strings) { $0 }
  }

  static func number(_ key: String, _ path: any Path<UInt32>) -> BusField {
    BusField(key, path, \.asUInt32, Value.uint32) { $0 }
  }

  static func number(_ key: String, _ path: any Path<UInt32?>) -> BusField {
    BusField(key, path, \.asUInt32, { $0.map(Value.uint32) }) { $0 }
  }

  static func number(_ key: String, _ path: any Path<UInt64>) -> BusField {
    BusField(key, path, \.asUInt64, Value.uint64) { $0 }
  }

  static func number(_ key: String, _ path: any Path<UInt64?>) -> BusField {
    BusField(key, path, \.asUInt64, { $0.map(Value.uint64) }) { $0 }
  }

  static func bytes(_ key: String, _ path: any Path<[UInt8]>) -> BusField {
    BusField(key, path, \.asBytes, Value.bytes, json: Hexadecimal.text)
  }

  static func bytes(_ key: String, _ path: any Path<[UInt8]?>) -> BusField {
    BusField(key, path, \.asBytes, { $0.map(Value.bytes) }) { $0.map(Hexadecimal.text) }
  }

  static func records<Element: BusRecord>(_ key: String, _ path: any Path<[Element]>) -> BusField {
    BusField(
      key, path, { $0.asArray?.compactMap(\.asDictionary).map(Element.init) },
      { .dictionaries($0.map(\.values)) }
    ) { $0 }
  }

  /// A key that only the command line prints.
  static func printed(_ key: String, _ text: @escaping @Sendable (Record) -> String?) -> BusField {
    BusField(key: key, decode: { _, _ in }, value: { _ in nil }) { text($0) }
  }

  /// The same key, which the command line does not print.
  var notInJSON: BusField {
    var field = self
    field.isInJSON = false
    return field
  }
}

package struct JSONKey: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(stringValue: String) { self.stringValue = stringValue }

  package init?(intValue: Int) { nil }
}
