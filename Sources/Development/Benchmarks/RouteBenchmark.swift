import EventLoop
import Glibc
import Handlers
import Routing
import TestKit
import UniversalLinks

/// The time to find the handler of a link among very many handlers, compared with a search in the desktop entries for
/// each link.
struct RouteBenchmark {
  let domains: Int
  /// As many as a large app has.
  private let domainsPerHandler = 100
  private let lookUps = 20_000
  private let clock = ContinuousClock()

  private func domain(_ number: Int) -> String {
    "shop\(number).region\(number % 97).example-company\(number % 1009).com"
  }

  private func isWildcard(_ number: Int) -> Bool { number % 4 == 0 }

  func run() async throws {
    print(
      "\(domains) domains of \((domains + domainsPerHandler - 1) / domainsPerHandler) handlers, every fourth a wildcard"
    )
    let before = try resident()
    let start = clock.now
    let declarations = try declarations()
    let parsed = clock.now
    let registry = Registry(declarations: declarations)
    let built = clock.now
    let memory = try resident() - before
    print(
      "build: \(Distribution.milliseconds(built - start)) ms, of which reading the patterns "
        + "\(Distribution.milliseconds(parsed - start)) ms; \(memory) kB more resident")
    try lookUp(registry)
    try await search()
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

  private func lookUp(_ registry: Registry) throws {
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
      var found = 0
      let times = uris.map { uri in
        let start = clock.now
        let route = registry.route(for: uri, policy: policy, explaining: false)
        let time = clock.now - start
        if route.handler != nil { found += 1 }
        return time
      }
      print("\(line(name, times)), \(found) found")
    }
    // A program without a table compares every pattern. This is slow, so far fewer links are measured.
    let patterns = registry.declarations.flatMap(\.domains)
    var found = 0
    let times = links.prefix(50).map { uri in
      let start = clock.now
      let host = uri.host?.text ?? ""
      if patterns.contains(where: { $0.matches(host) }) { found += 1 }
      return clock.now - start
    }
    print("\(line("the same links, every pattern compared", times)), \(found) found")
  }

  /// Measures files: Tagroute reads them once, and a script without a registry runs grep on them for each link.
  private func search() async throws {
    let temporary = try TemporaryDirectory()
    for first in stride(from: 0, to: domains, by: domainsPerHandler) {
      let numbers = first..<min(first + domainsPerHandler, domains)
      let list = numbers.map { (isWildcard($0) ? "*." : "") + domain($0) + ";" }.joined()
      try temporary.write(
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
    let directories = DataDirectories(user: nil, system: [temporary.file("share")])
    let handlers = HandlerRegistry(
      directories: directories, defaultApplication: { _ in nil }, on: EventLoop(label: "bench"))
    let start = clock.now
    await handlers.reload()
    let time = clock.now - start
    let count = await handlers.registry.declarations.count
    print("all desktop entries read, and built: \(Distribution.milliseconds(time)) ms, \(count) handlers")
    var times: [Duration] = []
    var random = SeededGenerator(seed: 2)
    for _ in 0..<10 {
      let wanted = domain(Int.random(in: 0..<domains, using: &random))
      let start = clock.now
      let result = try await ChildProcess.run(
        "/usr/bin/grep", ["-rlF", wanted + ";", temporary.file("share/applications")], environment: [:])
      times.append(clock.now - start)
      guard result.output.contains(".desktop") else { throw RigError("grep did not find \(wanted)") }
    }
    print(line("grep in all desktop entries", times))
  }

  private func line(_ name: String, _ times: [Duration]) -> String {
    Distribution(times).line(name, of: "times", inMicroseconds: true)
  }

  /// The resident memory in kilobytes, from proc_pid_statm(5).
  private func resident() throws -> Int {
    let words = String(decoding: try readFile("/proc/self/statm"), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { throw RigError("/proc/self/statm cannot be read") }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
  }
}
