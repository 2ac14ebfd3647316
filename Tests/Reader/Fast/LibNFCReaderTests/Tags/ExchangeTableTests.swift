import ReaderSimulator
import Rig
import Tags
import Testing

@testable import LibNFCReader

/// Compares the table in `docs/development/exchanges.md` with the specifications and with counted exchanges.
@Suite struct ExchangeTableTests {
  struct Row {
    let tag: String
    let size: Int
    let atLeast: Int
    let exchanges: Int
  }

  private static func rows() throws -> [Row] {
    let text = String(decoding: try readFile("\(repositoryRoot)/docs/development/exchanges.md"), as: UTF8.self)
    let rows = text.split(separator: "\n").compactMap { line -> Row? in
      let cells = line.split(separator: "|").map { $0.trimmed }
      guard cells.count == 4, let size = Int(cells[1]), let atLeast = Int(cells[2]), let exchanges = Int(cells[3])
      else { return nil }
      return Row(tag: cells[0], size: size, atLeast: atLeast, exchanges: exchanges)
    }
    // Otherwise the tests would pass if no row could be read.
    try #require(rows.count >= 40)
    return rows
  }

  private static func place(
    _ tag: String, _ message: [UInt8]
  ) throws -> (tag: SimulatedTag, modulation: Modulation)? {
    let uid = try TagUID.fixed([4, 1, 2, 3, 4, 5, 6])
    func type2(_ model: SimulatedType2Model, asShipped: Bool = false) throws -> (SimulatedTag, Modulation) {
      (try .type2(model, message: message, uid: uid, hasLockControl: asShipped), .typeA)
    }
    func type4(version: Int) -> Type4Options {
      Type4Options { ($0.mappingVersion, $0.maximumRead) = (version, 246) }
    }
    switch tag {
    case "Topaz 96": return (try .type1(.topaz96, message: message), .jewel)
    case "Topaz 512": return (try .type1(.topaz512, message: message), .jewel)
    case "NTAG213 as it leaves the factory": return try type2(.ntag213, asShipped: true)
    case "FeliCa Lite-S": return (try .type3(message: message, options: Type3Options(.liteS)), .felica212)
    case "FeliCa Standard, Nbr 12": return (try .type3(message: message, options: Type3Options(.standard)), .felica212)
    case "Type 4A, MLe 59": return (try .type4(message: message, uid: uid), .typeA)
    case "Type 4A, MLe 246": return (try .type4(message: message, uid: uid, options: type4(version: 2)), .typeA)
    case "Type 4A, mapping 3.0, MLe 246":
      return (try .type4(message: message, uid: uid, options: type4(version: 3)), .typeA)
    case "Type 4B, MLe 59": return (try .type4B(message: message), .typeB)
    case "MIFARE Classic 1K":
      return (try .mifareClassic(.classic1K, message: message, uid: .fixed([1, 2, 3, 4])), .typeA)
    case "MIFARE Classic 4K":
      return (try .mifareClassic(.classic4K, message: message, uid: .fixed([1, 2, 3, 4])), .typeA)
    default:
      let name = tag.lowercased().replacing(" ", with: "-")
      guard let model = SimulatedType2Model.all.first(where: { $0.name == name }) else { return nil }
      return try type2(model)
    }
  }

  @Test func `the table gives the least exchanges that the specifications allow`() throws {
    for row in try Self.rows() {
      #expect(LeastExchanges.reading(row.size, from: row.tag) == row.atLeast, "\(row.tag), \(row.size) bytes")
    }
  }

  @Test func `the table gives the counted exchanges`() throws {
    let rows = try Self.rows()
    let reader = try OpenReader()
    var findings: [String] = []
    for row in rows {
      let message = variedMessage(ofSize: row.size)
      guard let (tag, modulation) = try Self.place(row.tag, message) else {
        findings.append("\(row.tag): unknown tag")
        continue
      }
      let id = reader.place(tag)
      var channel = try reader.select(modulation, doubtsRepetitions: true)
      let content = try channel.tag.readNDEF(over: &channel)
      if content != .message(message) { findings.append("\(row.tag), \(row.size) bytes: \(content)") }
      if channel.exchanges != UInt64(row.exchanges) {
        findings.append("\(row.tag), \(row.size) bytes: \(channel.exchanges) exchanges, not \(row.exchanges)")
      }
      _ = reader.remove(id)
    }
    #expect(findings.isEmpty, "\(findings.joined(separator: "; "))")
  }
}

extension Substring {
  fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
