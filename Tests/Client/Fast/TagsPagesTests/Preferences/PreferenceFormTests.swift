import Rig
import Settings
@testable import TagsPages
import Testing

@testable import TagrouteClient

struct PreferenceFormTests {
  private var form = PreferenceForm()
  private static let days = "Inbox.RetentionDays"
  private static let sound = "Notifications.Sound"

  private static func settings(_ changes: [String: String] = [:]) -> [String: SettingDescription] {
    Dictionary(
      uniqueKeysWithValues: AgentConfiguration().texts.map { text in
        var setting = SettingDescription()
        setting.value = changes[text.name] ?? text.value
        (setting.defaultValue, setting.isSet) = (text.defaultValue, changes[text.name] != nil)
        return (text.name, setting)
      })
  }

  private mutating func open(_ changes: [String: String] = [:]) {
    #expect(form.handle(.changed) == [.ask])
    #expect(form.handle(.answered(Self.settings(changes))) == [.show])
  }

  @Test func theWindowOffersEverySettingWithItsValues() throws {
    let preferences = Preference.groups.flatMap(\.preferences)
    #expect(Set(preferences.map(\.name)) == Set(AgentConfiguration().texts.map(\.name)))
    let folder = try TemporaryDirectory()
    for preference in preferences {
      let values =
        switch preference.control {
        case .toggle(let on, let off): [on, off]
        case .choice(let choices): choices.map(\.value)
        case .number, .text: [] as [String]
        }
      for value in values { try AgentConfiguration.change("\(folder.path)/agent.conf", [preference.name: value]) }
      if let warning = preference.warning { #expect(values.contains(warning.value)) }
    }
  }

  @Test mutating func aFieldHasItsValueAndItsDefault() throws {
    open([Self.sound: "failures", "Notifications.Timeout": "45"])
    let sound = try #require(form.field(Self.sound))
    #expect((sound.value, sound.defaultWords, sound.problem) == ("failures", "None", ""))
    #expect(sound.isSet)
    #expect(form.field(Self.days)?.isSet == false)
    let timeout = Preference.groups[0].preferences[0]
    #expect(timeout.choices(with: "45").last?.title == "45 seconds")
    #expect(form.field("Links.Verify")?.defaultWords == "Off")
  }

  @Test mutating func aChangeIsAppliedAtOnce() {
    open()
    #expect(form.handle(.edited(Self.sound, "on")) == [.change(Self.sound, "on")])
    #expect(form.field(Self.sound)?.value == "on")
    #expect(form.handle(.changeEnded(Self.sound, nil)) == [.show, .ask])
    #expect(form.field(Self.sound)?.value == "on")
    #expect(form.handle(.edited(Self.sound, "on")) == [.show], "it has that value")
    #expect(form.handle(.edited(Self.sound, nil)) == [.change(Self.sound, nil)])
  }

  @Test mutating func ofManyChangesOnlyTheLatestWaits() {
    open()
    _ = form.handle(.edited(Self.sound, "on"))
    #expect(form.handle(.edited(Self.sound, "failures")).isEmpty)
    #expect(form.handle(.edited(Self.sound, nil)).isEmpty)
    #expect(form.handle(.changeEnded(Self.sound, nil)) == [.change(Self.sound, nil)])
    #expect(form.handle(.changeEnded(Self.sound, nil)) == [.show, .ask])
  }

  @Test mutating func aRefusedTextStaysWithTheReason() {
    open()
    _ = form.handle(.edited(Self.days, "0"))
    #expect(form.handle(.changeEnded(Self.days, "write 1 to 3650")) == [.show])
    #expect(form.field(Self.days)?.value == "0")
    #expect(form.field(Self.days)?.problem == "write 1 to 3650")
    _ = form.handle(.edited(Self.days, "7"))
    #expect(form.field(Self.days)?.problem == "")
    _ = form.handle(.changeEnded(Self.days, nil))
    #expect(form.field(Self.days)?.value == "7")
  }

  @Test mutating func aRefusedChoiceGoesBackWithTheReason() {
    open()
    _ = form.handle(.edited(Self.sound, "on"))
    _ = form.handle(.changeEnded(Self.sound, "agent.conf:3: no such key"))
    #expect(form.field(Self.sound)?.value == "off")
    #expect(form.field(Self.sound)?.problem == "agent.conf:3: no such key")
  }

  @Test mutating func whatCannotBeUndoneIsAskedFirst() throws {
    open()
    let actions = form.handle(.edited("Inbox.Inbox", "off"))
    guard case .warn(let warning, "Inbox.Inbox")? = actions.first, actions.count == 1 else {
      Issue.record("\(actions)")
      return
    }
    #expect(form.field("Inbox.Inbox")?.value == "on")
    #expect(form.handle(.confirmed("Inbox.Inbox", warning.value)) == [.change("Inbox.Inbox", "off")])
    _ = form.handle(.changeEnded("Inbox.Inbox", nil))
    #expect(form.handle(.edited("Inbox.Inbox", "on")) == [.change("Inbox.Inbox", "on")])
  }

  @Test mutating func withoutTheAgentNothingCanBeChanged() {
    #expect(!form.canChange)
    open()
    #expect(form.canChange)
    _ = form.handle(.changed)
    _ = form.handle(.unreachable("away"))
    #expect(!form.canChange && form.problem == "away")
    open()
    #expect(form.canChange)
  }
}
