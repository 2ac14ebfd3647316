import ReaderSimulator
import TestKit

@testable import IntegrationTests

/// GnuPG with a home of its own, whose scdaemon uses pcscd.
struct GnuPG {
  private let environment: [String: String]

  /// - Parameters:
  ///   - desk: whose pcscd it uses.
  ///   - reader: pcscd's name of the reader. scdaemon takes the first one otherwise.
  ///   - isShared: whether scdaemon leaves the card to other programs (`pcsc-shared` in scdaemon(1)).
  /// - Throws: `RigError` if its home cannot be written.
  init(_ desk: CardDesktop, reader: String, isShared: Bool) throws {
    try desk.write(
      "disable-ccid\nreader-port \(reader)\n" + (isShared ? "pcsc-shared\n" : ""), to: "gnupg/scdaemon.conf",
      mode: 0o600)
    environment = desk.environment(["GNUPGHOME": desk.file("gnupg")])
    let gpg = self
    atEndOfTest { try await gpg.end() }
  }

  /// Runs `gpg --card-status`. gpg-agent and scdaemon then keep running, and scdaemon stays connected to the card.
  func cardStatus() async throws -> (status: ChildProcess.ExitStatus, output: String, log: [String]) {
    try await ChildProcess.run(
      try BuiltProducts.systemProgram("gpg", package: "gpg"), ["--no-permission-warning", "--card-status"],
      environment: environment)
  }

  /// Ends gpg-agent and scdaemon.
  func end() async throws {
    _ = try await ChildProcess.run(
      try BuiltProducts.systemProgram("gpgconf", package: "gpgconf"), ["--kill", "all"], environment: environment)
  }
}
