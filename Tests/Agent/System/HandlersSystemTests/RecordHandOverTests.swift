import Dispatch
import EventLoop
import Glibc
import NDEF
import Routing
import TestKit
import Testing

@testable import Handlers
@testable import HandlersTests

/// Records that go to programs, and the desktop entries that declare them.
@Suite(.timeLimit(.minutes(2))) struct RecordHandOverTests {
  private let data: DataDirectory
  private let launcher: Launcher
  private let loop = EventLoop(label: "test")
  /// A card of 8 KiB, as large as tags hold them, with every byte.
  private static let card =
    Array("BEGIN:VCARD\r\nFN:$(touch x)\r\n".utf8) + (0..<8 << 10).map { UInt8(truncatingIfNeeded: $0 &* 167) }

  init() throws {
    data = try DataDirectory()
    var environment = data.environment
    environment["XDG_RUNTIME_DIR"] = data.temporary.path
    launcher = Launcher(connection: nil, environment: environment, on: loop)
  }

  private func message() throws -> NDEFMessage {
    NDEFMessage(records: [
      NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8), payload: Self.card)
    ])
  }

  private func install(_ exec: String, _ claims: [String] = []) throws -> Application {
    let folder = data.temporary.path
    try data.temporary.write(
      "#!/bin/sh\nprintf '<%s>' \"$@\" > '\(folder)/arguments'\ncat > '\(folder)/input'\n", to: "bin/cards", mode: 0o755
    )
    let file = try data.entry("cards", ["Exec=\(exec)"], claims: claims, implements: !claims.isEmpty)
    return Application(desktopID: "cards.desktop", name: "Cards", file: file, origin: .system, launch: exec)
  }

  private func recorded(_ name: String) async throws -> String {
    await launcher.allEnded()
    return String(decoding: try readFile(data.temporary.file(name)), as: UTF8.self)
  }

  private func route(_ registry: Registry) throws -> Route { registry.route(for: try message()) }

  @Test(arguments: ["cards %f", "cards --open %F", "cards", "cards %u", "cards %U"])
  func `a default application gets a file, and no message`(exec: String) async throws {
    let application = try install(exec)
    var registry = Registry()
    registry.typeDefaults["text/vcard"] = .application(application)
    let outcome = await launcher.open(try route(registry), message: try message().encoded()).outcome
    #expect(outcome == .delivered)
    let arguments = try await recorded("arguments")
    #expect(try await recorded("input").isEmpty)
    let path = try #require(arguments.firstMatch(of: /<(?:file:\/\/)?(\/[^<>]*\.vcf)>$/)?.1)
    #expect(arguments.contains("file://") == exec.lowercased().hasSuffix("u"))
    #expect(try readFile(String(path)) == Self.card)
    await launcher.removeFiles()
    #expect(access(String(path), F_OK) != 0)
  }

  @Test func `a handler gets the message, and no argument for the link`() async throws {
    _ = try install("cards --from-tag %u", ["MimeTypes=text/*;"])
    let registry = await data.loaded().registry
    let route = try route(registry)
    #expect(route.kind == .record)
    let bytes = try message().encoded()
    #expect(await launcher.open(route, message: bytes).outcome == .delivered)
    #expect(try await recorded("arguments") == "<--from-tag>")
    #expect(try readFile(data.temporary.file("input")) == bytes)
  }

  @Test func `a default application is looked up once, and again after a change`() async throws {
    let application = try install("cards %f")
    let count = Counter()
    let handlers = HandlerRegistry(
      directories: data.directories, environment: data.environment, ownership: data.ownership,
      defaultApplication: { _ in nil },
      defaultForType: { type in
        count.increase()
        return type == "text/vcard" ? application : nil
      }, on: loop)
    await handlers.reload()
    for _ in 0..<3 {
      let registry = await handlers.registry(for: try message())
      #expect(registry.typeDefaults == ["text/vcard": .application(application)])
      #expect(try route(registry).kind == .recordDefault)
    }
    #expect(count.value == 1)
    await handlers.reload()
    _ = await handlers.registry(for: try message())
    #expect(count.value == 2)
    #expect(await handlers.registry(for: nil).typeDefaults.isEmpty)
  }

  @Test func `a look-up that does not end delays a tap for a limited time`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let defaults = TypeDefaults(
      data.directories, environment: data.environment,
      lookup: { _ in
        gate.wait()
        return nil
      }, timeout: .milliseconds(20), on: loop)
    for number in 0...TypeDefaults.maximumPending {
      guard case .unusable = await defaults.answer(for: "text/x-\(number)") else {
        Issue.record("there is an answer")
        break
      }
    }
    for _ in 0..<TypeDefaults.maximumPending { gate.signal() }
  }
}

private final class Counter: Sendable {
  private let number = Locked(0)
  var value: Int { number.withLock { $0 } }
  func increase() { number.withLock { $0 += 1 } }
}

