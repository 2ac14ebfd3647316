import Bus

extension BusError {
  /// Whether the daemon or the agent does not run.
  nonisolated var isAway: Bool { [Name.nameHasNoOwner, Name.serviceUnknown].contains(name) }
}
