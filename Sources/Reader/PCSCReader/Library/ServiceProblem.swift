import Names

/// Why this process has no connection to pcscd.
enum ServiceProblem: Hashable, Sendable {
  /// pcscd is not installed, or does not run.
  case noService
  /// pcscd does not allow the connection (polkit).
  case refused
  /// pcscd closes each connection. It ends at once, or is older than 2.0 and does not allow the connection.
  case closed
  /// pcscd and libpcsclite belong to different versions.
  case otherVersion
  case other(String)

  /// Why `SCardEstablishContext` failed.
  init(_ error: PCSCError) {
    switch error {
    case .noService: self = .noService
    case .securityViolation: self = .refused
    case .communication: self = .closed
    case .serviceStopped: self = .otherVersion
    default: self = .other(error.description)
    }
  }

  /// The word for it in the output of `--watch`.
  var keyword: String {
    switch self {
    case .noService: "no-service"
    case .refused: "refused"
    case .closed: "closed"
    case .otherVersion: "version"
    case .other: "other"
    }
  }

  /// How long to wait for the next attempt, if no event ends the problem. pcscd writes a line into the log for each
  /// connection that it refuses.
  var pause: Duration { [.refused, .closed].contains(self) ? .seconds(60) : .seconds(30) }

  /// What happened and what to do.
  var reason: String {
    switch self {
    case .noService: "pcscd does not run; start it: sudo systemctl enable --now pcscd.socket"
    case .refused: "pcscd refuses the connection; \(Self.permission)"
    case .closed:
      "pcscd closes the connection: it ends at once, or polkit does not allow it; see journalctl -u pcscd, or "
        + Self.permission
    case .otherVersion:
      "pcscd and libpcsclite are of different versions; restart it: sudo systemctl restart pcscd.service"
    case .other(let reason): "pcscd cannot be used: \(reason)"
    }
  }

  private static let permission =
    "allow the actions org.debian.pcsc-lite.access_pcsc and access_card for the user \(ReaderRemedy.owner) in polkit"
}
