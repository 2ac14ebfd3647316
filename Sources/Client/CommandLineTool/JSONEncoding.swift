import Names

extension JSONTree {
  /// Encodes a value, with the keys of each object in order. Throws for a number that JSON does not have, such as
  /// infinity.
  init(encoding value: some Encodable) throws {
    let node = EncodedNode()
    try value.encode(to: TreeEncoder(node: node))
    self = node.tree
  }
}

/// A value of the tree while it is encoded. A value may ask for several containers, which add to one object.
private final class EncodedNode {
  /// Nil for a list or an object. A value that encodes nothing is an empty object.
  var value: JSONTree?
  /// Nil if it is not a list.
  private var elements: [EncodedNode]?
  private var members: [String: EncodedNode] = [:]

  var tree: JSONTree {
    if let value { return value }
    if let elements { return .array(elements.map(\.tree)) }
    return .object(members.sorted { $0.key < $1.key }.map { JSONTree.Member(key: $0.key, value: $0.value.tree) })
  }

  func member(_ key: String) -> EncodedNode {
    let node = EncodedNode()
    members[key] = node
    return node
  }

  func becomeList() { elements = elements ?? [] }

  func element() -> EncodedNode {
    let node = EncodedNode()
    elements?.append(node)
    return node
  }
}

private struct TreeEncoder: Encoder {
  let node: EncodedNode
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(ObjectContainer(node: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeList()
    return ListContainer(node: node)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { ValueContainer(node: node) }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { node.member(key.stringValue).value = .null }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    try value.encode(to: superEncoder(forKey: key))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    superEncoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    superEncoder(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { TreeEncoder(node: node.member("super")) }

  func superEncoder(forKey key: Key) -> any Encoder { TreeEncoder(node: node.member(key.stringValue)) }
}

private struct ListContainer: UnkeyedEncodingContainer {
  let node: EncodedNode
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(node: EncodedNode) { self.node = node }

  mutating func encodeNil() { next().value = .null }

  mutating func encode(_ value: some Encodable) throws { try value.encode(to: superEncoder()) }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    superEncoder().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }

  mutating func superEncoder() -> any Encoder { TreeEncoder(node: next()) }

  private mutating func next() -> EncodedNode {
    count += 1
    return node.element()
  }
}

private struct ValueContainer: SingleValueEncodingContainer {
  let node: EncodedNode
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { node.value = .null }

  func encode(_ value: Bool) { node.value = .boolean(value) }

  func encode(_ value: String) { node.value = .string(value) }

  func encode(_ value: Double) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(
        value, EncodingError.Context(codingPath: [], debugDescription: "JSON has finite numbers only"))
    }
    node.value = .decimal(value)
  }

  func encode(_ value: Float) throws { try encode(Double(value)) }

  func encode(_ value: some BinaryInteger & Encodable) { node.value = .integer(Int128(value)) }

  func encode(_ value: some Encodable) throws { try value.encode(to: TreeEncoder(node: node)) }
}