@Suite(.timeLimit(.minutes(2))) struct RecordFilesTests {
  private let temporary: TemporaryDirectory
  private let environment: [String: String]
  private let loop = EventLoop(label: "test")

  init() throws {
    temporary = try TemporaryDirectory()
    environment = [
      "XDG_RUNTIME_DIR": temporary.path, "XDG_DATA_HOME": temporary.file("data"),
      "XDG_DATA_DIRS": temporary.file("none"), "HOME": temporary.path,
    ]
  }

  private func files(lifetime: Duration = .seconds(600)) -> RecordFiles {
    RecordFiles(environment: environment, lifetime: lifetime, on: loop)
  }

  private func mode(_ path: String) throws -> mode_t {
    var information = stat()
    try #require(lstat(path, &information) == 0)
    return information.st_mode & 0o7777
  }

  @Test func `a file has the payload, the mode 0600 and a name with nothing from the tag`() async throws {
    let payload = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
    let files = files()
    let path = try await files.write(payload, ofType: "text/vcard")
    #expect(try readFile(path) == payload)
    #expect(try mode(path) == 0o600)
    #expect(try mode(temporary.file("tagroute")) == 0o700)
    #expect(path.wholeMatch(of: /.*\/tagroute\/tag-[0-9a-f]{16}\.vcf/) != nil)
    let other = try await files.write([], ofType: "application/x-unheard-of")
    #expect(other.wholeMatch(of: /.*\/tagroute\/tag-[0-9a-f]{16}/) != nil)
    await files.removeAll()
    #expect(access(path, F_OK) != 0 && access(other, F_OK) != 0)
  }

  private func removal(of path: String) async throws {
    let (events, continuation) = AsyncStream.makeStream(of: Void.self)
    let watch = try FileWatch(on: loop) { _ in continuation.finish() }
    // This fails if the file is gone already.
    guard (try? watch.add(path, UInt32(IN_DELETE_SELF))) != nil else { return }
    for await _ in events {}
    withExtendedLifetime(watch) {}
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a file is removed after its lifetime, and more files remove the oldest`() async throws {
    let short = files(lifetime: .milliseconds(20))
    let path = try await short.write([1], ofType: "text/plain")
    try await removal(of: path)
    let files = files()
    var paths: [String] = []
    for number in 0...RecordFiles.maximumFiles {
      paths.append(try await files.write([UInt8(number)], ofType: "text/plain"))
    }
    #expect(access(paths[0], F_OK) != 0)
    for path in paths.dropFirst() { #expect(access(path, F_OK) == 0) }
  }

  @Test func `a file that a killed process has left is removed, and no other file`() async throws {
    let old = try temporary.write("x", to: "tagroute/tag-0000000000000000.vcf", mode: 0o600)
    let foreign = try temporary.write("x", to: "tagroute/other", mode: 0o600)
    let times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
    try #require(utimes(old, times) == 0 && utimes(foreign, times) == 0)
    _ = try await files().write([1], ofType: "text/plain")
    #expect(access(old, F_OK) != 0 && access(foreign, F_OK) == 0)
  }

  @Test func `the start removes what a killed process has left, also later, and makes no directory`() async throws {
    await files().removeLeft()
    #expect(access(temporary.file("tagroute"), F_OK) != 0)
    let old = try temporary.write("x", to: "tagroute/tag-0000000000000000.vcf", mode: 0o600)
    let fresh = try temporary.write("x", to: "tagroute/tag-0000000000000001.vcf", mode: 0o600)
    let times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
    try #require(utimes(old, times) == 0)
    let long = files()
    await long.removeLeft()
    #expect(access(old, F_OK) != 0 && access(fresh, F_OK) == 0)
    let short = files(lifetime: .zero)
    await short.removeLeft()
    try await removal(of: fresh)
  }

  @Test func `no file is written through a link, or without a runtime directory`() async throws {
    let target = temporary.file("target")
    try #require(mkdir(target, 0o755) == 0 && symlink(target, temporary.file("tagroute")) == 0)
    await #expect(throws: HandOverFailure.self) { try await files().write([1], ofType: "text/plain") }
    #expect(fileNames(in: target)?.filter { !$0.hasPrefix(".") } == [])
    let homeless = RecordFiles(environment: [:], lifetime: .seconds(1), on: loop)
    do throws(HandOverFailure) {
      _ = try await homeless.write([1], ofType: "text/plain")
      Issue.record("it was written")
    } catch { #expect(error.code == .fileNotWritten) }
  }
}

extension Launcher {
  /// Opens the application that a route leads to, or returns `failed` if it leads to none. A default application does
  /// not get the encoded NDEF message.
  func open(_ route: Route, message: [UInt8], click: Click = Click()) async -> HandOver {
    guard let application = route.handler else {
      return HandOver(outcome: .failed(HandOverFailure(.nowhere, route.reason)))
    }
    if let uri = route.uri {
      return await open(application, uri, message: route.handsOverMessage ? message : nil, click: click)
    }
    guard let record = route.record else {
      return HandOver(outcome: .failed(HandOverFailure(.nowhere, route.reason)))
    }
    let read = TagRead(id: "", time: 0, reader: "", technology: "", uid: [], bytes: message)
    return await open(application, record, of: read, whole: route.handsOverMessage, click: click)
  }
}
