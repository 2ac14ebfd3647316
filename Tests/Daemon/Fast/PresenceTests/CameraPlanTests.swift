import EventLoop
import Glibc
import Rig
import Testing

@testable import Presence

@Suite struct CameraPlanTests {
  private var plan = CameraPlan()

  @Test mutating func `a check starts when a camera is opened and when it is closed`() {
    #expect(plan.fact == .no)
    #expect(plan.handle(.devices(present: true, watched: true)) == [.look])
    #expect(plan.fact == .unknown)
    #expect(plan.handle(.looked(false)) == [.rest(.milliseconds(250))])
    #expect(plan.fact == .no)
    #expect(plan.handle(.rested) == [])
    #expect(plan.handle(.closed) == [])
    #expect(plan.handle(.opened) == [.look])
    #expect(plan.handle(.looked(true)) == [.rest(.milliseconds(250))])
    #expect(plan.fact == .yes)
    #expect(plan.handle(.opened) == [])
    #expect(plan.handle(.closed) == [])
    #expect(plan.handle(.rested) == [.look])
    #expect(plan.handle(.looked(false)) == [.rest(.milliseconds(500))])
    #expect(plan.fact == .no)
    #expect(plan.handle(.rested) == [])
  }

  @Test mutating func `a check that finds no user after an opening is repeated once`() {
    _ = plan.handle(.devices(present: true, watched: true))
    _ = plan.handle(.looked(false))
    _ = plan.handle(.rested)
    #expect(plan.handle(.opened) == [.look])
    _ = plan.handle(.looked(false))
    #expect(plan.handle(.rested) == [.look])
    _ = plan.handle(.looked(false))
    #expect(plan.handle(.rested) == [])
  }

  @Test mutating func `a program that opens and closes a camera forever is checked less and less often`() {
    _ = plan.handle(.devices(present: true, watched: true))
    var pauses: [Duration] = []
    for _ in 0..<7 {
      _ = plan.handle(.opened)
      if case .rest(let pause)? = plan.handle(.looked(false)).first { pauses.append(pause) }
      #expect(plan.handle(.rested) == [.look])
    }
    #expect(pauses == [250, 500, 1000, 2000, 4000, 4000, 4000].map(Duration.milliseconds))
  }

  @Test mutating func `a camera that cannot be watched is unknown`() {
    _ = plan.handle(.devices(present: true, watched: false))
    _ = plan.handle(.looked(false))
    #expect(plan.fact == .unknown)
    _ = plan.handle(.devices(present: false, watched: true))
    #expect(plan.fact == .no)
  }

  /// If a camera was opened or closed after the last check started, another check follows before the plan is idle.
  @Test mutating func `no sequence of events loses an opening or a closing`() {
    var count = 0
    func walk(_ plan: CameraPlan, isLooking: Bool, isResting: Bool, isOpen: Bool, depth: Int) {
      count += 1
      if !isLooking && !isResting { #expect(plan.fact == Fact(isOpen)) }
      guard depth > 0 else { return }
      func take(_ event: CameraPlan.Event, isOpen: Bool, isLooking: Bool, isResting: Bool) {
        var next = plan
        let actions = next.handle(event)
        let looks = actions.contains(.look)
        #expect(!(looks && (isLooking || isResting)))
        let rests = actions.contains { if case .rest = $0 { true } else { false } }
        walk(next, isLooking: isLooking || looks, isResting: isResting || rests, isOpen: isOpen, depth: depth - 1)
      }
      take(isOpen ? .closed : .opened, isOpen: !isOpen, isLooking: isLooking, isResting: isResting)
      take(.lost, isOpen: isOpen, isLooking: isLooking, isResting: isResting)
      if isLooking { take(.looked(isOpen), isOpen: isOpen, isLooking: false, isResting: isResting) }
      if isResting { take(.rested, isOpen: isOpen, isLooking: isLooking, isResting: false) }
    }
    #expect(plan.handle(.devices(present: true, watched: true)) == [.look])
    walk(plan, isLooking: true, isResting: false, isOpen: false, depth: 9)
    #expect(count > 5000)
  }

  @Test func `a check finds a process that has a camera open`() throws {
    let directory = try TemporaryDirectory()
    let node = try directory.write("", to: "dev/video0")
    try directory.write("", to: "dev/video0x")
    try directory.write("", to: "elsewhere/video0")
    let directories = SystemDirectories(environment: ["TAGROUTE_DEV": directory.file("dev")])
    #expect(CameraScan.nodes(in: directories.devices) == ["video0"])
    let scan = CameraScan(directories, nodes: ["video0"])
    let other = open(directory.file("elsewhere/video0"), O_RDONLY | O_CLOEXEC)
    #expect(!scan.findsUser())
    let camera = open(node, O_RDONLY | O_CLOEXEC)
    #expect(scan.findsUser())
    close(camera)
    close(other)
    #expect(!scan.findsUser())
  }
}
