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

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(
    name: name + "Tests",
    dependencies: [.init(stringLiteral: name)] + dependencies,
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
    .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
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

    // Private processes and buses for the demo, the benchmark and the tests, and random numbers from a seed.
    module("Rig", ["CShims", "EventLoop"]),

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
    module("Reader", ["CSeccomp", "CShims", "Framing", "Journal", "NDEF", "Names", "ReaderLink", "Tags"]),
    module("ReaderLink", ["CShims", "EventLoop", "Journal", "NDEF", "Names"]),
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
        "Bus", "CGIO", "CMosquitto", "CShims", "Configuration", "EventLoop", "Journal", "KeyFile", "NDEF", "Names",
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
        "Rig", "Routing", "TagrouteClient", "TestSupport", "UniversalLinks",
      ],
      exclude: [
        "HomeAssistant/home-assistant.py", "HomeAssistant/requirements.txt", "Mqtt/paho-publisher.py",
        "Nfcpy/nfcpy-reader.py", "PCSC/pyscard-monitor.py",
      ]),
    module(
      "CommandLineTool",
      [
        "AssociationFetch", "Associations", "Bus", "CShims", "Doctor", "EventLoop", "Handlers", "Journal", "KeyFile",
        "Localization", "NDEF", "Names", "Rig", "Routing", "TagrouteClient",
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

    // Tests, and the code that only they use.
    .target(
      name: "TestSupport", dependencies: ["Bus", "CShims", "EventLoop", "NDEF", "Names", "ReaderSimulator", "Rig"],
      exclude: ["Mqtt/mqtt-proxy.py", "association-server.py", "pcsc-client.py", "umockdev-testbed.py"],
      swiftSettings: settings),
    tests(
      "Agent",
      [
        "Bus", "EventLoop", "Handlers", "Inbox", "NDEF", "Names", "Notifications", "Routing", "TestSupport",
        "UniversalLinks", "tagroute", "tagroute-agent",
      ]),
    tests("AssociationFetch", ["Associations", "EventLoop", "TestSupport", "UniversalLinks"]),
    tests("Associations", ["Rig", "UniversalLinks"]),
    tests("Bus", ["EventLoop", "Rig", "TestSupport"]),
    tests("CommandLineTool", ["Bus", "Doctor", "NDEF", "Names", "TagrouteClient", "TestSupport", "tagroute"]),
    tests("Configuration", ["KeyFile", "Names", "ScanGate", "TestSupport"]),
    tests(
      "Daemon",
      [
        "Bus", "Configuration", "DeviceEvents", "EventLoop", "Framing", "Journal", "Names", "ReaderLink", "Rig",
        "ScanGate", "Session", "TestSupport", "tagroute-reader", "tagrouted",
      ]),
    tests(
      "Doctor", ["Bus", "Configuration", "Framing", "KeyFile", "Names", "ScanGate", "TagrouteClient", "TestSupport"]),
    tests("EventLoop", ["CShims", "Rig"]),
    tests("CoreNFC", ["Bus", "EventLoop", "NDEF", "Names", "TagrouteClient", "TestSupport"]),
    .testTarget(
      name: "CoreNFCInterfaceTests", dependencies: ["CoreNFC", "EventLoop", "TestSupport"], exclude: ["TypeChecked"],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ExamplesTests",
      dependencies: [
        "Bus", "NDEF", "Names", "ReaderSimulator", "TestSupport", "chip-reader", "ndef-reader", "suica", "tag-writer",
        "tagroute-agent", "tagroute-reader", "tagrouted", "transit-card", "ultralight-writer",
      ],
      swiftSettings: settings),
    tests("Framing", ["NDEF", "Names", "Rig", "Tags"]),
    tests(
      "Handlers", ["Bus", "EventLoop", "KeyFile", "NDEF", "Names", "Routing", "TestSupport", "UniversalLinks"],
      exclude: ["Rules/Decisions"]),
    tests("Inbox", ["EventLoop", "Names", "TestSupport"]),
    tests("KeyFile", []),
    tests("Localization", []),
    tests("Mqtt", ["Configuration", "Journal", "KeyFile", "NDEF", "Names", "Rig", "TagrouteClient"]),
    .testTarget(
      name: "MqttSystemTests",
      dependencies: [
        "Bus", "EventLoop", "Names", "Rig", "TagrouteClient", "TestSupport", "tagroute-agent", "tagroute-mqtt",
        "tagroute-reader", "tagroute-simulator", "tagrouted",
      ],
      exclude: ["check-payload.py", "paho-subscriber.py"], swiftSettings: settings),
    tests("NDEF", ["Rig"], exclude: ["Differential/generate.py", "Differential/ndeflib.jsonl"]),
    tests("Notifications", ["Bus", "EventLoop", "Names", "TestSupport"]),
    tests(
      "LibNFCReader",
      [
        "CShims", "EventLoop", "Framing", "Journal", "NDEF", "Names", "Reader", "ReaderLink", "ReaderSimulator", "Rig",
        "Tags",
        "TestSupport",
        "tagroute-reader",
      ],
      exclude: ["Confinement/Attempts/attempts.c"]),
    tests(
      "PCSCReader",
      [
        "CShims", "EventLoop", "Framing", "Journal", "NDEF", "Names", "Reader", "ReaderLink", "ReaderSimulator", "Rig",
        "Tags", "TestSupport", "tagroute-reader-pcsc",
      ],
      exclude: ["Confinement/Attempts/card-attempts.c"]),
    tests("ReaderLink", ["EventLoop", "Journal", "NDEF", "Names", "Rig"]),
    tests("ReaderSimulator", ["EventLoop", "NDEF", "TestSupport"]),
    tests("Routing", ["NDEF", "Rig", "UniversalLinks"]),
    tests("ScanGate", []),
    tests("Session", ["Bus", "EventLoop", "Rig", "ScanGate", "TestSupport"]),
    tests("Tags", ["NDEF", "Names", "Rig"]),
    tests("TagrouteClient", ["Bus", "EventLoop", "NDEF", "Names", "TestSupport", "tag-handler"]),
    tests("Rig", []),
    tests("UniversalLinks", ["Rig"]),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "Bus", "CoreNFC", "EventLoop", "NDEF", "Names", "ReaderSimulator", "TagrouteClient",
        "TestSupport", "ndef-reader", "suica", "tag-handler", "tag-writer", "tagroute", "tagroute-agent",
        "tagroute-reader", "tagroute-reader-pcsc", "tagroute-simulator", "tagrouted",
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// Packaging/test-threads does not run these, so it does not build them.
if Context.environment["TAGROUTE_THREAD_SANITIZER"] != nil {
  let others = [
    "Benchmarks", "FramingTests", "IntegrationTests", "KeyFileTests", "MqttSystemTests", "NDEFTests", "PCSCReaderTests",
    "RoutingTests", "TagsTests", "UniversalLinksTests", "tagroute-bench",
  ]
  package.targets.removeAll { others.contains($0.name) }
}
