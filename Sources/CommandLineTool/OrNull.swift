/// What may be absent of an answer in JSON: null then, since scripts look for the key, which a synthesized `encode(to:)` leaves away.
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
