import CShims
import Glibc
import Synchronization
import TestKit
import Testing

@testable import EventLoop

private actor Counter {
  let loop: EventLoop
  private(set) var values: [Int] = []
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func append(_ value: Int) { values.append(value) }
}

@Suite(.timeLimit(.minutes(5))) struct EventLoopTests {
  private let loop = EventLoop(label: "test")

  @Test func `actors on one loop share its isolation`() async {
    let (first, second) = (Counter(on: loop), Counter(on: loop))
    await first.append(1)
    await withCheckedContinuation { continuation in
      loop.execute {
        first.assumeIsolated { $0.append(2) }
        second.assumeIsolated { $0.append(3) }
        continuation.resume()
      }
    }
    #expect(await first.values == [1, 2])
    #expect(await second.values == [3])
    #expect(loop.isIsolatingCurrentContext() == false)
  }

  @Test func `work runs in the order in which it was submitted`() async {
    let counter = Counter(on: loop)
    await withCheckedContinuation { continuation in
      for value in 0..<1000 { loop.execute { counter.assumeIsolated { $0.append(value) } } }
      loop.execute { continuation.resume() }
    }
    #expect(await counter.values == Array(0..<1000))
  }

  @Test func `timers fire in the order of their deadlines, unless they are cancelled`() async {
    let counter = Counter(on: loop)
    await withCheckedContinuation { continuation in
      // No timer fires before all of them are set.
      loop.execute { [loop] in
        loop.schedule(after: .milliseconds(30)) {
          counter.assumeIsolated { $0.append(3) }
          continuation.resume()
        }
        loop.schedule(after: .milliseconds(10)) { counter.assumeIsolated { $0.append(1) } }
        loop.schedule(after: .milliseconds(10)) { counter.assumeIsolated { $0.append(2) } }
        loop.schedule(after: .milliseconds(20)) { counter.assumeIsolated { $0.append(99) } }.cancel()
      }
    }
    #expect(await counter.values == [1, 2, 3])
  }

  @Test func `a timer never fires early`() async {
    for milliseconds in 1...5 {
      let start = SuspendingClock.now
      await withCheckedContinuation { continuation in
        loop.schedule(after: .milliseconds(milliseconds)) { continuation.resume() }
      }
      #expect(SuspendingClock.now - start >= .milliseconds(milliseconds))
    }
  }

  @Test func `a watch reports data, and then the end of file that came with it`() async throws {
    for _ in 0..<500 {
      var ends: [Int32] = [-1, -1]
      try #require(tagroute_pipe(&ends) == 0)
      let reading = FileDescriptor(owning: ends[0])
      write(ends[1], "x", 1)
      close(ends[1])
      let (events, continuation) = AsyncStream.makeStream(of: Int.self)
      let watch = try DescriptorWatch(reading, on: loop) {
        var byte: UInt8 = 0
        continuation.yield(read(reading.rawValue, &byte, 1))
      }
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == 1)
      #expect(await iterator.next() == 0)
      watch.cancel()
    }
  }

  @Test func `a watch can be cancelled while its descriptor hangs up`() async throws {
    for _ in 0..<2000 {
      var ends: [Int32] = [-1, -1]
      try #require(tagroute_pipe(&ends) == 0)
      let (reading, writing) = (FileDescriptor(owning: ends[0]), ends[1])
      let called = Atomic<Bool>(false)
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        do {
          let watch = try DescriptorWatch(reading, on: loop) { called.store(true, ordering: .relaxed) }
          loop.execute {
            close(writing)
            watch.cancel()
            loop.execute { continuation.resume() }
          }
        } catch {
          continuation.resume(throwing: error)
        }
      }
      #expect(called.load(ordering: .relaxed) == false)
    }
  }

  @Test func `a cancelled watch releases its descriptor`() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(tagroute_pipe(&ends) == 0)
    let writing = FileDescriptor(owning: ends[1])
    do {
      let watch = try DescriptorWatch(FileDescriptor(owning: ends[0]), on: loop) {}
      watch.cancel()
    }
    signal(SIGPIPE, SIG_IGN)
    #expect(write(writing.rawValue, "x", 1) == -1)
    #expect(errno == EPIPE)
  }

  @Test func `a regular file cannot be watched`() throws {
    let file = FileDescriptor(owning: open("/proc/self/exe", O_RDONLY | O_CLOEXEC))
    let error = #expect(throws: SystemError.self) { try DescriptorWatch(file, on: EventLoop(label: "test")) {} }
    #expect(error?.number == EPERM)
  }

  @Test func `the thread ends with the last reference to its loop`() async throws {
    final class End: Sendable {
      let stream = AsyncStream.makeStream(of: Void.self)
    }
    var key = pthread_key_t()
    // A thread passes its value to this function when it ends (pthread_key_create(3)).
    let made = pthread_key_create(&key) { value in
      value.map { Unmanaged<End>.fromOpaque($0).takeRetainedValue().stream.continuation.finish() }
    }
    try #require(made == 0)
    let end = End()
    do {
      let loop = EventLoop(label: "ends")
      await withCheckedContinuation { [key] continuation in
        loop.execute {
          pthread_setspecific(key, Unmanaged.passRetained(end).toOpaque())
          continuation.resume()
        }
      }
    }
    for await _ in end.stream.stream {}
    pthread_key_delete(key)
  }
}

