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

func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], pure: Bool = false, exclude: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: exclude, swiftSettings: pure ? pureSettings : settings)
}

/// Release executables carry the Swift runtime, so a user's machine needs none.
func program(_ name: String, _ dependencies: [Target.Dependency], libraries: [String] = []) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
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

func tests(_ tier: Tier, _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(
    name: name,
    dependencies: dependencies + (tier == .fast ? [] : programs),
    path: "Tests/\(tier.rawValue)/\(name)",
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
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CGIO", pkgConfig: "gio-unix-2.0", providers: [.apt(["libglib2.0-dev"])]),
    .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
    .systemLibrary(name: "CNFC", pkgConfig: "libnfc", providers: [.apt(["libnfc-dev"])]),
    .systemLibrary(name: "CPCSC", pkgConfig: "libpcsclite", providers: [.apt(["libpcsclite-dev"])]),
    .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
    .target(name: "CShims", cSettings: [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]),

    // The reader simulator's driver for pcscd. It runs in that process, which has no sanitizer's runtime.
    // Nor has it the Swift runtime, which a library in C does not need either.
    .target(
      name: "CSimulatedIFD", cSettings: [.unsafeFlags(["-fno-sanitize=all"])],
      linkerSettings: [.unsafeFlags(["-static-stdlib", "-nostartfiles"], .when(configuration: .release))]),

    // What every process stands on.
    module("EventLoop", ["CShims"]),
    module("Journal"),
    module("Localization", ["CShims", "EventLoop", "Names"]),
    module("Names", pure: true),

    // Pure: values in, values out.
    module("Framing", ["Names", "Tags"], pure: true),
    module("NDEF", pure: true),
    module("Routing", ["NDEF", "UniversalLinks"], pure: true),
    module("ScanGate", pure: true),
    module("Tags", ["NDEF", "Names"], pure: true),
    module("UniversalLinks", ["CIDN2", "CPSL"], pure: true),

    // Private processes and buses for the demo, the benchmark and the tests.
    module("Rig", ["CShims", "EventLoop", "TestSupport"]),

    // Borders: hardware, buses, files, the desktop.
    module("AssociationFetch", ["Associations", "CCurl", "EventLoop", "UniversalLinks"]),
    module("Associations", ["EventLoop", "KeyFile", "Names", "UniversalLinks"]),
    module("Bus", ["CDBus", "EventLoop"]),
    module("Configuration", ["KeyFile", "Names", "ScanGate"]),
    module("DeviceEvents", ["CUdev", "EventLoop"]),
    module(
      "Handlers", ["Bus", "CGIO", "CShims", "EventLoop", "KeyFile", "NDEF", "Names", "Routing", "UniversalLinks"]),
    module("Inbox", ["CSQLite", "EventLoop", "Names"]),
    module("KeyFile", ["CGIO"]),
    module("Notifications", ["Bus", "EventLoop", "Names"]),
    module("LibNFCReader", ["CNFC", "Framing", "Journal", "Names", "Reader", "ReaderLink", "Tags"]),
    module("PCSCReader", ["CPCSC", "EventLoop", "Framing", "Journal", "Names", "Reader", "ReaderLink", "Tags"]),
    module("Reader", ["CSeccomp", "CShims", "Framing", "Journal", "Names", "ReaderLink", "Tags"]),
    module("ReaderLink", ["EventLoop", "Journal", "NDEF", "Names"]),
    module("ReaderSimulator", ["CShims", "EventLoop", "NDEF"]),
    module("Session", ["Bus", "EventLoop", "ScanGate"]),
    module("TagrouteClient", ["Bus", "EventLoop", "NDEF", "Names"]),

    // Core NFC of iOS, for sources that are written for it.
    // In Swift 5 mode, since the compiler then treats its types as those of an SDK: an older source that hands a session
    // to a completion handler gets no warning. A test compiles it in Swift 6 mode too.
    .target(
      name: "CoreNFC", dependencies: ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient"],
      swiftSettings: settings + [.swiftLanguageMode(.v5)]),

    // Taps for an MQTT broker.
    module(
      "Mqtt",
      [
        "Bus", "CCurl", "CGIO", "CShims", "Configuration", "EventLoop", "Journal", "KeyFile", "NDEF", "Names",
        "TagrouteClient",
      ]),

    // What keeps tags from their apps, and how to fix it.
    module("Doctor", ["Bus", "Configuration", "EventLoop", "Framing", "KeyFile", "Names", "Rig", "TagrouteClient"]),

    // Composition roots: the only places where stages meet.
    module(
      "Agent",
      [
        "Associations", "Bus", "CShims", "Configuration", "EventLoop", "Handlers", "Inbox", "Journal", "KeyFile",
        "Localization", "NDEF", "Names",
        "Notifications",
        "Routing", "ScanGate", "Session", "TagrouteClient", "UniversalLinks",
      ]),
    module(
      "Benchmarks",
      [
        "Bus", "Configuration", "CoreNFC", "EventLoop", "Handlers", "NDEF", "Names", "ReaderLink", "ReaderSimulator",
        "Rig", "Routing", "TagrouteClient", "TestRig", "UniversalLinks",
      ],
      exclude: [
        "HomeAssistant/home-assistant.py", "HomeAssistant/requirements.txt", "Mqtt/paho-publisher.py",
        "Nfcpy/nfcpy-reader.py", "PCSC/pyscard-monitor.py",
      ]),
    module(
      "CommandLineTool",
      [
        "AssociationFetch", "Associations", "Bus", "CShims", "Doctor", "EventLoop", "Handlers", "Journal", "KeyFile",
        "Localization", "NDEF", "Names", "Notifications", "Rig", "Routing", "TagrouteClient", "UniversalLinks",
      ]),
    module(
      "Daemon",
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
      ], swiftSettings: settings),

    // Not installed, so they take the runtime from the toolchain. The last two ask one question, for the benchmark.
    .executableTarget(name: "tagroute-bench", dependencies: ["Benchmarks"], swiftSettings: settings),
    .executableTarget(name: "availability-core-nfc", dependencies: ["CoreNFC"], swiftSettings: settings),
    .executableTarget(
      name: "availability-client", dependencies: ["EventLoop", "TagrouteClient"], swiftSettings: settings),

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
    module("TestSupport", ["EventLoop"]),
    .target(
      name: "TestRig",
      dependencies: [
        "Bus", "CShims", "EventLoop", "NDEF", "Names", "ReaderLink", "ReaderSimulator", "Rig", "TestSupport",
      ],
      exclude: ["Mqtt/mqtt-proxy.py", "StandIns/association-server.py", "pcsc-client.py", "umockdev-testbed.py"],
      swiftSettings: settings),

    tests(
      .fast, "AgentTests",
      [
        "Agent", "Bus", "Configuration", "EventLoop", "Handlers", "Inbox", "NDEF", "Names", "Notifications", "Routing",
        "ScanGate", "UniversalLinks",
      ]),
    tests(.fast, "AssociationFetchTests", ["AssociationFetch"]),
    tests(.fast, "AssociationsTests", ["Associations", "TestSupport", "UniversalLinks"]),
    tests(.fast, "BusTests", ["Bus", "EventLoop"]),
    tests(
      .fast, "CommandLineToolTests",
      [
        "Bus", "CommandLineTool", "Doctor", "NDEF", "Names", "Routing", "TagrouteClient", "TestSupport",
        "UniversalLinks",
      ],
      exclude: ["Writing/typed-links.jsonl"]),
    tests(.fast, "ConfigurationTests", ["Configuration", "KeyFile", "Names", "ScanGate", "TestSupport"]),
    tests(.fast, "CoreNFCTests", ["Bus", "CoreNFC", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestSupport"]),
    tests(
      .fast, "DaemonTests",
      [
        "Bus", "Configuration", "Daemon", "DeviceEvents", "EventLoop", "Journal", "KeyFile", "Names", "ReaderLink",
        "ScanGate", "Session", "TestSupport",
      ]),
    tests(
      .fast, "DoctorTests",
      ["Bus", "Configuration", "Doctor", "Framing", "KeyFile", "Names", "ScanGate", "TagrouteClient", "TestSupport"]),
    tests(.fast, "EventLoopTests", ["EventLoop", "TestSupport"]),
    tests(.fast, "FramingTests", ["Framing", "Names", "Tags"]),
    tests(
      .fast, "HandlersTests",
      ["Bus", "EventLoop", "Handlers", "KeyFile", "NDEF", "Names", "Routing", "TestSupport", "UniversalLinks"],
      exclude: ["Rules/Decisions"]),
    tests(.fast, "InboxTests", ["EventLoop", "Inbox", "Names", "TestSupport"]),
    tests(.fast, "KeyFileTests", ["KeyFile"]),
    tests(
      .fast, "LibNFCReaderTests",
      [
        "EventLoop", "Framing", "LibNFCReader", "NDEF", "Names", "Reader", "ReaderLink", "ReaderSimulator", "Tags",
        "TestSupport",
      ]),
    tests(.fast, "LocalizationTests", ["Localization"]),
    tests(
      .fast, "MqttTests",
      ["Configuration", "Journal", "KeyFile", "Mqtt", "NDEF", "Names", "TagrouteClient", "TestSupport"]),
    tests(
      .fast, "NDEFTests", ["NDEF", "TestSupport"], exclude: ["Differential/generate.py", "Differential/ndeflib.jsonl"]),
    tests(.fast, "NotificationsTests", ["Bus", "EventLoop", "Names", "Notifications"]),
    tests(.fast, "PCSCReaderTests", ["Framing", "Names", "PCSCReader", "ReaderLink", "Tags", "TestSupport"]),
    tests(.fast, "ReaderLinkTests", ["Journal", "Names", "ReaderLink"]),
    tests(.fast, "ReaderSimulatorTests", ["EventLoop", "NDEF", "ReaderSimulator", "TestSupport"]),
    tests(.fast, "RoutingTests", ["NDEF", "Routing", "TestSupport", "UniversalLinks"]),
    tests(.fast, "ScanGateTests", ["ScanGate"]),
    tests(.fast, "SessionTests", ["Bus", "EventLoop", "ScanGate", "Session", "TestSupport"]),
    tests(.fast, "TagrouteClientTests", ["Bus", "Names", "TagrouteClient", "TestSupport"]),
    tests(.fast, "TagsTests", ["NDEF", "Names", "Tags", "TestSupport"]),
    tests(.fast, "UniversalLinksTests", ["TestSupport", "UniversalLinks"]),

    // A tier uses what is written for the tiers before it.
    tests(
      .system, "AgentSystemTests",
      [
        "Agent", "AgentTests", "Bus", "Configuration", "EventLoop", "Handlers", "Inbox", "Journal", "KeyFile", "NDEF",
        "Names", "Notifications", "Routing", "TestRig",
      ]),
    tests(
      .system, "AssociationFetchSystemTests",
      ["AssociationFetch", "Associations", "EventLoop", "TestRig", "UniversalLinks"]),
    tests(.system, "BusSystemTests", ["Bus", "BusTests", "EventLoop", "TestRig"]),
    tests(
      .system, "CommandLineToolSystemTests",
      ["Bus", "CommandLineTool", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestRig"]),
    tests(
      .system, "CoreNFCSystemTests",
      ["Bus", "CoreNFC", "CoreNFCTests", "EventLoop", "NDEF", "Names", "TestRig"]),
    tests(
      .system, "DaemonSystemTests",
      ["Bus", "Daemon", "DaemonTests", "EventLoop", "Journal", "Names", "ReaderLink", "TestRig"]),
    tests(.system, "EventLoopSystemTests", ["CShims", "EventLoop", "TestRig"]),
    tests(
      .system, "ExamplesTests",
      [
        "Bus", "NDEF", "Names", "ReaderSimulator", "TestRig", "chip-reader", "ndef-reader", "suica", "tag-writer",
        "transit-card", "ultralight-writer",
      ]),
    tests(
      .system, "HandlersSystemTests",
      ["Bus", "EventLoop", "Handlers", "HandlersTests", "NDEF", "Routing", "TestRig", "UniversalLinks"]),
    tests(.system, "InboxSystemTests", ["EventLoop", "Inbox", "TestRig"]),
    tests(
      .system, "IntegrationTests",
      [
        "Bus", "CoreNFC", "EventLoop", "NDEF", "Names", "ReaderSimulator", "TagrouteClient", "TestRig", "ndef-reader",
        "suica", "tag-handler", "tag-writer",
      ]),
    tests(
      .system, "LibNFCReaderSystemTests",
      [
        "CShims", "EventLoop", "Framing", "Journal", "LibNFCReader", "LibNFCReaderTests", "NDEF", "Names", "Reader",
        "ReaderLink", "ReaderSimulator", "Tags", "TestRig",
      ], exclude: ["Confinement/Attempts/attempts.c"]),
    tests(
      .system, "MqttSystemTests", ["Bus", "EventLoop", "Names", "TagrouteClient", "TestRig"],
      exclude: ["check-payload.py", "hostile-broker.py", "paho-subscriber.py"]),
    tests(
      .system, "NotificationsSystemTests",
      ["Bus", "EventLoop", "Names", "Notifications", "NotificationsTests", "TestRig"]),
    tests(
      .system, "PCSCReaderSystemTests",
      [
        "CShims", "EventLoop", "Framing", "Journal", "Names", "PCSCReader", "Reader", "ReaderLink",
        "ReaderSimulator", "TestRig",
      ], exclude: ["Confinement/Attempts/card-attempts.c"]),
    tests(.system, "ReaderLinkSystemTests", ["EventLoop", "ReaderLink", "TestRig"]),
    tests(.system, "ReaderSimulatorSystemTests", ["EventLoop", "ReaderSimulator", "ReaderSimulatorTests", "TestRig"]),
    tests(.system, "RigTests", ["Rig", "TestRig"]),
    tests(.system, "SessionSystemTests", ["Bus", "EventLoop", "ScanGate", "Session", "TestRig"]),
    tests(
      .system, "TagrouteClientSystemTests",
      ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestRig", "tag-handler"]),

    tests(.long, "AgentLongTests", ["AgentSystemTests", "AgentTests", "Bus", "NDEF", "TestRig"]),
    tests(.long, "HandlersLongTests", ["Bus", "EventLoop", "Handlers", "NDEF", "Routing", "TestRig"]),
    tests(.long, "BusLongTests", ["Bus", "BusSystemTests", "EventLoop", "TestRig"]),
    tests(.long, "DaemonLongTests", ["DaemonTests"]),
    tests(
      .long, "IntegrationLongTests",
      ["Bus", "EventLoop", "IntegrationTests", "NDEF", "Names", "ReaderSimulator", "TagrouteClient", "TestRig"]),
    tests(
      .long, "LibNFCReaderLongTests",
      [
        "LibNFCReader", "LibNFCReaderSystemTests", "LibNFCReaderTests", "ReaderLink", "ReaderSimulator",
        "Tags", "TestRig",
      ]),
    tests(.long, "MqttLongTests", ["Bus", "MqttSystemTests", "MqttTests", "TestRig"]),
    tests(
      .long, "PCSCReaderLongTests", ["Names", "PCSCReaderSystemTests", "ReaderLink", "ReaderSimulator", "TestRig"]),
    tests(.long, "SessionLongTests", ["SessionTests"]),
    .testTarget(
      name: "CoreNFCInterfaceTests", dependencies: ["CoreNFC", "CoreNFCTests", "EventLoop", "TestRig"],
      path: "Tests/Long/CoreNFCInterfaceTests", exclude: ["TypeChecked"],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)

// Packaging/test builds only the tests that it runs: folders below Tests, such as "Fast System/BusSystemTests".
if let folders = Context.environment["TAGROUTE_TESTS"]?.split(separator: " ") {
  package.targets.removeAll { target in
    target.type == .test && !folders.contains { "\(target.path ?? "")/".hasPrefix("Tests/\($0)/") }
  }
}
