import Associations
import CommandLineTool
import EventLoop
import Glibc
import TestKit
import Testing
import UniversalLinks

@Suite(.timeLimit(.minutes(5))) struct AssociationFetcherTests {
  private func fetch(
    _ label: String, _ document: AssociationDocument = .appSiteAssociation,
    _ change: (inout AssociationFetcher.Options) -> Void = { _ in }
  ) async throws -> FetchOutcome {
    var options = try await AssociationServer.shared.value.options()
    change(&options)
    return await AssociationFetcher(options: options).fetch(document, of: "\(label).example.com")
  }

  private func failure(_ outcome: FetchOutcome) -> FetchFailure.Code? {
    if case .failed(let failure) = outcome { failure.code } else { nil }
  }

  @Test(arguments: AssociationDocument.allCases)
  func `a document is found, whatever its content type`(document: AssociationDocument) async throws {
    guard case .found(let file, let cacheControl) = try await fetch("good", document) else {
      throw RigError("the document was not found")
    }
    #expect(String(decoding: file, as: UTF8.self).contains("org.example.Menu"))
    #expect(cacheControl == "public, max-age=7200")
  }

  @Test(arguments: ["old", "chunked", "largest"])
  func `responses with each kind of framing are read`(label: String) async throws {
    guard case .found = try await fetch(label) else { throw RigError("the document was not found") }
  }

  @Test(arguments: ["missing", "gone"])
  func `a domain without a document is reported as absent`(label: String) async throws {
    #expect(try await fetch(label) == .absent)
  }

  @Test(arguments: [
    ("expired", FetchFailure.Code.certificate), ("elsewhere", .certificate), ("selfsigned", .certificate),
    ("redirect", .redirect), ("broken", .status), ("forbidden", .status), ("large", .size),
    ("endless", .size), ("headers", .size), ("informs", .size), ("short", .transfer), ("cut", .malformed),
    ("ancient", .transfer), ("invalid", .malformed), ("page", .malformed), ("squeezed", .malformed),
  ])
  func `each failure is reported with its code`(label: String, code: FetchFailure.Code) async throws {
    let outcome = try await fetch(label)
    #expect(failure(outcome) == code, "\(outcome)")
  }

  @Test func `a redirect is not followed`() async throws {
    let server = try await AssociationServer.shared.value
    _ = try await fetch("redirect")
    #expect(try await server.requests("redirect").count >= 1)
    #expect(try await server.requests("target").isEmpty)
  }

  @Test func `TLS versions before 1.2 are rejected`() async throws {
    let server = try await AssociationServer.shared.value
    let outcome = try await fetch("good") { $0.server = server.oldAddress }
    #expect(failure(outcome) == .tls, "\(outcome)")
  }

  @Test(arguments: ["drip", "silent", "nohandshake"])
  func `a server that takes too long causes a time-out`(label: String) async throws {
    let outcome = try await fetch(label) { $0.totalLimit = .milliseconds(1500) }
    #expect(failure(outcome) == .timeout, "\(outcome)")
  }

  @Test func `the handshake has its own time limit`() async throws {
    let outcome = try await fetch("nohandshake") { $0.connectLimit = .milliseconds(500) }
    #expect(failure(outcome) == .timeout, "\(outcome)")
  }

  @Test func `a server that accepts no connection or sends no data causes a time-out`() async throws {
    let listener = try Listener()
    let outcome = try await fetch("good") {
      $0.server = listener.address
      $0.connectLimit = .milliseconds(500)
    }
    #expect(failure(outcome) == .timeout, "\(outcome)")
  }

  @Test func `a port without a listener causes a connection failure`() async throws {
    // The socket is bound and does not listen, so the port stays reserved and connections are refused.
    let port = try Listener(listens: false)
    let outcome = try await fetch("good") { $0.server = port.address }
    #expect(failure(outcome) == .connection, "\(outcome)")
  }

  @Test func `an unknown authority is rejected if only the system's authorities are trusted`() async throws {
    let outcome = try await fetch("good") { $0.authorities = nil }
    #expect(failure(outcome) == .certificate, "\(outcome)")
  }

  @Test func `a request contains no password, no cookie and no data of the environment`() async throws {
    let server = try await AssociationServer.shared.value
    _ = try await fetch("cookies")
    _ = try await fetch("cookies")
    let requests = try await server.requests("cookies")
    #expect(
      requests.allSatisfy {
        $0
          == "request cookies /.well-known/apple-app-site-association Host: cookies.example.com|User-Agent: Tagroute|Accept: */*"
      }, "\(requests)")
    #expect(requests.count == 2)
  }

  @Test(arguments: ["127.0.0.1", "[::1]", "10.0.0.1"])
  func `no connection is made to a private address, whatever name leads to it`(address: String) async throws {
    let port = try await AssociationServer.shared.value.address.split(separator: ":")[1]
    let outcome = try await fetch("private") {
      $0.server = "\(address):\(port)"
      $0.allowsPrivateAddresses = false
    }
    #expect(failure(outcome) == .refused, "\(outcome)")
    #expect(try await AssociationServer.shared.value.requests("private").isEmpty)
  }

  @Test(arguments: [
    "localhost", "printer.local", "router.home.arpa", "x.onion", "intranet", "wiki.internal", "192.168.1.1",
    "127.0.0.1",
    "*.example.com", "Example.com", "example.com.", "example.com/x", "user@example.com", "exa mple.com", "", "[::1]",
    "a.localhost", "b\u{FC}cher.example.com",
  ])
  func `a name that is not a public domain is not even looked up`(domain: String) async {
    #expect(failure(await AssociationFetcher().fetch(.appSiteAssociation, of: domain)) == .refused)
  }
}

