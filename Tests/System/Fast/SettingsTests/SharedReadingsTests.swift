import Settings
import Testing

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
