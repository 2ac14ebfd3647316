import TestKit

/// README.md or a page of docs, as its readers paste it.
///
/// A block is fenced by lines of three backticks. Blocks of the kind `sh` are commands. A block of the kind `ini` is a
/// file, if the text before it names a path of a file below `~/`. Other blocks are only read. A block that a test cannot
/// paste has the mark “not run” and the reason behind its kind:
///
///     ```sh not run: needs root
struct DocumentationPage {
  struct Block: Hashable {
    enum Contents: Hashable {
      /// Commands for a shell.
      case commands(String)
      /// A file, and its path below the home directory.
      case file(String, path: String)
      /// For readers only.
      case text(String)
    }

    /// The title of the section, or of the subsection. Empty before the first one.
    let section: String
    let kind: String
    let contents: Contents
    /// Why no test pastes the block.
    let reason: String?
  }

  /// The path below the root of the sources.
  let name: String
  private(set) var blocks: [Block] = []
  /// The titles of the sections without the subsections, in their order.
  private(set) var titles: [String] = []

  init(_ name: String) throws {
    try self.init(name, String(decoding: try readFile("\(repositoryRoot)/\(name)"), as: UTF8.self))
  }

  /// Throws if there is a block that a reader could paste and a test would not.
  init(_ name: String, _ text: String) throws {
    self.name = name
    var (section, words) = ("", "")
    var fence: (indentation: String, information: String, contents: String)?
    // An indented line is a block only after an empty line. Otherwise it belongs to a paragraph or to a list.
    var follows = true
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let indentation = line.prefix { $0 == " " }
      let rest = line.dropFirst(indentation.count)
      if let begun = fence {
        guard line == "\(begun.indentation)```" else {
          let isInside = line.hasPrefix(begun.indentation)
          fence?.contents += "\(isInside ? line.dropFirst(begun.indentation.count) : rest)\n"
          continue
        }
        blocks.append(try block(begun.information, begun.contents, section: section, after: words))
        (fence, words) = (nil, "")
      } else if rest.hasPrefix("```") {
        fence = (String(indentation), String(rest.dropFirst(3)), "")
      } else if line.hasPrefix("## ") || line.hasPrefix("### ") {
        section = String(line.drop { $0 == "#" }.dropFirst())
        if line.hasPrefix("## ") { titles.append(section) }
        words = ""
      } else if follows && indentation.count >= 4 || line.contains("\t") || rest.contains("```")
        || rest.hasPrefix("~~~")
      {
        throw RigError("\(name): write this as a block between lines of three backticks: \(line)")
      } else {
        words += "\(line)\n"
      }
      follows = rest.isEmpty
    }
    guard fence == nil else { throw RigError("\(name): the last block has no end") }
    guard Set(titles).count == titles.count else { throw RigError("\(name): two sections have one title") }
  }

  /// The blocks of a section or subsection, in their order.
  func blocks(of section: String) throws -> [Block] {
    let found = blocks.filter { $0.section == section }
    guard !found.isEmpty else { throw RigError("\(name) has no section “\(section)” with a block") }
    return found
  }

  /// The contents of the blocks of this kind in a section or subsection.
  func texts(_ kind: String, of section: String) throws -> [String] {
    try blocks(of: section).filter { $0.kind == kind }.map {
      switch $0.contents {
      case .commands(let text), .text(let text), .file(let text, _): text
      }
    }
  }

  private func block(_ information: String, _ text: String, section: String, after words: String) throws -> Block {
    let parts = information.split(separator: " ", maxSplits: 1).map(String.init)
    let kind = parts.first ?? ""
    var reason: String?
    if parts.count > 1 {
      guard let given = parts[1].wholeMatch(of: /not run: (\S.+)/) else {
        throw RigError("\(name): write “not run: ” and a reason: \(information)")
      }
      reason = String(given.1)
    }
    guard kind != "bash" && kind != "console" else { throw RigError("\(name): write “sh”: \(information)") }
    guard kind == "sh" || !text.hasPrefix("$ ") else {
      throw RigError("\(name): write “sh”, without a prompt: \(text)")
    }
    // Every second part is between backticks.
    let path = words.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      .last { $0.hasPrefix("~/") && $0.contains(/\.[a-z]+$/) }
    let contents: Block.Contents =
      switch (kind, path) {
      case ("sh", _): .commands(text)
      case ("ini", let path?): .file(text, path: String(path.dropFirst(2)))
      default: .text(text)
      }
    return Block(section: section, kind: kind, contents: contents, reason: reason)
  }
}
