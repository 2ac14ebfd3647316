import Rig

/// The members of one interface in an introspection document, without their order and comments, for comparison.
package struct InterfaceDescription: Sendable, Hashable, CustomStringConvertible {
  /// One line per member, for example `method Open(in id s, in options a{sv})`, with its annotations.
  package let members: Set<String>

  /// The members, sorted, one per line.
  package var description: String { members.sorted().joined(separator: "\n") }

  /// Reads one interface of a document in the D-Bus introspection format.
  package init(of name: String, in xml: String) {
    var members: Set<String> = []
    var isInside = false
    var member: (kind: String, name: String, details: [String])?
    for tag in InterfaceDescription.tags(of: xml) {
      switch (tag.name, tag.isEnd) {
      case ("interface", _): isInside = !tag.isEnd && tag.attributes["name"] == name
      case ("method", false), ("signal", false), ("property", false):
        guard isInside else { continue }
        let type = [tag.attributes["type"], tag.attributes["access"]].compactMap(\.self)
        member = (tag.name, tag.attributes["name"] ?? "", type)
      case ("arg", false):
        let direction = tag.attributes["direction"] ?? (member?.kind == "method" ? "in" : "out")
        member?.details.append("\(direction) \(tag.attributes["name"] ?? "") \(tag.attributes["type"] ?? "")")
      case ("annotation", false):
        member?.details.append("\(tag.attributes["name"] ?? "") = \(tag.attributes["value"] ?? "")")
      default: break
      }
      let isOver = tag.isEnd || tag.isEmpty
      if isOver, ["method", "signal", "property"].contains(tag.name), let whole = member {
        members.insert("\(whole.kind) \(whole.name)(\(whole.details.joined(separator: ", ")))")
        member = nil
      }
    }
    self.members = members
  }

  /// Reads the description from one of the project's own files.
  package init(documented name: String) throws {
    let bytes = try readFile("\(repositoryRoot)/Config/dbus/interfaces/\(name).xml")
    self.init(of: name, in: String(decoding: bytes, as: UTF8.self))
  }

  private struct Tag {
    let name: String
    let attributes: [String: String]
    let isEnd: Bool
    let isEmpty: Bool
  }

  private static func tags(of xml: String) -> [Tag] {
    let text = xml.replacing(/<!--.*?-->/.dotMatchesNewlines(), with: "")
    return text.matches(of: /<(\/?)([a-z]+)([^>]*?)(\/?)>/).map { match in
      let attributes = match.output.3.matches(of: /([a-z]+)="([^"]*)"/).map {
        (String($0.output.1), String($0.output.2))
      }
      return Tag(
        name: String(match.output.2), attributes: Dictionary(attributes) { first, _ in first },
        isEnd: !match.output.1.isEmpty, isEmpty: !match.output.4.isEmpty)
    }
  }
}
