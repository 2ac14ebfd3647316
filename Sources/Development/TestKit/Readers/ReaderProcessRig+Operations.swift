import Daemon
package import ReaderProtocol
import ReaderSimulator
import Testing

/// Scenarios that every reader program passes, in a session that has begun.
extension ReaderProcessRig {
  /// Performs each operation on a tag of this kind, in one placement. `locking` is why the tag cannot be made read-only
  /// on this reader; nil if it can.
  package func performsEachOperation(on kind: TagKind, locking: ReaderOperationFailure? = nil) async throws {
    let (old, new) = (try uri("https://example.com/old"), try uri("https://example.com/new/and/longer"))
    let tag = try await finds(try kind.make(old)).tag
    guard case .status(.readWrite, let capacity) = try await perform(.query, tag) else {
      throw await failure("expected a status, got \(seen.suffix(1))")
    }
    let long = [UInt8](repeating: 0, count: Int(capacity) + 1)
    var results = [try await perform(.read, tag), try await perform(.write(new, verify: true), tag)]
    results.append(try await perform(.read, tag))
    #expect(results == [.message(old), .done, .message(new)])
    #expect(try await perform(.write(long, verify: false), tag).failure == .tooLong)
    #expect(try await perform(.write([], verify: true), tag) == .done)
    #expect(try await perform(.read, tag).failure == .empty)
    #expect(try await perform(.write(old, verify: false), tag) == .done)
    let locked = try await perform(.lock, tag)
    if let locking {
      #expect(locked.failure == locking, "\(locked)")
      #expect(try await perform(.query, tag) == .status(.readWrite, capacity: capacity))
    } else {
      #expect(locked == .done)
      #expect(try await perform(.query, tag) == .status(.readOnly, capacity: capacity))
      #expect(try await perform(.write(new, verify: false), tag).failure == .readOnly)
    }
    #expect(try await perform(.read, tag) == .message(old))
    #expect(reported.count == 1)
    #expect(!seen.contains { if case .sessionTagRemoved = $0 { true } else { false } })
  }

  /// Operations on a payment card, and on a card with a damaged message, fail with the reason.
  package func refusesOperationsWithoutMessage() async throws {
    let (id, card) = try await finds(.paymentCard())
    #expect(try await perform(.query, card) == .status(.notSupported, capacity: 0))
    #expect(try await perform(.read, card).failure == .notSupported)
    #expect(try await perform(.write([], verify: false), card).failure == .notSupported)
    try await takeAway(id, card)
    let options = Type4Options { $0.declaredLength = 0xFFF0 }
    let (other, damaged) = try await finds(try .type4(message: uri("https://example.com"), options: options))
    #expect(try await perform(.read, damaged).failure == .refused)
    #expect(try await perform(.lock, damaged).failure == .refused)
    try await takeAway(other, damaged)
  }

  /// The results of several requests come in their order.
  package func performsInOrder() async throws {
    let bytes = try uri("https://example.com/" + String(repeating: "x", count: 400))
    let tag = try await finds(try .type2(.ntag215, message: bytes)).tag
    for request in 1...5 { await ask(request.isMultiple(of: 2) ? .query : .read, tag, request: UInt64(request)) }
    for request in 1...5 {
      let result = try await result(UInt64(request))
      #expect(result == (request.isMultiple(of: 2) ? .status(.readWrite, capacity: 492) : .message(bytes)))
    }
  }
}
