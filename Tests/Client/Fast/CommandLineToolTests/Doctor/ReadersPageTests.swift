import Foundation
import Names
import ReaderModels
import Rig
import Testing

/// docs/readers.md has a row for each model of PC/SC reader, with its numbers and the types of tags that it reads.
struct ReadersPageTests {
  private struct Row {
    let title: String
    let identifiers: Set<String>
    let types: String
    let tried: String
  }

  private static func rows() throws -> [Row] {
    let file = URL(filePath: repositoryRoot).appending(path: "docs/readers.md")
    let section = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n## ")
      .first { $0.hasPrefix("By model") }
    return (section ?? "").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return Row(
        title: cells[0],
        identifiers: Set(cells[1].split(separator: "`").map(String.init).filter { $0.contains(":") }),
        types: cells[3], tried: cells.last ?? "")
    }
  }

  private static func text(_ identifier: ReaderModel.Identifier) -> String {
    [identifier.vendor, identifier.product].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }.joined(separator: ":")
  }

  private static func text(_ type: TagType) -> String {
    type == .mifareClassic ? "Classic" : type.rawValue.dropFirst("type-".count).uppercased()
  }

  @Test func `each model has a row with its numbers and types`() throws {
    let rows = try Self.rows()
    #expect(rows.count > 30)
    for model in ReaderModel.all where !model.identifiers.isEmpty {
      let row = rows.first { $0.title == model.title }
      #expect(row?.identifiers == Set(model.identifiers.map(Self.text)), "\(model.title)")
      #expect(row?.types == model.types.map(Self.text).joined(separator: ", "), "\(model.title)")
      #expect(["no", "simulated"].contains(row?.tried), "\(model.title)")
    }
  }
}
