import Bus
import Names
import TagrouteClient

/// Asks the agent for taps, with a person's words for what fails.
struct InboxReader: Sendable {
  let agent: AgentClient
  /// The agent gives no more at once.
  private static let page = 1000

  /// Calls the agent, whose refusal is the command's.
  func call<Result>(_ body: (AgentClient) async throws(BusError) -> Result) async throws(Failure) -> Result {
    do throws(BusError) {
      return try await body(agent)
    } catch {
      throw Failure(error, from: .agent)
    }
  }

  /// The tap with this id, or the only one whose id begins so.
  ///
  /// - Returns: its whole id.
  func id(of text: String) async throws(Failure) -> String {
    guard (1...36).contains(text.utf8.count), text.allSatisfy({ $0 == "-" || ($0.isASCII && $0.isHexDigit) }) else {
      throw .usage(
        "\(text): an id is of hexadecimal digits and -, and its beginning is enough; tagroute inbox lists them")
    }
    let found = try await call { agent throws(BusError) in try await agent.taps(idPrefix: text, limit: 3) }.map(\.id)
    if let whole = found.first(where: { $0 == text.lowercased() }) { return whole }
    guard let first = found.first else {
      throw Failure(
        message: "\(text): no tap has an id that begins so; tagroute inbox lists them", exitCode: Names.ExitCode.noInput
      )
    }
    guard found.count == 1 else {
      throw .usage("\(text): several ids begin so, \(found.prefix(2).joined(separator: " and ")) among them: type more")
    }
    return first
  }

  /// One tap, whole.
  ///
  /// - Parameter text: as much of its id as is needed.
  /// - Returns: the tap with its message.
  /// - Throws: that there is none, or which are meant.
  func tap(_ text: String) async throws(Failure) -> TapDescription {
    let id = try await id(of: text)
    guard let tap = try await whole(id) else {
      throw Failure(message: "\(id): this tap has just been removed", exitCode: Names.ExitCode.noInput)
    }
    return tap
  }

  /// One tap, whole; nil where it is no longer there.
  func whole(_ id: String) async throws(Failure) -> TapDescription? {
    try await call { agent throws(BusError) in try await agent.taps(id: id) }.first
  }

  /// Taps, the newest first, asked for page by page.
  ///
  /// - Parameters:
  ///   - state: only those in this state.
  ///   - limit: at most so many.
  ///   - before: only those that came before the one with this whole id.
  ///   - withMessages: whether they are whole.
  ///   - body: is given each page.
  /// - Throws: what keeps the agent from answering, or what `body` throws.
  func pages(
    state: String? = nil, limit: Int = .max, before: String? = nil, withMessages: Bool = false,
    _ body: ([TapDescription]) async throws(Failure) -> Void
  ) async throws(Failure) {
    var left = limit
    var end: UInt64?
    while left > 0 {
      let (size, start) = (min(left, Self.page), end)
      let page = try await call { agent throws(BusError) in
        // By its number: the last tap of a page may be removed before the next is asked for.
        try await agent.taps(
          state: state, limit: UInt32(clamping: size), before: start == nil ? before : nil, beforeSequence: start,
          withMessages: withMessages)
      }
      try await body(page)
      left -= page.count
      // One with messages ends where they are too many, too.
      guard withMessages || page.count == size, let last = page.last?.sequence else { return }
      end = last
    }
  }
}
