import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient

/// `inbox clear`: removes taps for good.
struct InboxClear: Equatable {
  /// As typed; empty for all.
  let ids: [String]
  /// Only taps that were read this many days ago or earlier; nil for all.
  let days: Int?
  let fromScreen: Bool
  private let isConfirmed: Bool

  init(_ ids: [String], _ arguments: Arguments) throws(Failure) {
    self.ids = ids
    days = try arguments.number("older-than", in: 0...36_500)
    fromScreen = arguments.has("all")
    isConfirmed = arguments.has("yes")
    guard ids.count <= InboxAction.maximumIDs else {
      throw .usage("at most \(InboxAction.maximumIDs) ids at once; use --older-than or --all")
    }
  }

  /// Fails if confirmation is needed and there is no terminal.
  func checkConfirmation() throws(Failure) {
    guard isConfirmed || isatty(STDIN_FILENO) == 1 else {
      throw .usage("this removes taps for good, and there is no terminal to ask: confirm with --yes")
    }
  }

  /// The exit code is not 0 if a tap that was named could not be removed.
  func run(_ inbox: InboxReader, _ console: Console) async throws(Failure) -> Int32 {
    var whole: [String] = []
    for id in ids { whole.append(try await inbox.id(of: id)) }
    if !isConfirmed { try await confirm(whole.count) }
    let limit = days.map { Self.before(days: $0) }
    let removed = try await inbox.call { agent throws(BusError) in
      try await agent.clear(ids: whole.isEmpty ? nil : whole, before: limit, fromScreen: fromScreen)
    }
    let kept = try await kept(of: whole, before: limit, inbox)
    let report = kept.map { ["id": $0.id, "state": $0.state] }
    try console.answer(
      ["removed": removed, "kept": report] as JSON,
      ["inbox: \(removed) \(removed == 1 ? "tap" : "taps") removed"]
        + kept.map { "tap \($0.shortID): kept, because it is \(Self.words($0.state)): \($0.title)" })
    // Without ids, kept taps are expected. With ids, a kept tap is a failure.
    return ids.isEmpty || kept.isEmpty ? 0 : Names.ExitCode.tryAgain
  }

  /// The selected taps that were not removed: those being opened and those on the screen.
  private func kept(
    of ids: [String], before limit: UInt64?, _ inbox: InboxReader
  ) async throws(Failure) -> [TapDescription] {
    var kept: [TapDescription] = []
    guard ids.isEmpty else {
      for id in ids { if let tap = try await inbox.whole(id) { kept.append(tap) } }
      return kept
    }
    for state in ["opening", "received", "shown", "failed"] {
      try await inbox.pages(state: state) { page in kept += page.filter { limit == nil || $0.time < (limit ?? 0) } }
    }
    return kept
  }

  private func confirm(_ count: Int) async throws(Failure) {
    let what =
      if !ids.isEmpty {
        "\(count) tap\(count == 1 ? "" : "s")"
      } else if let days {
        "all taps older than \(days) day\(days == 1 ? "" : "s") that are not on the screen"
      } else if fromScreen {
        "all taps, also those on the screen,"
      } else {
        "all taps that are not on the screen"
      }
    Console.tell("Remove \(what) for good? [y/N] ")
    let answer = await BlockingRead.line()?.lowercased()
    guard answer == "y" || answer == "yes" else { throw Failure(message: "no tap was removed", exitCode: 1) }
  }

  private static func before(days: Int) -> UInt64 {
    UInt64(clamping: Int64(clamping: SystemClock.now) - Int64(days) * 86_400_000_000)
  }

  private static func words(_ state: String) -> String {
    switch state {
    case "opening": "being opened"
    case "received", "shown", "failed": "on the screen"
    default: state
    }
  }
}
