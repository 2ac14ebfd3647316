import Names

extension AppSiteAssociation {
  /// The maximum size of a file in bytes. Apple's limit is the same.
  public static let maximumSize = 128 * 1024
  /// The maximum cost of all patterns in a file. The cost of a variable is added at each use.
  static let maximumCost = 1 << 18
  static let maximumRemarks = 20

  /// Reads a file.
  ///
  /// One error anywhere rejects the whole file, because a skipped rule might be an exclusion. The parts of the file
  /// other than `applinks` only have to be valid JSON.
  ///
  /// - Parameter json: the file in UTF-8.
  /// - Throws: `AssociationError` with line, column and location.
  public init(json: [UInt8]) throws(AssociationError) {
    let root = try AssociationNode.root(of: json)
    guard let applinks = try root.members().first(where: { $0.name == "applinks" })?.node else {
      throw root.error("there is no \"applinks\"")
    }
    var reader = AssociationReader()
    details = try reader.details(of: applinks)
    remarks = reader.remarks
  }
}

/// Turns the values of a file into rules, and reports invalid values with their location.
private struct AssociationReader {
  private(set) var remarks: [AssociationError] = []
  private var variables = SubstitutionVariables()
  private var cost = 0

  private typealias Members = [String: AssociationNode]

  mutating func details(of applinks: AssociationNode) throws(AssociationError) -> [AppSiteAssociation.Detail] {
    let members = try members(of: applinks, known: ["apps", "defaults", "details", "substitutionVariables"])
    for (name, node) in try members["substitutionVariables"]?.members() ?? [] {
      let values = try node.texts()
      try node.located { () throws(AssociationError) in try variables.define(name, as: values) }
    }
    let defaults = try settings(of: members["defaults"])
    guard let list = members["details"] else { throw applinks.error("there is no \"details\"") }
    var details: [AppSiteAssociation.Detail] = []
    if case .object = list.value.content {
      // The form of 2015, which some files still have: an object with a member for each application.
      for (appID, node) in try list.members() { details.append(try detail(node, defaults, appID: appID)) }
    } else {
      for node in try list.elements() { details.append(try detail(node, defaults)) }
    }
    return details
  }

  private mutating func detail(
    _ node: AssociationNode, _ defaults: Members, appID: String? = nil
  ) throws(AssociationError) -> AppSiteAssociation.Detail {
    let members = try members(of: node, known: ["appID", "appIDs", "components", "defaults", "paths"])
    var appIDs = appID.map { [$0] } ?? []
    if let list = members["appIDs"] {
      appIDs = try list.texts()
    } else if let appID = members["appID"] {
      appIDs = [try appID.text()]
    }
    guard !appIDs.isEmpty else { throw node.error("there is neither appIDs nor appID") }
    let defaults = try settings(of: members["defaults"]).merging(defaults) { near, _ in near }
    var rules: [LinkRule] = []
    if let components = members["components"] {
      for node in try components.elements() { rules.append(try rule(node, defaults)) }
    } else if let paths = members["paths"] {
      for node in try paths.elements() { rules.append(try rule(path: node)) }
    } else {
      throw node.error("there are neither components nor paths")
    }
    return AppSiteAssociation.Detail(appIDs: appIDs, rules: rules)
  }

  /// Adds to the cost after each pattern, because one rule may have too many patterns for the memory.
  private mutating func charge(_ more: Int, at node: AssociationNode) throws(AssociationError) {
    cost += more
    guard cost <= AppSiteAssociation.maximumCost else {
      throw node.error("the patterns up to here are more than can be tried on each link")
    }
  }

  /// The nearest setting applies. Defaults may hold the same members as a component (Apple, "applinks.Defaults").
  private mutating func rule(_ node: AssociationNode, _ defaults: Members) throws(AssociationError) -> LinkRule {
    let settings = try settings(of: node).merging(defaults) { near, _ in near }
    try charge(LinkRule.ownCost, at: node)
    let comparison = LinkPattern.Comparison(
      isCaseSensitive: try settings["caseSensitive"]?.boolean() ?? true,
      isPercentEncoded: try settings["percentEncoded"]?.boolean() ?? true)
    return LinkRule(
      location: node.location, isExclusion: try settings["exclude"]?.boolean() ?? false, comparison: comparison,
      path: try pattern(settings["/"], comparison), query: try query(settings["?"], comparison),
      fragment: try pattern(settings["#"], comparison))
  }

  private mutating func pattern(
    _ node: AssociationNode?, _ comparison: LinkPattern.Comparison
  ) throws(AssociationError) -> LinkPattern? {
    guard let node else { return nil }
    let text = try node.text()
    let pattern = try node.located { () throws(AssociationError) in
      try LinkPattern(text, comparison: comparison, variables: variables)
    }
    try charge(pattern.cost + 1, at: node)
    if comparison.isPercentEncoded, pattern.hasCharactersThatNoLinkHas {
      remark("it never matches: links have such characters percent-encoded; see percentEncoded", at: node)
    }
    return pattern
  }

  private mutating func query(
    _ node: AssociationNode?, _ comparison: LinkPattern.Comparison
  ) throws(AssociationError) -> LinkRule.Query? {
    guard let node else { return nil }
    switch node.value.content {
    case .text: return try pattern(node, comparison).map(LinkRule.Query.whole)
    case .object:
      var items: [LinkRule.Item] = []
      for (name, item) in try node.members() {
        guard let pattern = try pattern(item, comparison) else { continue }
        items.append(LinkRule.Item(name: Array(name.utf8), pattern: pattern))
      }
      return .items(items)
    default: throw node.error("it is neither a text nor an object")
    }
  }

