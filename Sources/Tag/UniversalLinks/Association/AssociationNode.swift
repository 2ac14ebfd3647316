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
      let name = isPlain ? String(member.name.prefix(40)) : AssociationError.quoted(member.name)
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
