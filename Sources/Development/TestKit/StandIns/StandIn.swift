package import Bus
import EventLoop

/// How a stand-in joins the bus and leaves it.
extension Connection {
  /// Takes the name of the service that this connection replaces. Fails if the name is taken: calls of the test would
  /// not arrive here then.
  package func standIn(for name: String) async throws(BusError) {
    let result = try await requestName(name)
    guard result.isOwner else { throw .failed("\(name) is taken: \(result)") }
  }

  /// Leaves the bus, as a crash would, and returns once the bus has noticed. Another connection can then take the
  /// names.
  package func crash() async {
    guard let own = uniqueName else { return close() }
    // Without a bus, the wait is skipped.
    let witness = try? await Connection.open(address, on: EventLoop(label: "witness"))
    let owners = try? await witness?.owners(of: own)
    close()
    if let owners { for await owner in owners where owner == nil { break } }
    await witness?.close()
  }
}

/// The elements that have arrived at a stand-in, and the tests that wait for the next one.
final class Arrivals<Element: Sendable>: Sendable {
  private struct State {
    var all: [Element] = []
    var taken = 0
    var waiting: [(number: Int, continuation: CheckedContinuation<Element, any Error>)] = []
    var lastNumber = 0
  }

  private let state = Locked(State())
  private let what: String
  private let loop: EventLoop

  /// `what` is a noun for the elements, for the error if none arrives. The loop measures the timeout.
  init(of what: String, on loop: EventLoop) { (self.what, self.loop) = (what, loop) }

  var all: [Element] { state.withLock(\.all) }

  /// Drops the elements that were returned, for a measurement with very many.
  func forget() {
    state.withLock { state in
      let count = min(state.taken, state.all.count)
      state.all.removeFirst(count)
      state.taken -= count
    }
  }

  func append(_ element: Element) {
    let waiter = state.withLock { state -> CheckedContinuation<Element, any Error>? in
      state.all.append(element)
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst().continuation
    }
    waiter?.resume(returning: element)
  }

  /// The next element that no earlier call of this function has returned, as soon as it arrives. Fails if none arrives
  /// in time, because an endless wait would block every later test.
  func next() async throws -> Element {
    try await withCheckedThrowingContinuation { continuation in
      let (element, number) = state.withLock { state -> (Element?, Int) in
        state.taken += 1
        if state.taken <= state.all.count { return (state.all[state.taken - 1], 0) }
        state.lastNumber += 1
        state.waiting.append((state.lastNumber, continuation))
        return (nil, state.lastNumber)
      }
      if let element { return continuation.resume(returning: element) }
      loop.schedule(after: ChildProcess.timeout) { [weak self] in self?.expire(number) }
    }
  }

  private func expire(_ number: Int) {
    let waiter = state.withLock { state -> CheckedContinuation<Element, any Error>? in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
      state.taken -= 1
      return state.waiting.remove(at: index).continuation
    }
    waiter?.resume(throwing: RigError("no \(what) came within \(ChildProcess.timeout)"))
  }
}
