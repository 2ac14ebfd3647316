import Foundation
import NDEF
import Rig
import Testing

@testable import CoreNFC

/// Compares `NFCNDEFMessage` with the `NDEF` module on the messages of the comparison with ndeflib.
@Suite struct MessageAgreementTests {
  private struct Vector: Decodable {
    let name: String
    let bytes: String
  }

  private static func vectors() throws -> [(name: String, bytes: [UInt8])] {
    let file = URL(filePath: repositoryRoot).appending(path: "Tests/Tag/Fast/NDEFTests/Differential/ndeflib.jsonl")
    return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
      let vector = try JSONDecoder().decode(Vector.self, from: $0)
      return (vector.name, hexadecimalBytes(vector.bytes))
    }
  }

  @Test func `both decode the same bytes to the same records`() throws {
    var counts = (accepted: 0, refused: 0)
    for (name, bytes) in try Self.vectors() {
      let theirs = try? NDEFMessage(decoding: bytes)
      let ours = NFCNDEFMessage(data: Data(bytes))
      #expect(ours.map { $0.records.map(\.record) } == theirs?.records, "\(name)")
      if theirs == nil { counts.refused += 1 } else { counts.accepted += 1 }
    }
    #expect(counts.accepted > 300)
    #expect(counts.refused > 300)
  }

  @Test func `both encode the same records to the same bytes`() throws {
    for (name, bytes) in try Self.vectors() {
      guard let theirs = try? NDEFMessage(decoding: bytes) else { continue }
      let encoded = try theirs.encoded()
      let ours = NFCNDEFMessage(theirs)
      #expect(ours.encoded == encoded, "\(name)")
      #expect(ours.length == encoded.count, "\(name)")
      #expect(NFCNDEFMessage(data: Data(bytes))?.encoded == encoded, "\(name)")
    }
  }

  @Test(arguments: [1, 3, 200])
  func `what one writes in chunks, both read as a whole`(chunkSize: Int) throws {
    for (name, bytes) in try Self.vectors() {
      guard let message = try? NDEFMessage(decoding: bytes) else { continue }
      let chunked = NFCNDEFMessage(
        records: NFCNDEFMessage(message).records.map {
          NFCNDEFPayload(
            format: $0.typeNameFormat, type: $0.type, identifier: $0.identifier, payload: $0.payload,
            chunkSize: chunkSize)
        })
      let encoded = try #require(chunked.encoded)
      let theirs = try message.encoded(NDEFEncodingOptions(chunkSize: chunkSize))
      #expect(encoded == theirs, "\(name)")
      #expect(try NDEFMessage(decoding: encoded) == message, "\(name)")
      #expect(chunked.length == encoded.count, "\(name)")
    }
  }
}
