import TestKit

/// docs/recipes.md as its readers paste it.
struct RecipePage {
  /// A code block of the page.
  enum Block: Hashable {
    /// Commands for a shell.
    case commands(String)
    /// A file to write. The text before the block has named its path below the home directory.
    case file(String, path: String)
  }

  /// The blocks before the first recipe: one to paste first, the others after a recipe.
  private(set) var preparation: [Block] = []
  /// The titles of the recipes, in their order.
  private(set) var titles: [String] = []
  private var blocks: [String: [Block]] = [:]

  /// Reads the page.
  init() throws {
    try self.init(String(decoding: try readFile("\(repositoryRoot)/docs/recipes.md"), as: UTF8.self))
  }

  /// Throws if there is a block that a reader could paste and a test would not.
  init(_ text: String) throws {
    var words = ""
    var fence: (kind: String, contents: String)?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let begun = fence {
        guard line == "```" else {
          fence?.contents += "\(line)\n"
          continue
        }
        add(try Self.block(begun.kind, begun.contents, after: words))
        (fence, words) = (nil, "")
      } else if line.hasPrefix("```") {
        fence = (String(line.dropFirst(3)), "")
      } else if line.hasPrefix("## ") {
        titles.append(String(line.dropFirst(3)))
        words = ""
      } else if line.hasPrefix("    ") || line.hasPrefix("\t") || line.contains("```") || line.hasPrefix("~~~") {
        throw RigError("docs/recipes.md: write this as a block with ```sh or ```ini: \(line)")
      } else {
        words += "\(line)\n"
      }
    }
    guard fence == nil else { throw RigError("docs/recipes.md: the last block has no end") }
    guard Set(titles).count == titles.count else { throw RigError("docs/recipes.md: two recipes have one title") }
  }

  /// The blocks of a recipe, in their order.
  func blocks(of title: String) throws -> [Block] {
    guard let found = blocks[title], !found.isEmpty else {
      throw RigError("docs/recipes.md has no recipe “\(title)” with something to paste")
    }
    return found
  }

  private mutating func add(_ block: Block) {
    guard let title = titles.last else { return preparation.append(block) }
    blocks[title, default: []].append(block)
  }

  private static func block(_ kind: String, _ contents: String, after words: String) throws -> Block {
    switch kind {
    case "sh": return .commands(contents)
    case "ini":
      // Every second part is between backticks.
      let quoted = words.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      guard let path = quoted.last(where: { $0.hasPrefix("~/") }) else {
        throw RigError("docs/recipes.md: the text before this block names no path below ~/:\n\(contents)")
      }
      return .file(contents, path: String(path.dropFirst(2)))
    default: throw RigError("docs/recipes.md: no test pastes a block of the kind “\(kind)”")
    }
  }
}