  /// Reads a rule in the form before `components`: only a path pattern, without variables. `NOT ` in front excludes
  /// links.
  private mutating func rule(path node: AssociationNode) throws(AssociationError) -> LinkRule {
    let text = try node.text()
    let isExclusion = text.hasPrefix("NOT ")
    let path = try node.located { () throws(AssociationError) in
      try LinkPattern(String(isExclusion ? text.dropFirst(4) : text[...]), variables: nil)
    }
    try charge(LinkRule.ownCost + path.cost, at: node)
    return LinkRule(
      location: node.location, isExclusion: isExclusion, comparison: path.comparison, path: path, query: nil,
      fragment: nil)
  }

  private mutating func settings(of node: AssociationNode?) throws(AssociationError) -> Members {
    guard let node else { return [:] }
    return try members(
      of: node, known: ["/", "?", "#", "exclude", "caseSensitive", "percentEncoded", "comment"])
  }

  /// The known members. Every other member gets a remark: a misspelt name changes the rule, and its author might not
  /// notice.
  private mutating func members(of node: AssociationNode, known: Set<String>) throws(AssociationError) -> Members {
    var members: Members = [:]
    for (name, member) in try node.members() {
      if known.contains(name) {
        members[name] = member
      } else {
        remark("a member of this name means nothing here", at: member)
      }
    }
    return members
  }

  private mutating func remark(_ message: String, at node: AssociationNode) {
    guard remarks.count < AppSiteAssociation.maximumRemarks else { return }
    remarks.append(node.error(message))
  }
}

/// A value of an association file and its location, which error messages show.
struct AssociationNode {
  let value: JSONValue
  /// For example `applinks.details[0]`; empty for the whole file.
  let location: String
  /// The whole file.
  let bytes: [UInt8]

  /// Reads the value of a whole file.
  static func root(of json: [UInt8]) throws(AssociationError) -> AssociationNode {
    guard json.count <= AppSiteAssociation.maximumSize else {
      throw AssociationError("the file has more than \(AppSiteAssociation.maximumSize) bytes")
    }
    do throws(JSONError) {
      return AssociationNode(value: try JSONReader.value(of: json), location: "", bytes: json)
    } catch {
      throw AssociationError("it is not JSON: \(error.message)", position: .init(offset: error.offset, in: json))
    }
  }

  /// An error about this value.
  func error(_ message: String) -> AssociationError {
    AssociationError(message, at: location, position: .init(offset: value.offset, in: bytes))
  }

  private func child(_ value: JSONValue, _ step: String) -> AssociationNode {
    AssociationNode(value: value, location: location + step, bytes: bytes)
  }

  /// The members of an object, in the order of the file.
  func members() throws(AssociationError) -> [(name: String, node: AssociationNode)] {
    guard case .object(let members) = value.content else { throw error("it is not an object") }
    return members.map { member in
      let isPlain =
        !member.name.isEmpty
        && member.name.utf8.allSatisfy { CharacterClasses.isAlpha($0) || CharacterClasses.isDigit($0) || $0 == 0x5F }
      let name = isPlain ? String(member.name.prefix(40)) : JSONReader.quoted(member.name)
      return (member.name, child(member.value, location.isEmpty ? name : "." + name))
    }
  }

  func elements() throws(AssociationError) -> [AssociationNode] {
    guard case .list(let elements) = value.content else { throw error("it is not a list") }
    return elements.indices.map { child(elements[$0], "[\($0)]") }
  }

  func text() throws(AssociationError) -> String {
    guard case .text(let text) = value.content else { throw error("it is not a text") }
    return text
  }

  func texts() throws(AssociationError) -> [String] {
    var texts: [String] = []
    for element in try elements() { texts.append(try element.text()) }
    return texts
  }

  func boolean() throws(AssociationError) -> Bool {
    guard case .boolean(let value) = value.content else { throw error("it is neither true nor false") }
    return value
  }

  /// Runs `body`, and reports its errors at the location of this value.
  func located<Result>(_ body: () throws(AssociationError) -> Result) throws(AssociationError) -> Result {
    do throws(AssociationError) {
      return try body()
    } catch {
      throw self.error(error.message)
    }
  }
}

extension AssociationError.Position {
  init(offset: Int, in bytes: [UInt8]) {
    let before = bytes.prefix(offset)
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    line = 1 + before.count { $0 == 0x0A }
    // Continuation bytes of UTF-8 are 10xxxxxx.
    column = 1 + before[start...].count { $0 & 0xC0 != 0x80 }
  }
}

/// An error in an association file, with its place.
public struct AssociationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A line and a column in a file.
  public struct Position: Sendable, Hashable, CustomStringConvertible {
    /// Counted from 1, by line feeds.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int

    /// Line and column in the format of compiler messages.
    public var description: String { "\(line):\(column)" }
  }

  /// The line and column of the error. Nil if the error has none: the file is too large, or there is no file.
  public let position: Position?
  /// The location as a path through the file, `applinks.details[0].components[2]`. Empty for the file as a whole, and
  /// if it is not JSON.
  public let location: String
  /// The error, as a sentence without its full stop.
  public let message: String

  init(_ message: String, at location: String = "", position: Position? = nil) {
    self.message = message
    self.location = location
    self.position = position
  }

  /// Position, location and message.
  public var description: String {
    (position.map { "\($0): " } ?? "") + (location.isEmpty ? "" : location + ": ") + message
  }
}
