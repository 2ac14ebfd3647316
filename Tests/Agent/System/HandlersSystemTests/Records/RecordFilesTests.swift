import EventLoop
import Glibc
import NDEF
import Routing
import TestKit
import Testing

@testable import Handlers

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

  /// Waits until a file is removed.
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
