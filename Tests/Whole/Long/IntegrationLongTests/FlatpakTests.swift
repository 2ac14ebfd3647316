import Bus
import EventLoop
import Glibc
import NDEF
import TestKit
import Testing

@testable import IntegrationTests

/// Taps for apps in the sandbox of the real Flatpak.
@Suite(
  .timeLimit(.minutes(60)), StopsAtEnd(),
  .enabled("this needs flatpak and user namespaces: apps in a Flatpak are NOT TESTED") {
    await FlatpakApps.isPossible()
  })
struct FlatpakTests {
  private let text = NDEFRecord.wellKnown("T", payload: Array("\u{2}ensoup".utf8))

  @Test func `apps in a Flatpak get the link and the whole message, as their exported entries say`() async throws {
    let starter = "`apps in a Flatpak get the link and the whole message`"
    let apps = try FlatpakApps(starter: starter)
    let desktop = try await Desktop(environment: apps.environment, starter: starter)
    try await apps.install(for: desktop)
    for id in ["org.example.Table", "org.example.CHandler"] {
      // What this test is about: if Flatpak ceases to rewrite the entry like this, the documentation has to change.
      let entry = String(decoding: try readFile(apps.entry(id)), as: UTF8.self)
      let parts = entry.split(separator: "[org.tagroute.Handler1]")
      try #require(parts.count == 2, "\(entry)")
      #expect(parts[0].contains("X-Flatpak=\(id)\n") && !entry.contains("TryExec"), "\(entry)")
      #expect(parts[1].contains("Exec=") && parts[1].contains("\nLinksInline={"), "\(entry)")
    }
    #expect(access(apps.entry("table").replacing(".desktop", with: ".json"), F_OK) != 0)

    let server = try await desktop.startWithServer()
    let check = try await desktop.installation.start("tagroute", ["handlers", "--check"])
    let status = try await check.exit()
    let problems = await check.log()
    #expect(status == .exited(0), "\(problems)")

    try await isOpened(
      "org.example.Table", link: "https://table.example.com/table/7", number: 1, apps, desktop, server
    ) { message in
      [
        "in a sandbox", "arguments: 1", "link: https://table.example.com/table/7", "uid: 04-00-00-00-00-00-01",
        "message: " + message.map(hexadecimal).joined(separator: " "),
      ]
    }
    try await isOpened(
      "org.example.CHandler", link: "https://c.example.com/table/8", number: 2, apps, desktop, server
    ) { _ in
      [
        "link: https://c.example.com/table/8", "tag: 04-00-00-00-00-00-02 type-2",
        "record 1: 1 U: .c.example.com/table/8", "record 2: 1 T: .ensoup",
      ]
    }

    // The path rules have survived the export.
    for link in ["https://table.example.com/bill", "https://c.example.com/bill"] {
      let resolve = try await desktop.installation.start("tagroute", ["resolve", "--explain", link])
      try await resolve.exit()
      let explanation = await resolve.standardOutput()
      #expect(explanation.contains("none of its path rules covers it"), "\(explanation)")
    }
  }

  /// Taps a tag with a link and a text, permits the app to open it, and compares what the app prints.
  private func isOpened(
    _ id: String, link: String, number: Int, _ apps: FlatpakApps, _ desktop: Desktop,
    _ server: NotificationServerStandIn, prints expected: ([UInt8]) -> [String]
  ) async throws {
    let printed = try apps.output(of: id, in: desktop)
    let tag = try Tag(number, uri: link, others: [text])
    try await desktop.place(tag)
    let shown = try await desktop.notification(on: server)
    // A store's app needs permission.
    #expect(shown.actions.contains("allow"), "\(shown)")
    try await server.click(shown, action: "allow")
    try await desktop.agent.line(containing: "was handed to \(id)")
    let lines = expected(tag.message)
    try await printed.line(containing: try #require(lines.last))
    #expect(await printed.log() == lines)
    printed.signal(SIGKILL)
    try await desktop.remove()
  }

  private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}

/// Two apps, built, exported and installed by the real Flatpak, with a runtime of the machine's own programs. Nothing
/// comes from the network.
///
/// `org.example.CHandler` is the example in C, and the bus starts it. `org.example.Table` is a script that `Exec=`
/// starts. Each prints the received data into a pipe, from inside its sandbox.
struct FlatpakApps {
  /// Holds the repository and the user's installation of Flatpak.
  private let directory: TemporaryDirectory
  private let starter: String

  /// Flatpak's exports, a data directory.
  private var exports: String { directory.file("flatpak/exports/share") }

  /// The variables that make Flatpak and the agent use this installation.
  var environment: [String: String] {
    ["FLATPAK_USER_DIR": directory.file("flatpak"), "XDG_DATA_DIRS": exports]
  }

  /// Whether Flatpak's sandbox can be made on this machine.
  static func isPossible() async -> Bool {
    guard let program = try? BuiltProducts.systemProgram("bwrap", package: "bubblewrap") else { return false }
    let sandbox = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "/bin/true"]
    return (try? await ChildProcess.run(program, sandbox, starter: "FlatpakApps"))?.status == .exited(0)
  }