/// A port of loopback that accepts no connection.
private final class Listener {
  let address: String
  private let descriptor: FileDescriptor

  init(listens: Bool = true) throws {
    descriptor = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &name) { [descriptor] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor.rawValue, pointer, length) == 0 && getsockname(descriptor.rawValue, pointer, &length) == 0
      }
    }
    guard result, !listens || listen(descriptor.rawValue, 8) == 0 else { throw RigError("cannot open a port") }
    address = "127.0.0.1:\(UInt16(bigEndian: name.sin_port))"
  }
}

@Suite(.timeLimit(.minutes(5))) struct AssociationRefreshTests {
  private static let now: Int64 = 1_800_000_000
  private let folder: TemporaryDirectory
  private let store: AssociationStore

  init() throws {
    folder = try TemporaryDirectory()
    store = AssociationStore(directory: folder.path)
  }

  private func refresh(_ store: AssociationStore?, at now: Int64 = now) async throws -> AssociationRefresh {
    let options = try await AssociationServer.shared.value.options()
    return AssociationRefresh(fetcher: AssociationFetcher(options: options), store: store) { now }
  }

  @Test func `each domain is asked for both documents, and the answers are stored`() async throws {
    let domains = (0..<9).map { "refresh\($0).example.com" } + ["missing.example.com"]
    let findings = try await refresh(store).ask(domains)
    #expect(findings.map { $0.map(\.domain) } == domains.map { [$0, $0] })
    #expect(findings.allSatisfy { $0.map(\.document) == AssociationDocument.allCases })
    #expect(findings.joined().allSatisfy { $0.problem == nil && $0.record.failure == nil })
    let ids: Set = ["org.example.Menu.desktop"]
    let known = await store.associations(of: Dictionary(uniqueKeysWithValues: domains.map { ($0, ids) }), at: Self.now)
    #expect(known.keys.sorted() == Array(domains.dropLast()))
    #expect(known["refresh0.example.com"]?.names("org.example.Menu.desktop") == true)
  }

  @Test func `only an expired answer is requested again`() async throws {
    let domain = "due.example.com"
    #expect(try await refresh(store).ask([domain], onlyDue: true).joined().count == 2)
    // The server says max-age=7200.
    #expect(try await refresh(store, at: Self.now + 7199).ask([domain], onlyDue: true) == [[]])
    #expect(try await refresh(store, at: Self.now + 7200).ask([domain], onlyDue: true).joined().count == 2)
  }

  @Test func `a domain that fails keeps its last answer`() async throws {
    var record = AssociationRecord()
    let file = Array(#"{"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{}]}]}}"#.utf8)
    record.take(.found(file, cacheControl: nil), at: Self.now)
    try await store.keep(record, of: .appSiteAssociation, at: "broken.example.com")
    let later = Self.now + 86_400
    let findings = try await refresh(store, at: later).ask(["broken.example.com"])
    let finding = try #require(findings.first?.first)
    #expect(finding.record.failure?.code == .status)
    #expect(finding.record.names("org.example.Menu.desktop", in: .appSiteAssociation, at: later))
    let known = await store.associations(of: ["broken.example.com": ["org.example.Menu.desktop"]], at: later)
    #expect(known["broken.example.com"]?.names("org.example.Menu.desktop") == true)
  }

  @Test func `a refresh works without a store, and reports a store that cannot be written`() async throws {
    #expect(try await refresh(nil).ask(["good.example.com"]).joined().allSatisfy { $0.problem == nil })
    let file = try folder.write("", to: "file")
    let findings = try await refresh(AssociationStore(directory: file)).ask(["good.example.com"])
    #expect(findings.joined().allSatisfy { $0.problem != nil })
  }

  @Test
  func `without domains there are no findings`() async throws { #expect(try await refresh(store).ask([]).isEmpty) }
}

extension AssociationServer {
  /// Options to ask this server, with enough time for any machine.
  func options() -> AssociationFetcher.Options {
    var options = AssociationFetcher.Options()
    options.authorities = authority
    options.server = address
    options.allowsPrivateAddresses = true
    options.connectLimit = .seconds(120)
    options.totalLimit = .seconds(120)
    return options
  }
}
