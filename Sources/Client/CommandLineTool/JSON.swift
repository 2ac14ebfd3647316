import TagrouteClient

/// A JSON object as a literal. A value that is nil is null, because scripts look for the key.
struct JSON: Encodable, Sendable, ExpressibleByDictionaryLiteral {
  var members: [(String, any Encodable & Sendable)]

  init(dictionaryLiteral members: (String, any Encodable & Sendable)...) { self.members = members }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for (key, value) in members { try container.encode(value, forKey: JSONKey(stringValue: key)) }
  }
}

/// An optional value that is null in JSON. A synthesized `encode(to:)` would omit the key, and scripts look for it.
@propertyWrapper struct OrNull<Value: Encodable>: Encodable {
  var wrappedValue: Value?

  init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension OrNull: Sendable where Value: Sendable {}

extension OrNull: Equatable where Value: Equatable {}
