import Bus
import Names
import TagrouteClient

struct InboxReader: Sendable {
  let agent: AgentClient
  /// The most taps in one reply of the agent.
  private static let page = 1000

  /// Calls the agent. Its error becomes the command's failure.
  func call<Result>(_ body: (AgentClient) async throws(BusError) -> Result) async throws(Failure) -> Result {
    try await Failure.asking(.agent) { () async throws(BusError) in try await body(agent) }
  }

  /// The id of the only tap with an id that is this text or begins with it.
  func id(of text: String) async throws(Failure) -> String {
    guard (1...36).contains(text.utf8.count), text.allSatisfy({ $0 == "-" || ($0.isASCII && $0.isHexDigit) }) else {
      throw .usage(
        "\(text) is not an id: use hexadecimal digits and -; tagroute inbox lists the ids")
    }
    let found = try await call { agent throws(BusError) in try await agent.taps(idPrefix: text, limit: 3) }.map(\.id)
    if let whole = found.first(where: { $0 == text.lowercased() }) { return whole }
    guard let first = found.first else {
      throw Failure(
        message: "no tap has an id that begins with \(text); tagroute inbox lists the taps",
        exitCode: Names.ExitCode.noInput)
    }
    guard found.count == 1 else {
      throw .usage(
        "several ids begin with \(text), such as \(found.prefix(2).joined(separator: " and ")): type more of it")
    }
    return first
  }

  /// A tap with all its details, by its id or a unique beginning of it.
  func tap(_ text: String) async throws(Failure) -> TapDescription {
    let id = try await id(of: text)
    guard let tap = try await whole(id) else {
      throw Failure(message: "tap \(id) was just removed", exitCode: Names.ExitCode.noInput)
    }
    return tap
  }

  /// A tap with all its details; nil if it was removed.
  func whole(_ id: String) async throws(Failure) -> TapDescription? {
    try await call { agent throws(BusError) in try await agent.taps(id: id) }.first
  }

  /// Reads taps page by page, newest first, only those that came before the tap with the id `before`. With messages,
  /// they have all details.
  func pages(
    state: String? = nil, limit: Int = .max, before: String? = nil, withMessages: Bool = false,
    _ body: ([TapDescription]) async throws(Failure) -> Void
  ) async throws(Failure) {
    var left = limit
    var end: UInt64?
    while left > 0 {
      let (size, start) = (min(left, Self.page), end)
      let page = try await call { agent throws(BusError) in
        // Continue by sequence, because the last tap of a page may be removed meanwhile.
        try await agent.taps(
          state: state, limit: UInt32(clamping: size), before: start == nil ? before : nil, beforeSequence: start,
          withMessages: withMessages)
      }
      try await body(page)
      left -= page.count
      // The agent also bounds the size of a page with messages, so a short page is not the end.
      guard withMessages || page.count == size, let last = page.last?.sequence else { return }
      end = last
    }
  }
}
