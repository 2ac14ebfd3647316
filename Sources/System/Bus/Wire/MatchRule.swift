/// Which signals to receive ("Match Rules" in the specification). A property that is nil matches every signal.
public struct MatchRule: Sendable, Hashable {
  /// A unique or a well-known name. A well-known name matches only signals of its current owner.
  public var sender: String?
  /// The object.
  public var path: ObjectPath?
  /// The object and everything below it.
  public var pathNamespace: ObjectPath?
  /// The interface.
  public var interface: String?
  /// The signal.
  public var member: String?
  /// The first argument, which must be a string.
  public var arg0: String?

  /// - Parameters:
  ///   - sender: a unique or a well-known name.
  ///   - path: the object; not together with `pathNamespace`.
  ///   - pathNamespace: the object and everything below it.
  ///   - interface: the interface.
  ///   - member: the signal.
  ///   - arg0: the first argument, which must be a string.
  public init(
    sender: String? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil, interface: String? = nil,
    member: String? = nil, arg0: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.arg0 = arg0
  }

  /// The rule as the bus reads it.
  func text() throws(BusError) -> String {
    if let sender { try NameRules.requireBusName(sender) }
    if let interface { try NameRules.requireInterface(interface) }
    if let member { try NameRules.requireMember(member) }
    if let arg0, !NameRules.isWireString(arg0) { throw .invalidValue("a match rule contains U+0000") }
    guard path == nil || pathNamespace == nil else {
      throw .invalidValue("a match rule may have a path or a path namespace, not both")
    }
    let parts: [(String, String?)] = [
      ("type", "signal"), ("sender", sender), ("path", path?.string), ("path_namespace", pathNamespace?.string),
      ("interface", interface), ("member", member), ("arg0", arg0),
    ]
    return parts.compactMap { key, value in value.map { "\(key)='\(Self.escape($0))'" } }.joined(separator: ",")
  }

  /// There are no escapes between apostrophes. So an apostrophe is written as `\'` between two quoted parts.
  private static func escape(_ value: String) -> String {
    value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
  }

  /// Whether a signal matches, apart from its sender and its arguments.
  func matches(path: ObjectPath, interface: String, member: String) -> Bool {
    if let wanted = self.path, wanted != path { return false }
    if let wanted = pathNamespace, wanted != path, !path.isBelow(wanted) { return false }
    if let wanted = self.interface, wanted != interface { return false }
    if let wanted = self.member, wanted != member { return false }
    return true
  }

  /// Whether the first of `arguments` matches `arg0`.
  func matches(_ arguments: [Value]) -> Bool {
    arg0 == nil || arguments.first?.asString == arg0
  }
}
