import Glibc
import Rig
import Settings
import Testing

@Suite struct DropInsTests {
  private let root = try? TemporaryDirectory()

  private func write(_ text: String, _ path: String) throws -> String {
    let path = try #require(root).path + "/" + path
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    return path
  }

  private func directories(_ names: String...) throws -> [String] {
    let root = try #require(root).path
    for name in names { #expect(mkdir("\(root)/\(name)", 0o700) == 0) }
    return names.map { "\(root)/\($0)" }
  }

  @Test func `drop-ins apply in order of name, and later directories hide earlier files`() throws {
    let directories = try directories("usr", "run", "etc")
    _ = try write("[Reader]\nPollInterval=11\n[Scan]\nSessions=any\n", "usr/50-a.conf")
    _ = try write("[Reader]\nPollInterval=12\n", "run/90-z.conf")
    _ = try write("[Reader]\nPollInterval=13\n", "etc/50-a.conf")
    _ = try write("[Reader]\nPollInterval=14\n", "etc/60-b.conf.disabled")
    _ = try write("nonsense", "etc/.hidden.conf")
    let files = dropIns(in: directories + ["/nonexistent"])
    #expect(files == ["\(directories[2])/50-a.conf", "\(directories[1])/90-z.conf"])
    let configuration = try DaemonConfiguration.load(files)
    #expect(configuration.pollInterval == .milliseconds(12))
    #expect(configuration.sessions == .logind)
  }

  @Test func `the main file is read first, and an error names its file`() throws {
    let directories = try directories("etc.d")
    let main = try write("[Reader]\nPollInterval=11\n[Scan]\nSessions=any\n", "main.conf")
    let dropIn = try write("[Reader]\nPollInterval=99\n", "etc.d/a.conf")
    let configuration = try DaemonConfiguration.load([main] + dropIns(in: directories))
    #expect(configuration.pollInterval == .milliseconds(99))
    #expect(configuration.sessions == .any)
    _ = try write("\n[Reader]\nPollInterval=x\n", "etc.d/a.conf")
    let error = #expect(throws: KeyFileError.self) { try DaemonConfiguration.load([main] + dropIns(in: directories)) }
    #expect(error?.file == dropIn)
    #expect(error?.line == 3)
  }

  @Test func `a standard file may be missing, but not a file that the user names`() throws {
    #expect(try DaemonConfiguration.load(["/nonexistent/a"]) == DaemonConfiguration())
    let error = #expect(throws: KeyFileError.self) { try DaemonConfiguration.load(only: "/nonexistent/a") }
    #expect(error?.description == "/nonexistent/a: does not exist: name a file that does")
    #expect(DaemonConfiguration.standardFiles().first == "/etc/tagroute.conf")
  }
}

@Suite(.timeLimit(.minutes(5))) struct SharedReadingsTests {
  /// Readings that end when the test ends them.
  private actor Readings {
    private(set) var begun = 0
    private var beginnings: [CheckedContinuation<Void, Never>] = []
    private var open: [CheckedContinuation<Void, Never>] = []

    func read() async -> Int {
      begun += 1
      let number = begun
      for beginning in beginnings { beginning.resume() }
      beginnings = []
      await withCheckedContinuation { open.append($0) }
      return number
    }

    func begins(_ number: Int) async {
      while begun < number { await withCheckedContinuation { beginnings.append($0) } }
    }

    func ends() { open.removeFirst().resume() }
  }

  @Test func `requests during a reading share the next reading`() async {
    let readings = Readings()
    let shared = SharedReadings { await readings.read() }
    await shared.open()
    let first = await shared.request()
    await readings.begins(1)
    // The current reading may be older than these requests.
    let (second, third) = (await shared.request(), await shared.request())
    await readings.ends()
    #expect(await first.value == 1)
    await readings.begins(2)
    let fourth = await shared.request()
    await readings.ends()
    #expect(await second.value == 2)
    #expect(await third.value == 2)
    await readings.begins(3)
    await readings.ends()
    #expect(await fourth.value == 3)
    let fifth = await shared.request()
    await readings.begins(4)
    await readings.ends()
    #expect(await fifth.value == 4)
  }

  @Test func `requests before the program is ready share one reading`() async {
    let readings = Readings()
    let shared = SharedReadings { await readings.read() }
    let (first, second) = (await shared.request(), await shared.request())
    #expect(await readings.begun == 0)
    await shared.open()
    await readings.begins(1)
    let third = await shared.request()
    await readings.ends()
    #expect(await first.value == 1)
    await readings.begins(2)
    await readings.ends()
    #expect(await second.value == 1)
    #expect(await third.value == 2)
  }
}
