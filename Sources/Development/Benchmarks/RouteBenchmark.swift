import Bus
import Glibc
import Routing
import TestKit
import UniversalLinks

/// What very many handlers cost: the time to find the handler of a link, compared with a search in the desktop entries for
/// each link; and the start, the memory and the taps of an agent with these handlers.
struct RouteBenchmark {
  let handlers: Int
  private let domainsPerHandler = 10
  private let lookUps = 1000
  private let taps = 50
  private let clock = ContinuousClock()

  private var domains: Int { handlers * domainsPerHandler }

  private func domain(_ number: Int) -> String {
    "shop\(number).region\(number % 97).example-company\(number % 1009).com"
  }

  private func isWildcard(_ number: Int) -> Bool { number % 4 == 0 }

  func run(_ results: inout Results) async throws {
    let labels: KeyValuePairs = ["Handlers": "\(handlers)"]
    try await BenchmarkPrograms.build()
    let before = try resident()
    let start = clock.now
    let declarations = try declarations()
    let registry = Registry(declarations: declarations)
    let built = clock.now
    results += [
      Results.Series("registry built from the patterns", [built - start], labels),
      Results.Series("its memory", Double(max(try resident() - before, 0)), "kB", labels),
    ]
    results += try lookUp(registry)
    results += try await agent(labels)
  }

  private func declarations() throws -> [HandlerDeclaration] {
    try stride(from: 0, to: domains, by: domainsPerHandler).map { first in
      let numbers = first..<min(first + domainsPerHandler, domains)
      let patterns = try numbers.map { try DomainPattern((isWildcard($0) ? "*." : "") + domain($0)) }
      let id = "org.example.App\(first).desktop"
      let application = Application(desktopID: id, name: "App", file: "/usr/share/applications/\(id)", origin: .system)
      return HandlerDeclaration(application: application, domains: patterns)
    }
  }

  private func lookUp(_ registry: Registry) throws -> [Results.Series] {
    var series: [Results.Series] = []
    var random = SeededGenerator(seed: 1)
    let links = try (0..<lookUps).map { _ in
      let number = Int.random(in: 0..<domains, using: &random)
      return try URI("https://\(isWildcard(number) ? "www." : "")\(domain(number))/menu")
    }
    let strangers = try (0..<lookUps).map { try URI("https://www.nobody\($0).example/menu") }
    // A user with decisions about some other apps. The registry then has to weigh those decisions for each link.
    let chosen = RoutingPolicy(
      choices: HandlerChoices(
        preferred: ["chosen.example": ["org.example.Chosen.desktop"]],
        blocked: ["org.example.Blocked.desktop": [HandlerChoices.everything]]))
    for (name, uris, policy) in [
      ("claimed link", links, RoutingPolicy()), ("claimed link, others chosen", links, chosen),
      ("unclaimed link", strangers, RoutingPolicy()),
    ] {
      let times = try uris.map { uri in
        let start = clock.now
        let route = registry.route(for: uri, policy: policy, explaining: false)
        let time = clock.now - start
        guard (route.handler != nil) == (name != "unclaimed link") else { throw RigError("\(uri): a wrong route") }
        return time
      }
      series.append(decision(name, times))
    }
    // A program without a table compares every pattern. This is slow, so far fewer links are measured.
    let patterns = registry.declarations.flatMap(\.domains)
    let times = try links.prefix(50).map { uri in
      let start = clock.now
      let host = uri.host?.text ?? ""
      guard patterns.contains(where: { $0.matches(host) }) else { throw RigError("\(uri): not found") }
      return clock.now - start
    }
    return series + [decision("claimed link, every pattern compared", times)]
  }

  private func decision(_ link: String, _ times: [Duration]) -> Results.Series {
    .init("decision", times.map { $0 / .microseconds(1) }, "µs", ["Handlers": "\(handlers)", "Link": link])
  }

  /// The real agent, with the desktop entries of all handlers, between stand-ins for the daemon and the notification
  /// server. A script without a registry runs grep on these files for each link.
  private func agent(_ labels: KeyValuePairs<String, String>) async throws -> [Results.Series] {
    var options = Installation.Options()
    options.reader = .others
    options.environment["TAGROUTE_LOG"] = "notice"
    let installation = try await Installation(options)
    for first in stride(from: 0, to: domains, by: domainsPerHandler) {
      let list = (first..<first + domainsPerHandler).map { (isWildcard($0) ? "*." : "") + domain($0) + ";" }.joined()
      try installation.directory.write(
        """
        [Desktop Entry]
        Type=Application
        Name=App
        Exec=true %u
        Implements=org.tagroute.Handler1;

        [org.tagroute.Handler1]
        Domains=\(list)

        """, to: "share/applications/org.example.App\(first).desktop")
    }
    let source = try await TapSource.start(on: BusAddress(installation.systemBus.address))
    let server = try await NotificationServerStandIn.start(
      on: BusAddress(installation.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""))
    let start = clock.now
    try await installation.startAgent()
    guard let agent = await installation.agent else { throw RigError("tagroute-agent does not run") }
    try await agent.line(containing: "registered with the daemon")
    var times: [Duration] = []
    var ready = Duration.zero
    var random = SeededGenerator(seed: 2)
    for number in 0...taps {
      // Not a wildcard.
      let host = domain(Int.random(in: 0..<handlers, using: &random) * domainsPerHandler + 1)
      let given = clock.now
      try await source.give(SampleTap(number, host: host))
      let shown = try await server.next()
      guard shown.body.contains(host) else { throw RigError("another tap is shown: \(shown.body)") }
      if number == 0 { ready = clock.now - start } else { times.append(clock.now - given) }
    }
    let memory = try ProcessMemory(of: agent.identifier)
    let greps = try await grep(in: installation.systemData + "/applications")
    await installation.stop()
    return memory.series(labels) + [
      .init("agent's start to the first Notify", [ready], labels), .init("TagRead to Notify", times, labels),
      .init("grep in all desktop entries", greps, labels),
    ]
  }

  private func grep(in folder: String) async throws -> [Duration] {
    var times: [Duration] = []
    var random = SeededGenerator(seed: 2)
    for _ in 0..<10 {
      let wanted = domain(Int.random(in: 0..<domains, using: &random))
      let start = clock.now
      let result = try await ChildProcess.run("/usr/bin/grep", ["-rlF", wanted + ";", folder], environment: [:])
      times.append(clock.now - start)
      guard result.output.contains(".desktop") else { throw RigError("grep did not find \(wanted)") }
    }
    return times
  }

  /// The resident memory in kilobytes, from proc_pid_statm(5).
  private func resident() throws -> Int {
    let words = String(decoding: try readFile("/proc/self/statm"), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { throw RigError("/proc/self/statm cannot be read") }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
  }
}
