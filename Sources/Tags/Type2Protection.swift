/// The protection of pages by a password (NTAG) or a key (Ultralight C), which nobody here knows.
enum Type2Protection {
  /// Why such a tag is not written.
  static let problem = TagProblem(.protected, "the tag lets itself be written only with its password or key")

  /// Where AUTH0 is, the number of the first page that is protected.
  struct Place: Sendable {
    /// A page from which READ gets it.
    let page: Int
    let address: Int
    /// What AUTH0 may be where it protects anything.
    let valid: ClosedRange<Int>

    /// As all tags with a password have it: FFh protects nothing.
    static func atEnd(ofPage page: Int) -> Place {
      Place(page: page, address: page * Type2Access.pageSize + 3, valid: 0...0xFE)
    }

    /// - Parameter memory: with the page.
    /// - Returns: a page, `Int.max` where none is protected.
    func firstProtectedPage(_ memory: TagMemory) -> Int {
      guard let first = memory[address].map(Int.init), valid.contains(first) else { return .max }
      return first
    }
  }
}
