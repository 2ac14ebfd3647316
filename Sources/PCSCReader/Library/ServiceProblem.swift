import Names

/// Why this process has no connection to pcscd.
enum ServiceProblem: Hashable, Sendable {
  /// pcscd is not installed, or does not run.
  case noService
  /// pcscd does not allow the connection (polkit).
  case refused
  /// pcscd and libpcsclite belong to different versions.
  case otherVersion
  case other(String)

  /// Why `SCardEstablishContext` failed. pcscd before 2.0 closes a connection that it refuses.
  init(_ error: PCSCError) {
    switch error {
    case .noService: self = .noService
    case .securityViolation, .communication: self = .refused
    case .serviceStopped: self = .otherVersion
    default: self = .other(error.description)
    }
  }

  /// The word for it in the output of `--watch`.
  var keyword: String {
    switch self {
    case .noService: "no-service"
    case .refused: "refused"
    case .otherVersion: "version"
    case .other: "other"
    }
  }

  /// What happened and what to do.
  var reason: String {
    switch self {
    case .noService: "pcscd does not run; start it: sudo systemctl enable --now pcscd.socket"
    case .refused:
      "pcscd refuses the connection; allow the actions org.debian.pcsc-lite.access_pcsc and access_card "
        + "for the user \(ReaderRemedy.owner) in polkit"
    case .otherVersion:
      "pcscd and libpcsclite are of different versions; restart it: sudo systemctl restart pcscd.service"
    case .other(let reason): "pcscd cannot be used: \(reason)"
    }
  }
}
