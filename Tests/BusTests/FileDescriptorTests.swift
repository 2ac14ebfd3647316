import EventLoop
import Glibc
import TestSupport
import Testing

@testable import Bus

/// A pipe tells when the last copy of one of its ends is closed, whatever else the process has open.
@Suite(.timeLimit(.minutes(5))) struct FileDescriptorTests {
  private func pipe() throws -> (read: FileDescriptor, write: FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }

  @Test func theLastCopyClosesThePipe() async throws {
    let holder = Holder()
    let fixture = try await BusFixture.start(
      ExportedMethod("Keep", in: [Argument("end", "h")]) { call in
        await holder.keep(call.arguments[0].asUnixFD)
        return []
      },
      ExportedMethod("Give", out: [Argument("ends", "ah")]) { _ in
        .init([.array(element: "h", await holder.all.map { .unixFD($0) })])
      })
    let reader = try await passWriterAround(fixture)
    await holder.drop()
    try await fixture.stop()
    await hangUp(of: reader)
  }

  /// A function of its own, so that this side's copies are let go at its end.
  private func passWriterAround(_ fixture: BusFixture) async throws -> FileDescriptor {
    let (reader, writer) = try pipe()
    _ = try await fixture.call("Keep", [.unixFD(writer)])
    let copy = try #require(try await fixture.call("Give").first?.asArray?.first?.asUnixFD)
    #expect(copy.rawValue != writer.rawValue)
    #expect(fcntl(copy.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    var byte: UInt8 = 42
    #expect(write(copy.rawValue, &byte, 1) == 1)
    byte = 0
    #expect(read(reader.rawValue, &byte, 1) == 1)
    #expect(byte == 42)
    // Still held by the server, by this side's copy and by the original.
    #expect(read(reader.rawValue, &byte, 1) == -1)
    withExtendedLifetime((writer, copy)) {}
    return reader
  }

  /// Waits until no process has a writing end any more.
  private func hangUp(of reader: FileDescriptor) async {
    let loop = EventLoop(label: "test")
    await withCheckedContinuation { continuation in
      let watcher = HangUpWatcher(continuation)
      loop.execute { watcher.start(reader, loop) }
    }
  }

  @Test func descriptorsOfAMessageThatIsRefusedAreClosed() async throws {
    let fixture = try await BusFixture.start(
      ExportedMethod("Take", in: [Argument("text", "s")]) { _ in [] })
    let reader = try await sendWriter(to: fixture)
    try await fixture.stop()
    await hangUp(of: reader)
  }

  private func sendWriter(to fixture: BusFixture) async throws -> FileDescriptor {
    let (reader, writer) = try pipe()
    let error = await busError { () async throws(BusError) in try await fixture.call("Take", [.unixFD(writer)]) }
    #expect(error?.name == BusError.Name.invalidArguments)
    return reader
  }
}

private actor Holder {
  private(set) var all: [FileDescriptor] = []
  func keep(_ descriptor: FileDescriptor?) { descriptor.map { all.append($0) } }
  func drop() { all = [] }
}

/// Resumes once the other end of a pipe has no owner.
private final class HangUpWatcher: @unchecked Sendable {
  // Used on the loop alone.
  private var watch: DescriptorWatch?
  private var continuation: CheckedContinuation<Void, Never>?

  init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  func start(_ descriptor: FileDescriptor, _ loop: EventLoop) {
    watch = try? DescriptorWatch(descriptor, on: loop) {
      var byte: UInt8 = 0
      guard read(descriptor.rawValue, &byte, 1) == 0 else { return }
      self.watch = nil
      self.continuation?.resume()
      self.continuation = nil
    }
  }
}
