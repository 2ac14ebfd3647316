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

  /// The rows of recordings that do not have pcscd's name of the model, by the beginning of the file's path.
  private static let rows = [
    "acr122u-libnfc/felica-listed-twice": "Touchatag", "acr122u-pcscd/touchatag-atr": "Touchatag",
    "acr122u-libnfc/": "ACS ACR122U", "pn533/scl3711-": "SCL3711", "pn532/hsu-": "PN532 on a serial line (HSU)",
    "pn532/target-bytes-spi": "PN532 on SPI or I2C", "pn532/i2c-": "PN532 on SPI or I2C",
  ]
  private static let traces = URL(filePath: repositoryRoot).appending(
    path: "Tests/Reader/Fast/LibNFCReaderTests/Captures/Traces")

  /// The recordings that the tests repeat: the row of each and its source.
  private static func recordings() throws -> [(row: String, source: String)] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: traces.path).filter { $0.hasSuffix(".jsonl") }
    return try files.compactMap { file in
      var row: String?
      var source: String?
      for line in try String(contentsOf: traces.appending(path: file), encoding: .utf8).split(separator: "\n") {
        switch try TraceLine.read(Array(line.utf8))?.event {
        case .source(let text): source = text
        case .device(let device, _, _):
          row = Names.PCSC.readerName(inDevice: device).flatMap(ReaderModel.find(readerName:))?.title
        default: break
        }
      }
      // The longest beginning is the most exact one.
      row = row ?? rows.filter { file.hasPrefix($0.key) }.max { $0.key.count < $1.key.count }?.value
      guard let row, let source else { return nil }
      return (row, source)
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
        #expect(parts.count == 2, "\(row.title)")
        for source in parts.dropFirst().joined().split(separator: ", ") {
          let isRecorded = recordings.contains { $0.row == row.title && $0.source.contains(source) }
          #expect(isRecorded, "\(row.title): no trace of this model has the source \(source)")
        }
      case "source": #expect(parts.count == 2, "\(row.title)")
      case "none": #expect(parts.count == 1, "\(row.title)")
      default: Issue.record("\(row.title): \(row.evidence)")
      }
    }
  }
}
