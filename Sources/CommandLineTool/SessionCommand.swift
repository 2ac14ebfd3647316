import Names
import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let session = Command(
    name: "session", usage: "session lock|unlock",
    summary: "say that the screen is locked, where the locker tells nobody",
    details: """
      No tag is looked for from lock to unlock, also where the agent ends in between. For swaylock, hyprlock, i3lock and others that
      tell neither logind nor the session bus; tagroute(1), LOCKERS, has the lines for their configuration. unlock does not open what
      another locker has locked. Both return once the daemon knows, and fail with 75 where it could not be told within five seconds:
      the agent goes on trying. Fails with 69 where the agent does not run: then nothing is scanned for this session either.
      """,
    words: 1...1
  ) { arguments, console throws(Failure) in
    guard let word = arguments.words.first, ["lock", "unlock"].contains(word) else {
      throw .usage("say tagroute session lock, or unlock")
    }
    let agent = try await Failure.connecting(to: .agent) { () async throws(BusError) in
      try await AgentClient.connect(on: EventLoop(label: "tagroute"))
    }
    do throws(BusError) {
      try await agent.setLocked(word == "lock")
    } catch {
      throw Failure(error, from: .agent)
    }
    try console.answer(SessionReport(locked: word == "lock"))
    return 0
  }
}

/// What `session` prints; its keys are what scripts depend on.
struct SessionReport: Encodable {
  /// As it was said; another locker may have the session locked all the same.
  let locked: Bool
}
