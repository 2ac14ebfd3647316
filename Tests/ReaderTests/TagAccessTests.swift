import ReaderSimulator
import Tags
import Testing

@testable import Reader

/// Reads tags through the real libnfc and the simulated chip, without the reader process.
@Suite struct TagAccessTests {
  @Test func `a short message behind the capability container takes one exchange`() async throws {
    let message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61]
    let counters = try await withOpenReader { reader in
      _ = reader.place(try .type2(.ntag215, message: message))
      var channel = try reader.select(.typeA)
      _ = reader.takeCounters()
      #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
      return reader.takeCounters()
    }
    #expect(counters.exchanges == 1)
  }

  @Test(arguments: [0, 60]) func `a tag torn away during a read yields no other message`(size: Int) async throws {
    let message = size == 0 ? [] : [0xD5, 0x00, UInt8(size)] + [UInt8](repeating: 0x41, count: size)
    let walk = TearWalk(.typeA) { try .type2(.ntag215, message: message) }
    let report = try await walk.reading(message)
    #expect(report.findings.isEmpty)
    #expect(report.exchanges == (size == 0 ? 1 : 2))
  }
}
