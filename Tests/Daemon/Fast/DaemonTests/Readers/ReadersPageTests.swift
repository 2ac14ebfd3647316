import Foundation
import Names
import ReaderModels
import Rig
import Testing

@testable import Daemon

/// docs/readers.md has a row for each model of reader, with its numbers, the types of tags that it reads, and what this
/// relies on.
struct ReadersPageTests {
  private struct Row {
    let cells: [String]

    init(_ line: Substring) {
      cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    var title: String { cells[0] }
    var identifiers: [String] { cells[1].split(separator: "`").map(String.init).filter { $0.contains(":") } }
    var types: String { cells[2] }
    var evidence: String { cells[cells.count - 2] }
    var tried: String { cells[cells.count - 1] }
  }

  private static func tables() throws -> (pcscd: [Row], libnfc: [Row]) {
    let file = URL(filePath: repositoryRoot).appending(path: "docs/readers.md")
    let section = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n## ")
      .first { $0.hasPrefix("By model") }
    let parts = try #require(section).components(separatedBy: "\n### ")[0].components(separatedBy: "With libnfc")
    let tables = parts.map { $0.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map(Row.init) }
    try #require(tables.count == 2)
    return (tables[0], tables[1])
  }

  private static func text(_ vendor: UInt16, _ product: UInt16) -> String {
    [vendor, product].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }.joined(separator: ":")
  }

  private static func text(_ type: TagType) -> String {
    type == .mifareClassic ? "Classic" : type.rawValue.dropFirst("type-".count).uppercased()
  }

  @Test func `each model of pcscd has a row with its numbers and types, and each row a model`() throws {
    let rows = try Self.tables().pcscd
    #expect(rows.map(\.title).sorted() == ReaderModel.all.map(\.title).sorted())
    for model in ReaderModel.all {
      let row = try #require(rows.first { $0.title == model.title }, "\(model.title)")
      #expect(Set(row.identifiers) == Set(model.identifiers.map { Self.text($0.vendor, $0.product) }), "\(model.title)")
      #expect(row.types == model.types.map(Self.text).joined(separator: ", "), "\(model.title)")
    }
  }

  @Test func `each model of libnfc has a row with its numbers, and each number of a row a model`() throws {
    let rows = try Self.tables().libnfc
    // pcscd drives these as well, so they are in its table.
    let both = Set(ReaderModel.all.flatMap(\.identifiers).map { Self.text($0.vendor, $0.product) })
    let models = USBReaderModel.all.filter { !both.contains(Self.text($0.vendor, $0.product)) }
    #expect(rows.flatMap(\.identifiers).sorted() == models.map { Self.text($0.vendor, $0.product) }.sorted())
    for model in models {
      let row = rows.first { $0.identifiers.contains(Self.text(model.vendor, model.product)) }
      #expect(row?.cells[2].contains("`\(model.driver)`") == true, "\(model)")
    }
  }

  /// The recordings of models whose source has no address.
  private static let recorded = [
    "ACS ACR1251U": "acs-pcsc/acr1251u-c.jsonl", "ACS ACR1281U": "acs-pcsc/acr1281u-slots.jsonl",
  ]
  private static let traces = URL(filePath: repositoryRoot).appending(
    path: "Tests/Reader/Fast/LibNFCReaderTests/Captures/Traces")

  /// Where the recordings come from that the tests repeat: the `source` of each trace.
  private static func recordings() throws -> [String] {
    let files = FileManager.default.enumerator(at: traces, includingPropertiesForKeys: nil)
    return try (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "jsonl" }.compactMap { file in
      try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first { $0.contains("\"source\"") }.map(
        String.init)
    }
  }

  @Test func `each row names its evidence, and a recording its source`() throws {
    let tables = try Self.tables()
    let recordings = try Self.recordings()
    for row in tables.pcscd + tables.libnfc {
      let parts = row.evidence.split(separator: ": ", maxSplits: 1)
      #expect(["no", "simulated"].contains(row.tried), "\(row.title)")
      switch parts.first {
      case "capture":
        let sources = row.evidence.matches(of: /[\w.-]+\/[\w.-]+#[0-9]+|http[^)]+/).map { String($0.output) }
        let isRecorded = sources.contains { source in recordings.contains { $0.contains(source) } }
        let file = Self.recorded[row.title].map { Self.traces.appending(path: $0).path }
        #expect(isRecorded || file.map(FileManager.default.fileExists) == true, "\(row.title): no trace has its source")
      case "source": #expect(parts.count == 2, "\(row.title)")
      case "none": #expect(parts.count == 1, "\(row.title)")
      default: Issue.record("\(row.title): \(row.evidence)")
      }
    }
  }
}