@Suite(.timeLimit(.minutes(5))) struct ProcessSignalsTests {
  /// The only test that may catch signals, because a process can do so once. SIGURG and SIGWINCH do not end a process.
  @Test func `every signal after the start is reported`() async throws {
    let signals = ProcessSignals([SIGURG, SIGWINCH])
    kill(getpid(), SIGURG)
    var iterator = signals.makeAsyncIterator()
    #expect(await iterator.next() == SIGURG)
    kill(getpid(), SIGWINCH)
    #expect(await iterator.next() == SIGWINCH)
  }

  /// All signals arrive before the first one is read.
  @Test func `no signal is lost behind many of another kind`() async {
    let (signals, entrance) = ProcessSignals.make()
    entrance.add(SIGTERM)
    for _ in 1...1000 { entrance.add(SIGHUP) }
    entrance.add(SIGINT)
    var iterator = signals.makeAsyncIterator()
    #expect(await iterator.next() == SIGTERM)
    #expect(await iterator.next() == SIGHUP)
    // A signal that was read can arrive again, behind the waiting ones.
    entrance.add(SIGHUP)
    entrance.add(SIGTERM)
    #expect(await iterator.next() == SIGINT)
    #expect(await iterator.next() == SIGHUP)
    #expect(await iterator.next() == SIGTERM)
  }
}

struct ProcessEnvironmentTests {
  /// Runs in its own process, because all tests share one environment.
  @Test func `the environment includes empty values and values with an equals sign`() async {
    await #expect(processExitsWith: .success) {
      setenv("TAGROUTE_TEST", "a=b", 1)
      setenv("TAGROUTE_EMPTY", "", 1)
      unsetenv("TAGROUTE_NONE")
      #expect(ProcessEnvironment.current["TAGROUTE_TEST"] == "a=b")
      #expect(ProcessEnvironment.current["TAGROUTE_EMPTY"] == "")
      #expect(ProcessEnvironment.current["TAGROUTE_NONE"] == nil)
    }
  }

  @Test func `child processes do not get the variable that silences libdispatch`() async {
    await #expect(processExitsWith: .success) {
      unsetenv("LIBDISPATCH_LOG")
      ProcessEnvironment.silenceDispatch()
      #expect(getenv("LIBDISPATCH_LOG").map { String(cString: $0) } == "NO")
      #expect(ProcessEnvironment.current["LIBDISPATCH_LOG"] == nil)
      // A value that the user has set is kept.
      setenv("LIBDISPATCH_LOG", "stderr", 1)
      ProcessEnvironment.silenceDispatch()
      #expect(getenv("LIBDISPATCH_LOG").map { String(cString: $0) } == "stderr")
    }
  }
}
