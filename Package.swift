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

/// Release executables carry the Swift runtime, so a user's machine needs none.
func program(_ name: String, _ dependencies: [Target.Dependency], libraries: [String] = []) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: "Sources/Programs/\(name)",
    swiftSettings: settings,
    linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]
      + libraries.map { .linkedLibrary($0, .when(configuration: .release)) }
  )
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
    library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    library("CDBus", pkgConfig: "dbus-1", package: "libdbus-1-dev"),
    library("CGIO", pkgConfig: "gio-unix-2.0", package: "libglib2.0-dev"),
    library("CIDN2", pkgConfig: "libidn2", package: "libidn2-dev"),
    library("CNFC", pkgConfig: "libnfc", package: "libnfc-dev"),
    library("CPCSC", pkgConfig: "libpcsclite", package: "libpcsclite-dev"),
    library("CPSL", pkgConfig: "libpsl", package: "libpsl-dev"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CSeccomp", pkgConfig: "libseccomp", package: "libseccomp-dev"),
    library("CUdev", pkgConfig: "libudev", package: "libudev-dev"),
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
    module("EventLoop", in: .system, ["CShims"]),
    module("Journal", in: .system),
    module("Localization", in: .system, ["CShims", "EventLoop", "Names"]),
    module("Names", in: .system, pure: true),

    // Pure: values in, values out.
    module("Framing", in: .reader, ["Names", "Tags"], pure: true),
    module("NDEF", in: .tag, pure: true),
    module("Routing", in: .agent, ["NDEF", "UniversalLinks"], pure: true),
    module("ScanGate", in: .daemon, pure: true),
    module("Tags", in: .tag, ["NDEF", "Names"], pure: true),
    module("UniversalLinks", in: .tag, ["CIDN2", "CPSL"], pure: true),

    // Private processes and buses for the demo, the benchmark and the tests.
    module("Rig", in: .development, ["CShims", "EventLoop", "TestSupport"]),

    // Borders: hardware, buses, files, the desktop.
    module("AssociationFetch", in: .agent, ["Associations", "CCurl", "EventLoop", "UniversalLinks"]),
    module("Associations", in: .agent, ["EventLoop", "KeyFile", "Names", "UniversalLinks"]),
    module("Bus", in: .system, ["CDBus", "EventLoop"]),
    module("Configuration", in: .system, ["KeyFile", "Names", "ScanGate"]),
    module("DeviceEvents", in: .daemon, ["CUdev", "EventLoop"]),
    module(
      "Handlers", in: .agent,
      ["Bus", "CGIO", "CShims", "EventLoop", "KeyFile", "NDEF", "Names", "Routing", "UniversalLinks"]),
    module("Inbox", in: .agent, ["CSQLite", "EventLoop", "Names"]),
    module("KeyFile", in: .system, ["CGIO"]),
    module("Notifications", in: .agent, ["Bus", "EventLoop", "Names"]),
    module("LibNFCReader", in: .reader, ["CNFC", "Framing", "Journal", "Names", "Reader", "ReaderLink", "Tags"]),
    module(
      "PCSCReader", in: .reader, ["CPCSC", "EventLoop", "Framing", "Journal", "Names", "Reader", "ReaderLink", "Tags"]),
    module("Reader", in: .reader, ["CSeccomp", "CShims", "Framing", "Journal", "Names", "ReaderLink", "Tags"]),
    module("ReaderLink", in: .reader, ["EventLoop", "Journal", "NDEF", "Names"]),
    module("ReaderSimulator", in: .development, ["CShims", "EventLoop", "NDEF"]),
    module("Session", in: .daemon, ["Bus", "EventLoop", "ScanGate"]),
    module("TagrouteClient", in: .client, ["Bus", "EventLoop", "NDEF", "Names"]),

    // Core NFC of iOS, for sources that are written for it.
    // In Swift 5 mode, since the compiler then treats its types as those of an SDK: an older source that hands a session
    // to a completion handler gets no warning. A test compiles it in Swift 6 mode too.
    .target(
      name: "CoreNFC", dependencies: ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient"],
      path: "Sources/Client/CoreNFC",
      swiftSettings: settings + [.swiftLanguageMode(.v5)]),

    // Taps for an MQTT broker.
    module(
      "Mqtt", in: .client,
      [
        "Bus", "CCurl", "CGIO", "CShims", "Configuration", "EventLoop", "Journal", "KeyFile", "NDEF", "Names",
        "TagrouteClient",
      ]),

    // What keeps tags from their apps, and how to fix it.
    module(
      "Doctor", in: .client,
      ["Bus", "Configuration", "EventLoop", "Framing", "KeyFile", "Names", "Rig", "TagrouteClient"]),

    // Composition roots: the only places where stages meet.
    module(
      "Agent", in: .agent,
      [
        "Associations", "Bus", "CShims", "Configuration", "EventLoop", "Handlers", "Inbox", "Journal", "KeyFile",
        "Localization", "NDEF", "Names",
        "Notifications",
        "Routing", "ScanGate", "Session", "TagrouteClient", "UniversalLinks",
      ]),
    module(
      "Benchmarks", in: .development,
      [
        "Bus", "Configuration", "CoreNFC", "EventLoop", "Handlers", "NDEF", "Names", "ReaderLink", "ReaderSimulator",
        "Rig", "Routing", "TagrouteClient", "TestRig", "UniversalLinks",
      ],
      exclude: [
        "HomeAssistant/home-assistant.py", "HomeAssistant/requirements.txt", "Mqtt/paho-publisher.py",
        "Nfcpy/nfcpy-reader.py", "PCSC/pyscard-monitor.py",
      ]),
    module(
      "CommandLineTool", in: .client,
      [
        "AssociationFetch", "Associations", "Bus", "CShims", "Doctor", "EventLoop", "Handlers", "Journal", "KeyFile",
        "Localization", "NDEF", "Names", "Notifications", "Rig", "Routing", "TagrouteClient", "UniversalLinks",
      ]),
    module(
      "Daemon", in: .daemon,
      [
        "Bus", "CShims", "Configuration", "DeviceEvents", "EventLoop", "Framing", "Journal", "KeyFile", "NDEF", "Names",
        "ReaderLink", "ScanGate", "Session",
      ]),

    // What FoundationEssentials, for JSON, stands on; its static library does not say so itself.
    program("tagroute", ["CommandLineTool"], libraries: ["_FoundationCShims", "_FoundationCollections"]),
    program("tagroute-agent", ["Agent"]),
    program("tagroute-mqtt", ["Mqtt"]),
    program("tagroute-reader", ["LibNFCReader"]),
    program("tagroute-reader-pcsc", ["PCSCReader"]),
    program("tagroute-simulator", ["ReaderSimulator"]),
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

    // The code that only tests use: values and files; processes and stand-ins.
    module("TestSupport", in: .development, ["EventLoop"]),
    .target(
      name: "TestRig",
      dependencies: [
        "Bus", "CShims", "EventLoop", "NDEF", "Names", "ReaderLink", "ReaderSimulator", "Rig", "TestSupport",
      ],
      path: "Sources/Development/TestRig",
      exclude: ["Mqtt/mqtt-proxy.py", "StandIns/association-server.py", "pcsc-client.py", "umockdev-testbed.py"],
      swiftSettings: settings),

    tests(
      .fast, .agent, "AgentTests",
      [
        "Agent", "Bus", "Configuration", "EventLoop", "Handlers", "Inbox", "NDEF", "Names", "Notifications", "Routing",
        "ScanGate", "UniversalLinks",
      ]),
    tests(.fast, .agent, "AssociationFetchTests", ["AssociationFetch"]),
    tests(.fast, .agent, "AssociationsTests", ["Associations", "TestSupport", "UniversalLinks"]),
    tests(.fast, .system, "BusTests", ["Bus", "EventLoop"]),
    tests(
      .fast, .client, "CommandLineToolTests",
      [
        "Bus", "CommandLineTool", "Doctor", "NDEF", "Names", "Routing", "TagrouteClient", "TestSupport",
        "UniversalLinks",
      ],
      exclude: ["Writing/typed-links.jsonl"]),
    tests(.fast, .system, "ConfigurationTests", ["Configuration", "KeyFile", "Names", "ScanGate", "TestSupport"]),
    tests(
      .fast, .client, "CoreNFCTests", ["Bus", "CoreNFC", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestSupport"]),
    tests(
      .fast, .daemon, "DaemonTests",
      [
        "Bus", "Configuration", "Daemon", "DeviceEvents", "EventLoop", "Journal", "KeyFile", "Names", "ReaderLink",
        "ScanGate", "Session", "TestSupport",
      ]),
    tests(
      .fast, .client, "DoctorTests",
      ["Bus", "Configuration", "Doctor", "Framing", "KeyFile", "Names", "ScanGate", "TagrouteClient", "TestSupport"]),
    tests(.fast, .system, "EventLoopTests", ["EventLoop", "TestSupport"]),
    tests(.fast, .reader, "FramingTests", ["Framing", "Names", "Tags"]),
    tests(
      .fast, .agent, "HandlersTests",
      ["Bus", "EventLoop", "Handlers", "KeyFile", "NDEF", "Names", "Routing", "TestSupport", "UniversalLinks"],
      exclude: ["Rules/Decisions"]),
    tests(.fast, .agent, "InboxTests", ["EventLoop", "Inbox", "Names", "TestSupport"]),
    tests(.fast, .system, "KeyFileTests", ["KeyFile"]),
    tests(
      .fast, .reader, "LibNFCReaderTests",
      [
        "EventLoop", "Framing", "LibNFCReader", "NDEF", "Names", "Reader", "ReaderLink", "ReaderSimulator", "Tags",
        "TestSupport",
      ]),
    tests(.fast, .system, "LocalizationTests", ["Localization"]),
    tests(
      .fast, .client, "MqttTests",
      ["Configuration", "Journal", "KeyFile", "Mqtt", "NDEF", "Names", "TagrouteClient", "TestSupport"]),
    tests(
      .fast, .tag, "NDEFTests", ["NDEF", "TestSupport"],
      exclude: ["Differential/generate.py", "Differential/ndeflib.jsonl"]),
    tests(.fast, .agent, "NotificationsTests", ["Bus", "EventLoop", "Names", "Notifications"]),
    tests(.fast, .reader, "PCSCReaderTests", ["Framing", "Names", "PCSCReader", "ReaderLink", "Tags", "TestSupport"]),
    tests(.fast, .reader, "ReaderLinkTests", ["Journal", "Names", "ReaderLink"]),
    tests(.fast, .development, "ReaderSimulatorTests", ["EventLoop", "NDEF", "ReaderSimulator", "TestSupport"]),
    tests(.fast, .agent, "RoutingTests", ["NDEF", "Routing", "TestSupport", "UniversalLinks"]),
    tests(.fast, .daemon, "ScanGateTests", ["ScanGate"]),
    tests(.fast, .daemon, "SessionTests", ["Bus", "EventLoop", "ScanGate", "Session", "TestSupport"]),
    tests(.fast, .client, "TagrouteClientTests", ["Bus", "Names", "TagrouteClient", "TestSupport"]),
    tests(.fast, .tag, "TagsTests", ["NDEF", "Names", "Tags", "TestSupport"]),
    tests(.fast, .tag, "UniversalLinksTests", ["TestSupport", "UniversalLinks"]),

    // A tier uses what is written for the tiers before it.
    tests(
      .system, .agent, "AgentSystemTests",
      [
        "Agent", "AgentTests", "Bus", "Configuration", "EventLoop", "Handlers", "Inbox", "Journal", "KeyFile", "NDEF",
        "Names", "Notifications", "Routing", "TestRig",
      ]),
    tests(
      .system, .agent, "AssociationFetchSystemTests",
      ["AssociationFetch", "Associations", "EventLoop", "TestRig", "UniversalLinks"]),
    tests(.system, .system, "BusSystemTests", ["Bus", "BusTests", "EventLoop", "TestRig"]),
    tests(
      .system, .client, "CommandLineToolSystemTests",
      ["Bus", "CommandLineTool", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestRig"]),
    tests(
      .system, .client, "CoreNFCSystemTests",
      ["Bus", "CoreNFC", "CoreNFCTests", "EventLoop", "NDEF", "Names", "TestRig"]),
    tests(
      .system, .daemon, "DaemonSystemTests",
      ["Bus", "Daemon", "DaemonTests", "EventLoop", "Journal", "Names", "ReaderLink", "TestRig"]),
    tests(.system, .system, "EventLoopSystemTests", ["CShims", "EventLoop", "TestRig"]),
    tests(
      .system, .whole, "ExamplesTests",
      [
        "Bus", "NDEF", "Names", "ReaderSimulator", "TestRig", "chip-reader", "ndef-reader", "suica", "tag-writer",
        "transit-card", "ultralight-writer",
      ]),
    tests(
      .system, .agent, "HandlersSystemTests",
      ["Bus", "EventLoop", "Handlers", "HandlersTests", "NDEF", "Routing", "TestRig", "UniversalLinks"]),
    tests(.system, .agent, "InboxSystemTests", ["EventLoop", "Inbox", "TestRig"]),
    tests(
      .system, .whole, "IntegrationTests",
      [
        "Bus", "CoreNFC", "EventLoop", "NDEF", "Names", "ReaderSimulator", "TagrouteClient", "TestRig", "ndef-reader",
        "suica", "tag-handler", "tag-writer",
      ]),
    tests(
      .system, .reader, "LibNFCReaderSystemTests",
      [
        "CShims", "EventLoop", "Framing", "Journal", "LibNFCReader", "LibNFCReaderTests", "NDEF", "Names", "Reader",
        "ReaderLink", "ReaderSimulator", "Tags", "TestRig",
      ], exclude: ["Confinement/Attempts/attempts.c"]),
    tests(
      .system, .client, "MqttSystemTests", ["Bus", "EventLoop", "Names", "TagrouteClient", "TestRig"],
      exclude: ["check-payload.py", "hostile-broker.py", "paho-subscriber.py"]),
    tests(
      .system, .agent, "NotificationsSystemTests",
      ["Bus", "EventLoop", "Names", "Notifications", "NotificationsTests", "TestRig"]),
    tests(
      .system, .reader, "PCSCReaderSystemTests",
      [
        "CShims", "EventLoop", "Framing", "Journal", "Names", "PCSCReader", "Reader", "ReaderLink",
        "ReaderSimulator", "TestRig",
      ], exclude: ["Confinement/Attempts/card-attempts.c"]),
    tests(.system, .reader, "ReaderLinkSystemTests", ["EventLoop", "ReaderLink", "TestRig"]),
    tests(
      .system, .development, "ReaderSimulatorSystemTests",
      ["EventLoop", "ReaderSimulator", "ReaderSimulatorTests", "TestRig"]),
    tests(.system, .development, "RigTests", ["Rig", "TestRig"]),
    tests(.system, .daemon, "SessionSystemTests", ["Bus", "EventLoop", "ScanGate", "Session", "TestRig"]),
    tests(
      .system, .client, "TagrouteClientSystemTests",
      ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestRig", "tag-handler"]),

    tests(.long, .agent, "AgentLongTests", ["AgentSystemTests", "AgentTests", "Bus", "NDEF", "TestRig"]),
    tests(.long, .agent, "HandlersLongTests", ["Bus", "EventLoop", "Handlers", "NDEF", "Routing", "TestRig"]),
    tests(.long, .system, "BusLongTests", ["Bus", "BusSystemTests", "EventLoop", "TestRig"]),
    tests(.long, .daemon, "DaemonLongTests", ["DaemonTests"]),
    tests(
      .long, .whole, "IntegrationLongTests",
      ["Bus", "EventLoop", "IntegrationTests", "NDEF", "Names", "ReaderSimulator", "TagrouteClient", "TestRig"]),
    tests(
      .long, .reader, "LibNFCReaderLongTests",
      [
        "LibNFCReader", "LibNFCReaderSystemTests", "LibNFCReaderTests", "ReaderLink", "ReaderSimulator",
        "Tags", "TestRig",
      ]),
    tests(.long, .client, "MqttLongTests", ["Bus", "MqttSystemTests", "MqttTests", "TestRig"]),
    tests(
      .long, .reader, "PCSCReaderLongTests",
      ["Names", "PCSCReaderSystemTests", "ReaderLink", "ReaderSimulator", "TestRig"]),
    tests(.long, .daemon, "SessionLongTests", ["SessionTests"]),
    .testTarget(
      name: "CoreNFCInterfaceTests", dependencies: ["CoreNFC", "CoreNFCTests", "EventLoop", "TestRig"],
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
