import TagsPages
import Testing

@testable import Doctor

struct FirstRunTests {
  private var firstRun = FirstRun()

  private mutating func shows(_ event: FirstRun.Event) -> Bool {
    firstRun.handle(event)
    return firstRun.isShown
  }

  @Test mutating func thePageIsShownUntilTheFirstTag() {
    #expect(!shows(.listed(.loading, isFiltered: false)))
    #expect(shows(.listed(.empty, isFiltered: false)))
    #expect(!shows(.listed(.empty, isFiltered: true)))
    #expect(shows(.listed(.unreachable(""), isFiltered: false)))
    // The page stays until it is known what is in the inbox.
    #expect(shows(.listed(.loading, isFiltered: false)))
    #expect(!shows(.listed(.list, isFiltered: false)))
    #expect(!shows(.listed(.empty, isFiltered: false)))
  }

  @Test mutating func aTagThatIsNotKeptEndsItToo() {
    #expect(shows(.listed(.empty, isFiltered: false)))
    #expect(!shows(.tapped))
    #expect(!shows(.listed(.empty, isFiltered: false)))
  }

  private static let sound: [Finding] = [
    .right(.systemBus, "answers"), .right(.daemon, "answers"), .right(.reader, "ACR122U is scanning"),
    .right(.agentUnit, "active"), .right(.agent, "registered"), .right(.notifications, "dunst"),
    .note(.handlers, "no app"), .right(.scanning, "the readers scan for tags"),
  ]

  private static func with(_ finding: Finding) -> [Finding] {
    sound.filter { $0.subject != finding.subject && !(finding.subject == .reader && $0.subject == .scanning) } + [
      finding
    ]
  }

  @Test func aSystemThatWorksAsksForATag() {
    let list = FirstRun.Checklist(Self.sound)
    #expect(list.isReady)
    #expect(list.title == "Hold a Tag to the Reader")
    #expect(list.rows.map(\.title) == ["Reader", "Agent", "Notifications"])
    #expect(list.rows.allSatisfy { $0.verdict == .right })
  }

  @Test(arguments: [
    (with(.wrong(.reader, "no reader found", .advise("plug in a reader"))), 0),
    (with(.wrong(.daemonUnit, "tagrouted.service failed", .run("sudo systemctl restart tagrouted.service"))), 0),
    (with(.note(.scanning, "paused: the session is locked")), 0),
    (with(.wrong(.agent, "no agent runs in this session", .run("tagroute-agent &"))), 1),
    (with(.wrong(.agentConfiguration, "agent.conf:3: no such key", .advise("fix that line"))), 1),
  ])
  func whatKeepsTagsAwayIsInTheRowOfItsPart(findings: [Finding], row: Int) {
    let list = FirstRun.Checklist(findings)
    #expect(!list.isReady)
    #expect(list.title == "Not Ready Yet")
    #expect(list.rows.enumerated().filter { $0.element.verdict != .right }.map(\.offset) == [row])
    #expect(list.rows[row].text == findings.last?.text)
  }

  @Test func aTagCanBeReadWithoutNotifications() {
    let list = FirstRun.Checklist(
      Self.with(.wrong(.notifications, "no notification server runs", .run("sudo apt-get install dunst"))))
    #expect(list.isReady)
    #expect(list.rows.last?.command == "sudo apt-get install dunst")
  }

  @Test func aNoteThatCanWaitIsNoObstacle() {
    let list = FirstRun.Checklist(Self.with(.note(.agentUnit, "will not start automatically", .run("systemctl"))))
    #expect(list.isReady)
    #expect(list.rows[1].verdict == .right)
  }

  @Test func beforeTheFirstExaminationNothingIsClaimed() {
    let list = FirstRun.Checklist(nil)
    #expect(list.rows.isEmpty && !list.isReady)
    #expect(list.title == "One Moment")
  }
}
