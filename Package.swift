// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target of ours.
///
/// - `ExistentialAny`: the cost of an existential is visible where it is paid.
/// - `InternalImportsByDefault`: a module's dependencies leak into its interface only where that is said.
/// - `MemberImportVisibility`: a member is found only through a module that the file imports, so the module graph is honest.
/// - `NonisolatedNonsendingByDefault`: an async function stays on its caller's executor; the event loop is left only on purpose.
/// - `InferIsolatedConformances`: an actor's conformance carries the actor's isolation.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

/// Modules that only compute: every unsafe construct in them is a warning, and so an error.
let pureSettings = settings + [.strictMemorySafety()]

/// The rooms of `Sources`, by the way of a tap, and of `Tests`. ARCHITECTURE.md has the map.
enum Room: String {
  case tag = "Tag"
  case reader = "Reader"
  case daemon = "Daemon"
  case agent = "Agent"
  case client = "Client"
  case system = "System"
  case development = "Development"
  /// Tests of several rooms together.
  case whole = "Whole"
}

func module(
  _ name: String, in room: Room, _ dependencies: [Target.Dependency] = [], pure: Bool = false, exclude: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(room.rawValue)/\(name)", exclude: exclude,
    swiftSettings: pure ? pureSettings : settings)
}

func library(_ name: String, pkgConfig: String, package: String) -> Target {
  .systemLibrary(name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// Installed. Packaging/build-release links it with a Swift runtime for all programs, so a user's machine needs none.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/Programs/\(name)", swiftSettings: settings)
}

/// A program that is written for iOS, with the compiler's own settings.
func coreNFCExample(_ name: String, _ language: SwiftLanguageMode = .v5) -> Target {
  .executableTarget(
    name: name, dependencies: ["CoreNFC"], path: "Examples/core-nfc/\(name)", exclude: ["Info.plist"],
    swiftSettings: [.swiftLanguageMode(language), .treatAllWarnings(as: .error)])
}

/// What a test needs, and so when it runs. CONTRIBUTING.md says what belongs where.
enum Tier: String {
  /// Values and temporary files.
  case fast = "Fast"
  /// Our programs, buses, and the services of the system.
  case system = "System"
  /// What searches or repeats.
  case long = "Long"
}

/// Every program, for tests that start some.
let programs: [Target.Dependency] = [
  "tagroute", "tagroute-agent", "tagroute-mqtt", "tagroute-reader", "tagroute-reader-pcsc", "tagroute-simulator",
  "tagrouted",
]

/// Not installed, so it takes the runtime from the toolchain.
func tool(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/Development/\(name)", swiftSettings: settings)
}

func tests(
  _ tier: Tier, _ room: Room, _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name,
    dependencies: dependencies + (tier == .fast ? [] : programs),
    path: "Tests/\(room.rawValue)/\(tier.rawValue)/\(name)",
    exclude: exclude,
    swiftSettings: settings
  )
}

