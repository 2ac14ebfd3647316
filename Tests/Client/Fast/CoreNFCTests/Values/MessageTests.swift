import Foundation
import NDEF
import Testing

@testable import CoreNFC

@Suite struct MessageTests {
  private func record(_ payload: [UInt8], chunkSize: Int = 0, identifier: String = "") -> NFCNDEFPayload {
    NFCNDEFPayload(
      format: .media, type: Data("a/b".utf8), identifier: Data(identifier.utf8), payload: Data(payload),
      chunkSize: chunkSize)
  }

  @Test func `the length is the number of bytes that are written`() throws {
    let message = NFCNDEFMessage(records: [
      record([1, 2, 3], identifier: "i"), record([UInt8](repeating: 7, count: 300)),
    ])
    let bytes = try #require(message.encoded)
    #expect(message.length == bytes.count)
    #expect(bytes.count == (3 + 1 + 3 + 1 + 3) + (6 + 3 + 300))
    message.records.removeLast()
    #expect(message.length == 3 + 1 + 3 + 1 + 3)
  }

  @Test func `a message without records is the empty message`() {
    let message = NFCNDEFMessage(records: [])
    #expect(message.encoded == [0xD0, 0, 0])
    #expect(message.length == 3)
    #expect(message.records.isEmpty)
  }

  @Test func `a record that breaks the rules of its format cannot be written`() {
    let long = Data(count: 256)
    let records = [
      NFCNDEFPayload(format: .empty, type: Data([1]), identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .unknown, type: Data([1]), identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .media, type: Data(), identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .unchanged, type: Data(), identifier: Data(), payload: Data([1])),
      NFCNDEFPayload(format: .media, type: long, identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .media, type: Data([1]), identifier: long, payload: Data()),
    ]
    for record in records {
      let message = NFCNDEFMessage(records: [self.record([1], chunkSize: 1), record])
      #expect(message.encoded == nil)
      #expect(message.length == 0)
      #expect(NFCNDEFMessage(records: [record]).encoded == nil)
    }
  }

  // MARK: Decoding

  @Test func `one whole message of at most 128 KiB is decoded`() throws {
    let most = 128 << 10
    let bytes = try #require(NFCNDEFMessage(records: [record([UInt8](repeating: 0xAB, count: most - 9))]).encoded)
    #expect(bytes.count == most)
    #expect(NFCNDEFMessage(data: Data(bytes))?.length == most)
    let longer = try #require(NFCNDEFMessage(records: [record([UInt8](repeating: 0xAB, count: most - 8))]).encoded)
    #expect(NFCNDEFMessage(data: Data(longer)) == nil)
  }

  @Test func `anything else than one whole message is refused`() {
    let uri = hexadecimalBytes("D1 01 08 55 01 6E66632E636F6D")
    let message = NFCNDEFMessage(data: Data(uri))
    #expect(message?.records.first?.wellKnownTypeURIPayload() == URL(string: "http://www.nfc.com"))
    #expect(NFCNDEFMessage(data: Data()) == nil)
    #expect(NFCNDEFMessage(data: Data(uri + [0])) == nil)
    #expect(NFCNDEFMessage(data: Data(uri + uri)) == nil)
    #expect(NFCNDEFMessage(data: Data(uri.dropLast())) == nil)
    #expect(NFCNDEFMessage(data: Data([0, 0] + uri).dropFirst(2))?.length == uri.count)
  }

  // MARK: Chunks

  @Test func `records with and without chunks are written in their order`() throws {
    let records = [
      record([1, 2, 3], chunkSize: 2), record([4, 5, 6]), record([7, 8, 9], chunkSize: 1), record([0xA], chunkSize: 5),
    ]
    let message = NFCNDEFMessage(records: records)
    let bytes = try #require(message.encoded)
    let expected = hexadecimalBytes(
      """
      B2 03 02 612F62 0102
      16 00 01 03
      12 03 03 612F62 040506
      32 03 01 612F62 07
      36 00 01 08
      16 00 01 09
      52 03 01 612F62 0A
      """)
    #expect(bytes == expected)
    #expect(message.length == bytes.count)
    let decoded = try #require(NFCNDEFMessage(data: Data(bytes)))
    #expect(decoded.records.map(\.record) == records.map(\.record))
  }

  @Test func `a chunk size of zero or less, or of the whole payload, makes no chunks`() {
    let whole = NFCNDEFMessage(records: [record([1, 2, 3])]).encoded
    for size in [-1, 0, 3, 4, Int.max] {
      #expect(NFCNDEFMessage(records: [record([1, 2, 3], chunkSize: size)]).encoded == whole)
    }
  }

  // MARK: Objects

  @Test func `a message is archived and restored`() throws {
    let records = [record([1, 2, 3], chunkSize: 2, identifier: "i"), record([])]
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NFCNDEFMessage(records: records), requiringSecureCoding: true)
    let restored = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: archive))
    #expect(restored.records.map(\.record) == records.map(\.record))
    #expect(restored.records.map(\.chunkSize) == [2, 0])
    #expect(restored.encoded == NFCNDEFMessage(records: records).encoded)
    let empty = try NSKeyedArchiver.archivedData(
      withRootObject: NFCNDEFMessage(records: []), requiringSecureCoding: true)
    #expect(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: empty)?.records.isEmpty == true)
  }

  @Test func `a record is archived and restored`() throws {
    let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://example.com"))
    let archive = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
    let restored = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFPayload.self, from: archive))
    #expect(restored.record == record.record)
    #expect(NFCNDEFPayload.supportsSecureCoding)
    #expect(NFCNDEFMessage.supportsSecureCoding)
  }

  @Test func `messages are equal only if they are the same object`() {
    let (a, b) = (NFCNDEFMessage(records: []), NFCNDEFMessage(records: []))
    #expect(a == a)
    #expect(a != b)
    #expect(NFCNDEFMessage(records: [record([1])]).description.hasPrefix("[TNF=2, "))
  }
}
