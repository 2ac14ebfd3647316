import TagrouteClient

/// A station: a machine without a desktop, whose taps go to the agent of one user.
extension Diagnosis {
  /// The user of the station; nil if this machine is not one, or the daemon does not answer.
  var stationUser: String? {
    guard let name = seen.daemon.value?.stationUser, !name.isEmpty else { return nil }
    return name
  }

  /// The findings about the session on a station; nil if the usual ones apply: this machine is not a station, or the
  /// user has an agent with a desktop.
  var station: [Finding]? {
    guard let user = stationUser else { return nil }
    let isActive = seen.daemon.value?.stationActive == true
    let finding =
      isActive
      ? Finding.right(.station, "this machine is a station: taps go to user \(user)")
      : .note(
        .station, "this machine is a station, but another user is logged in at the machine, or logind is gone",
        .advise("log out at the machine: loginctl list-sessions names the session"))
    guard let agent = seen.agent.value.flatMap({ $0 }) else { return [finding, elsewhere(user)] }
    guard agent.headless else { return nil }
    var own = seen
    // The unit of a desktop's agent is not the one that runs this agent.
    own.agentUnit = .notAsked
    let diagnosis = Diagnosis(own)
    return [finding] + [diagnosis.agentConfiguration, diagnosis.agent(isExplained: false)].compactMap { $0 } + handlers
      + outbox
  }

  /// The agent of the station is on the session bus of its own user.
  private func elsewhere(_ user: String) -> Finding {
    .note(
      .agent, "the station's agent belongs to user \(user), and this is another session",
      .run(
        "sudo -u \(user) XDG_RUNTIME_DIR=/run/user/$(id -u \(user)) tagroute doctor",
        "examines the agent of the station"))
  }

  func startingStation(_ user: String) -> Remedy {
    .run(
      "sudo loginctl enable-linger \(user) && sudo systemctl --user --machine=\(user)@ restart tagroute-station.service",
      "docs/stations.md")
  }
}
