package import Rig

/// An X server without a screen, for real notification servers.
package struct VirtualScreen: Sendable {
  /// The process of the server.
  package let process: ChildProcess
  /// The server's `DISPLAY`, with a number that the server chose.
  package let display: String

  /// Starts a server, which accepts clients when this returns. The size is width and height in pixels.
  package init(size: String = "800x600") async throws {
    let program = try BuiltProducts.systemProgram("Xvfb", package: "xvfb")
    process = try ChildProcess(
      program, ["-displayfd", "1", "-noreset", "-screen", "0", "\(size)x24", "-nolisten", "tcp"])
    var seen = 0
    while true {
      try await process.line(containing: "", after: seen)
      seen += 1
      guard let number = Int(await process.standardOutput().prefix { $0.isNumber }) else { continue }
      display = ":\(number)"
      return
    }
  }
}
