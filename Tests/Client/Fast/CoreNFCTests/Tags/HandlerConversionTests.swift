import Foundation
import Testing

@testable import CoreNFC

@Suite struct HandlerConversionTests {
  private typealias Handler = @Sendable (Int, (any Error)?) -> Void

  /// Starts a task that waits for Request Response, and returns it with the handler that the tag got.
  private func waitingTask() async throws -> (Task<Int, any Error>, Handler) {
    let (calls, call) = AsyncStream.makeStream(of: Handler.self)
    let task = Task {
      let tag = MockFeliCaTag()
      tag.onRequestResponse = { call.yield($0) }
      return try await tag.requestResponse()
    }
    var iterator = calls.makeAsyncIterator()
    let handler = await iterator.next()
    return (task, try #require(handler))
  }

  @Test func `an async form throws the error of the handler`() async throws {
    let (task, handler) = try await waitingTask()
    handler(0, NFCReaderError(.readerTransceiveErrorTagNotConnected))
    await #expect(throws: NFCReaderError(.readerTransceiveErrorTagNotConnected)) { try await task.value }
  }

  @Test func `a cancelled task throws at once, and the later answer is dropped`() async throws {
    let (task, handler) = try await waitingTask()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    handler(1, nil)
  }

  @Test func `an async form returns an answer that comes later, and only the first one counts`() async throws {
    let (task, handler) = try await waitingTask()
    handler(1, nil)
    handler(2, nil)
    handler(0, NFCReaderError(.readerErrorInvalidParameter))
    task.cancel()
    let mode = try await task.value
    #expect(mode == 1)
  }

  @Test func `a task that was cancelled before makes no call`() async throws {
    let task = Task {
      withUnsafeCurrentTask { (task: UnsafeCurrentTask?) -> Void in task?.cancel() }
      let tag = MockFeliCaTag()
      tag.onRequestResponse = { handler in
        Issue.record("the call was made")
        handler(1, nil)
      }
      return try await tag.requestResponse()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @MainActor @Test func `the call is made on the caller's actor`() async throws {
    let tag = MockFeliCaTag()
    tag.onRequestResponse = { handler in
      MainActor.preconditionIsolated()
      handler(3, nil)
    }
    let mode = try await tag.requestResponse()
    #expect(mode == 3)
  }

  @Test func `a value without an error is a success, and an error takes precedence`() throws {
    #expect(try outcome(nil, 1).get() == 1)
    #expect(throws: CancellationError.self) { try outcome(CancellationError(), 1).get() }
  }
}