let package = Package(
  name: "tagroute",
  products: [
    .library(name: "CoreNFC", targets: ["CoreNFC"]),
    .library(name: "NDEF", targets: ["NDEF"]),
    .library(name: "TagrouteClient", targets: ["TagrouteClient"]),
    .library(name: "UniversalLinks", targets: ["UniversalLinks"]),
    // The driver that pcscd loads in tests and in the demo; no program links it.
    .library(name: "tagroute-ifd", type: .dynamic, targets: ["CSimulatedIFD"]),
  ],
  targets: [
    // C libraries. Each has one importer; Packaging/check-module-graph holds us to it.
    library("CDBus", pkgConfig: "dbus-1", package: "libdbus-1-dev"),
    library("CGIO", pkgConfig: "gio-unix-2.0", package: "libglib2.0-dev"),
    library("CGTK", pkgConfig: "libadwaita-1", package: "libadwaita-1-dev"),
    library("CIDN2", pkgConfig: "libidn2", package: "libidn2-dev"),
    library("CNFC", pkgConfig: "libnfc", package: "libnfc-dev"),
    library("CPCSC", pkgConfig: "libpcsclite", package: "libpcsclite-dev"),
    library("CPSL", pkgConfig: "libpsl", package: "libpsl-dev"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CSeccomp", pkgConfig: "libseccomp", package: "libseccomp-dev"),
    library("CUdev", pkgConfig: "libudev", package: "libudev-dev"),
    // Not linked with libcurl: it loads it when it is needed.
    .target(name: "CCurl", path: "Sources/CLibraries/CCurl"),
    .target(name: "CGTKShims", dependencies: ["CGTK"], path: "Sources/CLibraries/CGTKShims"),
    .target(
      name: "CShims", path: "Sources/CLibraries/CShims",
      cSettings: [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]),

    // The reader simulator's driver for pcscd. It runs in that process, which has no sanitizer's runtime.
    // Nor has it the Swift runtime, which a library in C does not need either.
    .target(
      name: "CSimulatedIFD", path: "Sources/Development/CSimulatedIFD",
      cSettings: [.unsafeFlags(["-fno-sanitize=all"])],
      linkerSettings: [.unsafeFlags(["-static-stdlib", "-nostartfiles"], .when(configuration: .release))]),

    // What every process stands on.
    module("Bus", in: .system, ["CDBus", "EventLoop"]),
    module("EventLoop", in: .system, ["CShims"]),
    module("Journal", in: .system, []),
    module("Localization", in: .system, ["CShims", "EventLoop", "Names"]),
    module("Names", in: .system, [], pure: true),
    module("Settings", in: .system, ["CGIO", "Names"]),

    // Messages on tags, and the links in them.
    module("NDEF", in: .tag, [], pure: true),
    module("Tags", in: .tag, ["NDEF", "Names"], pure: true),
    module("UniversalLinks", in: .tag, ["CIDN2", "CPSL", "Names"], pure: true),

    // The programs that use readers.
    module("PN53x", in: .reader, ["Names", "Tags"], pure: true),
    module("ReaderModels", in: .reader, ["Names"], pure: true),
    module("ReaderProtocol", in: .reader, ["Journal", "NDEF", "Names"]),
    module(
      "ReaderKit", in: .reader,
      ["CSeccomp", "CShims", "EventLoop", "Journal", "Names", "PN53x", "ReaderProtocol", "Tags"]),
    module("LibNFCReader", in: .reader, ["CNFC", "Journal", "Names", "PN53x", "ReaderKit", "ReaderProtocol", "Tags"]),
    module(
      "PCSCReader", in: .reader,
      ["CPCSC", "EventLoop", "Journal", "Names", "PN53x", "ReaderKit", "ReaderModels", "ReaderProtocol", "Tags"]),

    // The system's daemon.
    module("Presence", in: .daemon, ["Bus", "EventLoop", "Settings"]),
    module(
      "Daemon", in: .daemon,
      [
        "Bus", "CShims", "CUdev", "EventLoop", "Journal", "NDEF", "Names", "Presence", "ReaderModels", "ReaderProtocol",
        "Settings",
      ]),

    // The user's agent.
    module("Associations", in: .agent, ["EventLoop", "Names", "Settings", "UniversalLinks"]),
    module("Routing", in: .agent, ["NDEF", "Names", "UniversalLinks"], pure: true),
    module(
      "Handlers", in: .agent,
      ["Bus", "CGIO", "CShims", "EventLoop", "NDEF", "Names", "Routing", "Settings", "UniversalLinks"]),
    module("Inbox", in: .agent, ["CSQLite", "EventLoop", "NDEF", "Names"]),
    module("Notifications", in: .agent, ["Bus", "EventLoop", "Names"]),
    module(
      "Agent", in: .agent,
      [
        "Associations", "Bus", "CGIO", "CShims", "EventLoop", "Handlers", "Inbox", "Journal", "Localization", "NDEF",
        "Names", "Notifications", "Presence", "Routing", "Settings", "TagrouteClient", "UniversalLinks",
      ]),

    // Clients.
    module("TagrouteClient", in: .client, ["Bus", "EventLoop", "NDEF", "Names"]),
    // Core NFC of iOS, for sources that are written for it.
    // In Swift 5 mode, since the compiler then treats its types as those of an SDK: an older source that hands a session
    // to a completion handler gets no warning. A test compiles it in Swift 6 mode too.
    .target(
      name: "CoreNFC", dependencies: ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient"],
      path: "Sources/Client/CoreNFC",
      swiftSettings: settings + [.swiftLanguageMode(.v5)]),
    module(
      "Mqtt", in: .client,
      ["Bus", "CCurl", "CGIO", "CShims", "EventLoop", "Journal", "NDEF", "Names", "Settings", "TagrouteClient"]),
    module(
      "Doctor", in: .client,
      [
        "Bus", "CShims", "EventLoop", "Handlers", "Names", "ReaderModels", "Settings", "TagrouteClient",
        "UniversalLinks",
      ]),
    module("Records", in: .client, ["NDEF", "Names", "Notifications", "Routing", "UniversalLinks"], pure: true),
    module(
      "CommandLineTool", in: .client,
      [
        "Associations", "Bus", "CCurl", "CShims", "Doctor", "EventLoop", "Handlers", "Journal", "Localization", "NDEF",
        "Names", "Records", "Routing", "Settings", "TagrouteClient", "UniversalLinks",
      ]),
    // The window: what its pages show, and the widgets.
    module(
      "TagsPages", in: .client,
      [
        "Bus", "Doctor", "EventLoop", "Handlers", "Localization", "NDEF", "Names", "Notifications", "ReaderModels",
        "Records", "Routing", "Settings",
        "TagrouteClient", "UniversalLinks",
      ]),
    .target(
      name: "TagsWindow",
      dependencies: [
        "Bus", "CGTK", "CGTKShims", "Doctor", "EventLoop", "Handlers", "Localization", "Names", "Notifications",
        "Routing",
        "Settings", "TagrouteClient", "TagsPages",
      ],
      path: "Sources/Client/TagsWindow", exclude: ["UI"], swiftSettings: settings + [.defaultIsolation(MainActor.self)]),

    // What users never run, but for the simulator with its demo.
    module("ReaderSimulator", in: .development, ["CShims", "EventLoop", "NDEF", "Names"]),
    // Private processes, buses and folders, for tests, benchmarks and the demo.
    module("Rig", in: .development, ["CShims", "EventLoop"]),
    module(
      "Demo", in: .development,
      ["Bus", "CommandLineTool", "Doctor", "EventLoop", "NDEF", "Names", "Rig", "TagrouteClient"]),
    module(
      "TestKit", in: .development,
      ["Bus", "CShims", "Daemon", "EventLoop", "NDEF", "Names", "ReaderProtocol", "ReaderSimulator", "Rig"],
      exclude: ["Mqtt/mqtt-proxy.py", "StandIns/association-server.py", "pcsc-client.py", "umockdev-testbed.py"]),
    module(
      "Benchmarks", in: .development,
      [
        "Bus", "CoreNFC", "Daemon", "EventLoop", "NDEF", "Names", "ReaderProtocol", "ReaderSimulator", "Routing",
        "Settings", "TagrouteClient", "TestKit", "UniversalLinks",
      ],
      exclude: [
        "HomeAssistant/home-assistant.py", "HomeAssistant/requirements.txt", "Mqtt/paho-publisher.py",
        "Nfcpy/nfcpy-reader.py", "PCSC/pyscard-monitor.py",
      ]),

    program("tagroute", ["CommandLineTool"]),
    program("tagroute-agent", ["Agent"]),
    program("tagroute-gtk", ["TagsWindow"]),
    program("tagroute-mqtt", ["Mqtt"]),
    program("tagroute-reader", ["LibNFCReader"]),
    program("tagroute-reader-pcsc", ["PCSCReader"]),
    program("tagroute-simulator", ["Demo", "ReaderSimulator"]),
    program("tagrouted", ["Daemon"]),

    // The programs that Packaging/demo builds, in one call of `swift build`.
    .target(
      name: "DemoPrograms",
      dependencies: [
        "CSimulatedIFD", "tagroute", "tagroute-agent", "tagroute-reader", "tagroute-reader-pcsc", "tagroute-simulator",
        "tagrouted",
      ], path: "Sources/Development/DemoPrograms", swiftSettings: settings),

    // The last two ask one question, for the benchmark.
    tool("tagroute-bench", ["Benchmarks"]),
    tool("availability-core-nfc", ["CoreNFC"]),
    tool("availability-client", ["EventLoop", "TagrouteClient"]),

    // Programs to learn from: a client of the daemon and an app that tags open, in as few lines as it takes.
    .executableTarget(
      name: "suica", dependencies: ["TagrouteClient"], path: "Examples/suica", swiftSettings: settings),
    coreNFCExample("ndef-reader"), coreNFCExample("tag-writer"), coreNFCExample("transit-card"),
    coreNFCExample("chip-reader", .v6), coreNFCExample("ultralight-writer"),
    .executableTarget(
      name: "tag-handler", dependencies: ["NDEF", "TagrouteClient"], path: "Examples/tag-handler",
      exclude: [
        "handler.c", "handler.py", "org.example.CHandler.desktop", "org.example.PythonHandler.desktop",
        "org.example.SwiftHandler.desktop", "org.example.CHandler.service", "org.example.PythonHandler.service",
        "org.example.SwiftHandler.service",
      ], swiftSettings: settings),

    tests(
      .fast, .agent, "AgentTests",
      [
        "Agent", "Bus", "EventLoop", "Handlers", "Inbox", "NDEF", "Names", "Notifications", "Presence", "Rig",
        "Routing", "Settings", "UniversalLinks",
      ]),
    tests(.fast, .agent, "AssociationsTests", ["Associations", "Rig", "UniversalLinks"]),
    tests(.fast, .development, "BenchmarksTests", ["Benchmarks", "Names", "Rig"]),
    tests(.fast, .system, "BusTests", ["Bus", "EventLoop"]),
    tests(
      .fast, .client, "CommandLineToolTests",
      ["Bus", "CommandLineTool", "Doctor", "EventLoop", "NDEF", "Names", "Records", "Rig", "TagrouteClient"]),
    tests(.fast, .client, "CoreNFCTests", ["Bus", "CoreNFC", "EventLoop", "NDEF", "Names", "Rig", "TagrouteClient"]),
    tests(
      .fast, .daemon, "DaemonTests",
      [
        "Bus", "Daemon", "EventLoop", "Journal", "NDEF", "Names", "Presence", "ReaderModels", "ReaderProtocol", "Rig",
        "Settings",
      ]),
    tests(
      .fast, .client, "DoctorTests",
      ["Bus", "Doctor", "Names", "Presence", "ReaderModels", "Rig", "Settings", "TagrouteClient"]),
    tests(.fast, .system, "EventLoopTests", ["EventLoop", "Rig"]),
    tests(
      .fast, .agent, "HandlersTests",
      ["Bus", "EventLoop", "Handlers", "NDEF", "Names", "Rig", "Routing", "Settings", "UniversalLinks"],
      exclude: ["Rules/Decisions"]),
    tests(.fast, .agent, "InboxTests", ["EventLoop", "Inbox", "NDEF", "Names", "Rig"]),
    tests(
      .fast, .reader, "LibNFCReaderTests",
      [
        "Daemon", "EventLoop", "LibNFCReader", "NDEF", "Names", "PCSCReader", "PN53x", "ReaderKit", "ReaderModels",
        "ReaderProtocol", "ReaderSimulator", "Rig", "Tags",
      ],
      exclude: ["Captures/Traces"]),
    tests(.fast, .system, "LocalizationTests", ["Localization"]),
    tests(.fast, .client, "MqttTests", ["Journal", "Mqtt", "NDEF", "Names", "Rig", "Settings", "TagrouteClient"]),
    tests(
      .fast, .tag, "NDEFTests", ["NDEF", "Rig"],
      exclude: ["Differential/generate.py", "Differential/ndeflib.jsonl"]),
    tests(.fast, .system, "NamesTests", ["Names"]),
    tests(.fast, .agent, "NotificationsTests", ["Bus", "EventLoop", "Names", "Notifications", "Rig"]),
    tests(.fast, .reader, "PCSCReaderTests", ["Names", "PCSCReader", "ReaderModels", "ReaderProtocol", "Rig", "Tags"]),
    tests(.fast, .daemon, "PresenceTests", ["Bus", "EventLoop", "Presence", "Rig", "Settings"]),
    tests(.fast, .reader, "ReaderModelsTests", ["ReaderModels"]),
    tests(.fast, .reader, "ReaderProtocolTests", ["Journal", "Names", "ReaderProtocol"]),
    tests(.fast, .development, "ReaderSimulatorTests", ["EventLoop", "NDEF", "Names", "ReaderSimulator", "Rig"]),
    tests(
      .fast, .client, "RecordsTests", ["NDEF", "Names", "Records", "Rig", "Routing", "UniversalLinks"],
      exclude: ["typed-links.jsonl"]),
    tests(.fast, .agent, "RoutingTests", ["NDEF", "Rig", "Routing", "UniversalLinks"]),
    tests(.fast, .system, "SettingsTests", ["Names", "Presence", "Rig", "Settings"]),
    tests(.fast, .client, "TagrouteClientTests", ["Bus", "Names", "Rig", "TagrouteClient"]),
    tests(
      .fast, .client, "TagsPagesTests",
      [
        "Doctor", "Handlers", "NDEF", "Names", "Presence", "Rig", "Routing", "Settings", "TagrouteClient", "TagsPages",
        "UniversalLinks",
      ]),
    tests(.fast, .tag, "TagsTests", ["NDEF", "Names", "Rig", "Tags"]),
    tests(.fast, .tag, "UniversalLinksTests", ["Rig", "UniversalLinks"]),

    // A tier uses what is written for the tiers before it.
    tests(
      .system, .agent, "AgentSystemTests",
      [
        "Agent", "AgentTests", "Bus", "EventLoop", "Handlers", "Inbox", "Journal", "NDEF", "Names", "Notifications",
        "Routing", "Settings", "TagrouteClient", "TestKit",
      ]),
    tests(.system, .system, "BusSystemTests", ["Bus", "BusTests", "EventLoop", "TestKit"]),
    tests(
      .system, .client, "CommandLineToolSystemTests",
      [
        "Associations", "Bus", "CommandLineTool", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestKit",
        "UniversalLinks",
      ]),
    tests(
      .system, .client, "CoreNFCSystemTests",
      ["Bus", "CoreNFC", "CoreNFCTests", "EventLoop", "NDEF", "Names", "TestKit"]),
    tests(
      .system, .daemon, "DaemonSystemTests",
      ["Bus", "Daemon", "DaemonTests", "EventLoop", "Journal", "Names", "ReaderProtocol", "TestKit"]),
    tests(.system, .development, "DemoTests", ["Demo", "Rig", "TagrouteClient"]),
    tests(.system, .system, "EventLoopSystemTests", ["CShims", "EventLoop", "TestKit"]),
    tests(.system, .whole, "ExamplesTests", ["Bus", "NDEF", "Names", "ReaderSimulator", "TestKit"]),
    tests(
      .system, .agent, "HandlersSystemTests",
      ["Agent", "Bus", "EventLoop", "Handlers", "HandlersTests", "NDEF", "Routing", "TestKit", "UniversalLinks"]),
    tests(.system, .agent, "InboxSystemTests", ["EventLoop", "Inbox", "TestKit"]),
    tests(
      .system, .whole, "IntegrationTests",
      [
        "Bus", "CoreNFC", "CoreNFCSystemTests", "EventLoop", "NDEF", "Names", "ReaderSimulator", "TagrouteClient",
        "TestKit",
      ]),
    tests(
      .system, .reader, "LibNFCReaderSystemTests",
      [
        "CShims", "Daemon", "EventLoop", "Journal", "LibNFCReader", "LibNFCReaderTests", "NDEF", "Names", "ReaderKit",
        "ReaderProtocol", "ReaderSimulator", "Tags", "TestKit",
      ],
      exclude: ["Confinement/Attempts/attempts.c"]),
    tests(
      .system, .client, "MqttSystemTests", ["Bus", "EventLoop", "Names", "TagrouteClient", "TestKit"],
      exclude: ["check-payload.py", "hostile-broker.py", "paho-subscriber.py"]),
    tests(
      .system, .agent, "NotificationsSystemTests",
      ["Bus", "EventLoop", "Names", "Notifications", "NotificationsTests", "TestKit"]),
    tests(
      .system, .reader, "PCSCReaderSystemTests",
      [
        "CShims", "Daemon", "EventLoop", "Journal", "LibNFCReaderTests", "Names", "PCSCReader", "ReaderKit",
        "ReaderModels", "ReaderProtocol", "ReaderSimulator", "TestKit",
      ],
      exclude: ["Confinement/Attempts/card-attempts.c"]),
    tests(.system, .daemon, "PresenceSystemTests", ["Bus", "EventLoop", "Presence", "TestKit"]),
    tests(
      .system, .development, "ReaderSimulatorSystemTests",
      ["EventLoop", "ReaderSimulator", "ReaderSimulatorTests", "TestKit"]),
    tests(.system, .development, "RigTests", ["Rig"]),
    tests(
      .system, .client, "TagsWindowSystemTests", ["Bus", "EventLoop", "Names", "Rig", "TestKit", "tagroute-gtk"],
      exclude: ["screen-reader.py"]),
    tests(
      .system, .client, "TagrouteClientSystemTests", ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestKit"]),

    tests(.long, .agent, "AgentLongTests", ["AgentSystemTests", "AgentTests", "Bus", "NDEF", "TestKit"]),
    tests(.long, .system, "BusLongTests", ["Bus", "BusSystemTests", "EventLoop", "TestKit"]),
    tests(.long, .daemon, "DaemonLongTests", ["DaemonTests"]),
    tests(.long, .agent, "HandlersLongTests", ["Bus", "EventLoop", "Handlers", "NDEF", "Routing", "TestKit"]),
    tests(
      .long, .whole, "IntegrationLongTests",
      ["Bus", "EventLoop", "IntegrationTests", "NDEF", "Names", "ReaderSimulator", "TagrouteClient", "TestKit"]),
    tests(
      .long, .reader, "LibNFCReaderLongTests",
      [
        "Daemon", "LibNFCReader", "LibNFCReaderSystemTests", "LibNFCReaderTests", "ReaderProtocol", "ReaderSimulator",
        "Tags", "TestKit",
      ]),
    tests(.long, .client, "MqttLongTests", ["Bus", "MqttSystemTests", "MqttTests", "TestKit"]),
    tests(
      .long, .reader, "PCSCReaderLongTests",
      ["Daemon", "Names", "PCSCReaderSystemTests", "ReaderProtocol", "ReaderSimulator", "TestKit"]),
    tests(.long, .daemon, "PresenceLongTests", ["PresenceTests"]),
    .testTarget(
      name: "CoreNFCInterfaceTests", dependencies: ["CoreNFC", "CoreNFCTests", "EventLoop", "TestKit"],
      path: "Tests/Client/Long/CoreNFCInterfaceTests", exclude: ["TypeChecked"],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)

// Packaging/test builds only the tests that it runs: folders below those of the rooms, such as "Fast System/BusSystemTests".
if let folders = Context.environment["TAGROUTE_TESTS"]?.split(separator: " ") {
  package.targets.removeAll { target in
    // Tests/ROOM/TIER/NAME
    let place = (target.path ?? "").split(separator: "/").dropFirst(2).joined(separator: "/") + "/"
    return target.type == .test && !folders.contains { place.hasPrefix("\($0)/") }
  }
}
