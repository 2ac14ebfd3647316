import Glibc
import Rig
import Routing
import Testing

@testable import Handlers

/// Properties of entries read from files: routes depend neither on the order of installation nor on unrelated files.
@Suite(.timeLimit(.minutes(5))) struct FileOrderTests {
  private static let claims = ["a.example", "*.a.example", "b.a.example", "d.example", "*.d.example"]
  private static let links =
    ["a.example", "b.a.example", "c.b.a.example", "d.example", "x.d.example", "elsewhere.example"].map {
      "https://\($0)/"
    } + ["x-menu:1"]

  private struct File {
    let id: String
    let directory: String
    let claims: [String]
  }

  private func files(using random: inout SeededGenerator) -> [File] {
    (0..<12).map { _ in
      // Few names, so that ids collide: in another directory, or as a file in a folder and a file with a dash.
      let id = ["a", "b", "c", "v/a", "v-a", "v/b", "v-b"].randomElement(using: &random) ?? "a"
      let directory = ["user", "system", "lesser"].randomElement(using: &random) ?? "user"
      let domains = Self.claims.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
      return File(
        id: id, directory: directory,
        claims: [
          "Domains=\(domains.joined(separator: ";"));", "Schemes=\(Bool.random(using: &random) ? "x-menu;" : "")",
        ])
    }
  }

  /// The decision for each link. File names are relative to the temporary directory.
  private func decisions(_ files: [File]) throws -> [[String]] {
    let data = try DataDirectory()
    for file in files { try data.entry(file.id, in: file.directory, claims: file.claims) }
    let scan = data.scan()
    let registry = Registry(declarations: scan.declarations)
    return Self.links.map { link in
      let route = registry.route(for: link)
      return [route.kind.rawValue, "\(route.trusted)", route.reason]
        + route.candidates.map { String($0.file.dropFirst(data.temporary.path.count)) }
        + route.steps.map(\.description)
    }
  }

  @Test(arguments: 1...25 as ClosedRange<UInt64>)
  func `neither the order in which files are written nor an unrelated or broken entry matters`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Each path is written once, because a second file would overwrite the first.
    var seen: Set<String> = []
    let files = files(using: &random).filter { seen.insert("\($0.directory)/\($0.id)").inserted }
    let expected = try decisions(files)
    #expect(try decisions(files.shuffled(using: &random)) == expected)
    var more = files
    for id in ["0-first", "zz/last", "v/between"] {
      let directory = ["user", "system", "lesser"].randomElement(using: &random) ?? "user"
      let claims =
        Bool.random(using: &random) ? ["Domains=other.example;*.other.example;", "Schemes=x-other;"] : ["Domains=-;"]
      more.append(File(id: id, directory: directory, claims: claims))
    }
    #expect(try decisions(more.shuffled(using: &random)) == expected)
  }
}