  init(starter: String) throws {
    self.starter = starter
    directory = try TemporaryDirectory()
  }

  func entry(_ id: String) -> String { "\(exports)/applications/\(id).desktop" }

  func install(for desktop: Desktop) async throws {
    try directory.write(Self.tableEntry, to: "Table/files/share/applications/org.example.Table.desktop")
    // Flatpak does not export this file, which is why `LinksInline=` exists.
    try directory.write("{}", to: "Table/files/share/applications/table.json")
    try directory.write(Self.table, to: "Table/files/bin/table", mode: 0o755)
    try directory.write(Self.handlerEntry, to: "CHandler/files/share/applications/org.example.CHandler.desktop")
    try directory.write(
      "[D-BUS Service]\nName=org.example.CHandler\nExec=/app/bin/start\n",
      to: "CHandler/files/share/dbus-1/services/org.example.CHandler.service")
    try directory.write(
      "#!/bin/sh\nexec /app/bin/c-handler > \"$XDG_DATA_HOME/output\"\n", to: "CHandler/files/bin/start", mode: 0o755)
    let source =
      repositoryRoot + "/Examples/tag-handler/handler.c"
    let script = try directory.write(Self.script, to: "build")
    let (status, _, log) = try await ChildProcess.run(
      "/bin/sh", ["-eu", script, directory.path, source], environment: desktop.installation.environment,
      starter: starter)
    try #require(status == .exited(0), "\(log.joined(separator: "\n"))")

    // The private bus looks only into its own folder of services.
    let bus = try #require(desktop.installation.sessionBus)
    let service = "dbus-1/services/org.example.CHandler.service"
    try #require(access("\(exports)/\(service)", R_OK) == 0)
    #expect(symlink("\(exports)/\(service)", "\(bus.servicesDirectory)/org.example.CHandler.service") == 0)
    let client = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "test-client"))
    _ = try await client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
  }

  /// A reader of what an app prints. Only this folder of the user is also in the sandbox.
  func output(of id: String, in desktop: Desktop) throws -> ChildProcess {
    let folder = "home/.var/app/\(id)/data"
    try desktop.installation.directory.write("", to: "\(folder)/made-by-the-test")
    let pipe = desktop.installation.directory.file("\(folder)/output")
    try #require(mkfifo(pipe, 0o600) == 0)
    return try ChildProcess("/bin/cat", [pipe], environment: [:], starter: "\(starter)_\(id)")
  }

  private static let rules =
    #"LinksInline={"applinks": {"details": [{"appIDs": ["APP"], "components": [{"/": "/table/*"}]}]}}"#

  private static let handlerEntry = """
    [Desktop Entry]
    Type=Application
    Name=C handler
    DBusActivatable=true
    Implements=org.tagroute.Handler1;

    [org.tagroute.Handler1]
    Domains=c.example.com;
    \(rules.replacing("APP", with: "org.example.CHandler"))

    """

  private static let tableEntry = """
    [Desktop Entry]
    Type=Application
    Name=Table
    Exec=table %u
    TryExec=table
    Implements=org.tagroute.Handler1;

    [org.tagroute.Handler1]
    Domains=table.example.com;
    \(rules.replacing("APP", with: "org.example.Table"))

    """

  private static let table = """
    #!/bin/sh
    {
      test -e /.flatpak-info && echo in a sandbox
      echo "arguments: $#"
      echo "link: $1"
      echo "uid: $TAGROUTE_UID"
      echo "message:" $(od -An -v -tx1)
    } > "$XDG_DATA_HOME/output"

    """

  /// The runtime has a shell, `od`, the linker's own programs and the libraries of these and of the example in C.
  private static let script = #"""
    cd "$1"
    cc -o CHandler/files/bin/c-handler "$2" $(pkg-config --cflags --libs gio-2.0)
    mkdir -p runtime/files runtime/usr/bin runtime/usr/lib
    ln -s lib runtime/usr/lib64
    printf '[Runtime]\nname=org.example.Platform\n' > runtime/metadata
    cp /bin/sh /usr/bin/od /sbin/ldconfig runtime/usr/bin
    for program in /bin/sh /usr/bin/od CHandler/files/bin/c-handler; do
      ldd "$program" | grep -o '/[^ ]*' | while read -r library; do cp -L "$library" runtime/usr/lib; done
    done
    flatpak build-export --disable-sandbox --runtime repository runtime 1
    flatpak --user remote-add --no-gpg-verify here "file://$PWD/repository"
    flatpak --user install --noninteractive --assumeyes here org.example.Platform//1
    for app in Table:table CHandler:start; do
      folder=${app%:*}
      # build-init refuses a folder that has files already.
      mv "$folder" "$folder.files"
      flatpak build-init "$folder" "org.example.$folder" org.example.Platform org.example.Platform 1
      cp -R "$folder.files/files/." "$folder/files"
      flatpak build-finish --command="${app#*:}" "$folder"
      flatpak build-export --disable-sandbox repository "$folder" 1
    done
    flatpak --user install --noninteractive --assumeyes here org.example.Table//1 org.example.CHandler//1
    """#
}
