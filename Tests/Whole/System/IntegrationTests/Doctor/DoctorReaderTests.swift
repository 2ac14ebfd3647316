import Bus
import Glibc
import TagrouteClient
import TestKit
import Testing

/// `tagroute doctor` with the real daemon and readers that cannot be opened.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DoctorReaderTests {
  /// Starts the daemon and the agent, and waits until the agent is registered.
  private func start(_ desktop: Desktop) async throws {
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
  }

  /// Starts a daemon whose reader is an ordinary file.
  private func failed(starter: String = #function) async throws -> (Desktop, node: String) {
    let desktop = try await Desktop(starter: starter)
    let node = try desktop.installation.directory.write("", to: "reader")
    try await start(desktop)
    try await desktop.status { $0.readers.first?.state == "failed" }
    return (desktop, node)
  }

  @Test func `a device that the unit of the daemon blocks is reported with a command that allows it`() async throws {
    let (desktop, node) = try await failed()
    let systemd = try await SystemdStandIn.start(on: desktop.systemBus.string)
    try await systemd.setUnit("tagrouted.service") { $0.devices = ["char-ttyUSB", "char-ttyACM"] }
    let closed = try await desktop.wrong()["reader"]
    #expect(closed?.command == "sudo systemctl set-property tagrouted.service 'DeviceAllow=\(node) rw'")
    #expect(closed?.text.contains("is failed (") == true)
    try await systemd.setUnit("tagrouted.service") { $0.devices = ["\(node) r"] }
    #expect(try await desktop.wrong()["reader"]?.command == closed?.command)
    // If the remedy was applied, or if the unit blocks no device, `tagroute doctor` prints no command.
    for devices in [["char-ttyUSB", node], []] {
      try await systemd.setUnit("tagrouted.service") { $0.devices = devices }
      let open = try await desktop.wrong()["reader"]
      #expect(open?.verdict == "wrong" && open?.command == nil, "\(devices)")
    }
  }

  @Test func `a device that the daemon may not open is reported with a command that grants access`() async throws {
    let (desktop, node) = try await failed()
    let directory = desktop.installation.directory
    let process = try await desktop.daemon.identifier
    let names = (user: "4711", group: "4711")
    func wrong(_ groups: String) async throws -> DoctorFinding? {
      _ = try directory.write(
        "Name:\ttagrouted\nUid:\t4711\t4711\t4711\t4711\nGid:\t4711\t4711\t4711\t4711\nGroups:\t\(groups)\n",
        to: "proc/\(process)/status")
      _ = try directory.write(
        "tagrouted\0--config\0\(directory.file("tagroute.conf"))\0", to: "proc/\(process)/cmdline")
      return try await desktop.wrong(["TAGROUTE_PROC": directory.file("proc")])["reader"]
    }
    chmod(node, 0o600)
    var file = stat()
    #expect(stat(node, &file) == 0)
    let opening = "sudo chmod g+rw \(node)"
    #expect(try await wrong("\(file.st_gid)")?.command == opening)
    // The user joins the group of the device only if the group has a name and is not root's. Otherwise the group
    // changes.
    let isRoots = file.st_gid == 0 || getgrgid(file.st_gid) == nil
    let group = getgrgid(file.st_gid).map { String(cString: $0.pointee.gr_name) } ?? ""
    #expect(
      try await wrong("")?.command
        == (isRoots
          ? "sudo chgrp \(names.group) \(node) && \(opening)" : "\(opening) && sudo usermod -aG \(group) \(names.user)")
    )
    chmod(node, 0o666)
    #expect(try await wrong("")?.command == nil)
  }
}
