/// The protection of pages by a password (NTAG) or a key (Ultralight C). This code never knows the password or key.
enum Type2Protection {
  /// Why a protected tag is not written.
  static let problem = TagProblem(.protected, "the tag lets itself be written only with its password or key")

  /// The location of AUTH0, the number of the first protected page.
  struct Place: Sendable {
    /// A page from which READ returns AUTH0.
    let page: Int
    let address: Int
    /// The values of AUTH0 that protect a page.
    let valid: ClosedRange<Int>

    /// The location on all tags with a password. The value FFh protects no page.
    static func atEnd(ofPage page: Int) -> Place {
      Place(page: page, address: page * Type2Access.pageSize + 3, valid: 0...0xFE)
    }

    /// The first protected page; `Int.max` if no page is protected. The memory must include `page`.
    func firstProtectedPage(_ memory: TagMemory) -> Int {
      guard let first = memory[address].map(Int.init), valid.contains(first) else { return .max }
      return first
    }
  }
}
