import CShims
import EventLoop
import Glibc

/// A process that one of the started programs has started: a reader process, for example.
package struct ForeignProcess: Sendable {
  package let identifier: Int32
  private let descriptor: FileDescriptor

  /// Fails if no process with this id runs.
  package init(_ identifier: Int32) throws {
    let number = tagroute_process_descriptor(identifier)
    guard number >= 0 else { throw RigError("there is no process \(identifier)") }
    self.identifier = identifier
    descriptor = FileDescriptor(owning: number)
  }

  package func signal(_ number: Int32) { kill(identifier, number) }

  /// Suspends the process, and waits until it is. Fails if the process is gone.
  package func suspend() async throws {
    signal(SIGSTOP)
    // Only a parent or a tracer gets an event for this.
    // The state follows the name, which is in brackets (proc_pid_stat(5)).
    while try String(decoding: readFile("/proc/\(identifier)/stat"), as: UTF8.self).split(separator: ")").last?
      .hasPrefix(" T") != true
    {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Fails if the process is gone.
  package func workingDirectory() throws -> String {
    guard let path = realpath("/proc/\(identifier)/cwd", nil) else {
      throw RigError("there is no process \(identifier)")
    }
    defer { free(path) }
    return String(cString: path)
  }

  /// The arguments of the process, the program's name first; empty if the process is gone.
  package var commandLine: [String] {
    let bytes = (try? readFile("/proc/\(identifier)/cmdline")) ?? []
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// How often each thread of the process has slept and was woken, by the thread's id (voluntary_ctxt_switches in
  /// proc_pid_status(5)). A thread that was not woken has used no processor time. Fails if the process is gone.
  package func wakeUps() throws -> [Int32: Int] {
    let folder = "/proc/\(identifier)/task"
    guard let names = fileNames(in: folder) else { throw RigError("there is no process \(identifier)") }
    var counts: [Int32: Int] = [:]
    for thread in names.compactMap({ Int32($0) }) {
      let status = String(decoding: try readFile("\(folder)/\(thread)/status"), as: UTF8.self)
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
      counts[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
    }
    return counts
  }

  /// Whether the process has ended and was reaped.
  package var isGone: Bool { kill(identifier, 0) != 0 && errno == ESRCH }

  /// Waits until the process has ended for any reason.
  package func end() async throws {
    let loop = EventLoop(label: "test.process.\(identifier)")
    let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
    do {
      // The descriptor becomes readable when the process ends (pidfd_open(2)).
      let watch = try DescriptorWatch(descriptor, on: loop) { @Sendable in continuation.finish() }
      for await _ in ends {}
      watch.cancel()
    } catch {
      throw RigError("process \(identifier) cannot be watched: \(error)")
    }
  }
}

extension ChildProcess {
  /// The running processes that this process has started.
  package func children() throws -> [ForeignProcess] {
    guard let names = fileNames(in: "/proc") else { throw RigError("cannot read /proc") }
    var children: [ForeignProcess] = []
    for name in names {
      // "pid (name) state parent …" (proc_pid_stat(5)). The name may hold any characters, so the last bracket is its
      // end.
      guard let child = Int32(name), let bytes = try? readFile("/proc/\(child)/stat") else { continue }
      let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 1, fields[1] == "\(identifier)", fields[0] != "Z" else { continue }
      if let process = try? ForeignProcess(child) { children.append(process) }
    }
    return children
  }
}
