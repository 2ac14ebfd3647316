import Glibc
import Testing

@testable import ReaderKit

/// The privileges that a process with pcscd keeps.
@Suite struct CardPlanTests {
  typealias Plan = ConfinementPlan

  private static func rules(_ use: Plan.PCSCDUse) -> [SystemCallPolicy.Rule] {
    SystemCallPolicy(Plan(use, Plan.Circumstances(hasLibusb1: true)), process: 42).rules
  }

  @Test(arguments: Plan.PCSCDUse.allCases) func `no file and no device is opened`(use: Plan.PCSCDUse) {
    let plan = Plan(use, Plan.Circumstances(hasLibusb1: true))
    #expect(plan.files == [] && plan.kinds == [] && !plan.usesLibusb1)
    #expect(Self.rules(use).count { $0.call == "ioctl" } == 1)
  }

  @Test(arguments: Plan.PCSCDUse.allCases) func `threads are allowed, and no processes`(use: Plan.PCSCDUse) {
    let plan = Plan(use, Plan.Circumstances())
    #expect(plan.startsThreads && !plan.limits.contains(.processes(0)))
    #expect(plan.limits.contains(.addressSpace(1 << 30)) && plan.limits.contains(.openFiles(64)))
    let clone = Self.rules(use).filter { $0.call == "clone" }
    #expect(clone.map(\.verdict).contains(.allow) && clone.map(\.verdict).contains(.kill))
    #expect(clone.allSatisfy { $0.conditions.count == 1 })
    for call in ["fork", "vfork", "execve", "ptrace", "kill"] {
      #expect(Self.rules(use).filter { $0.call == call } == [SystemCallPolicy.Rule(.kill, call)])
    }
  }

  /// A process that may connect to pcscd may also connect to the system bus. So only the one that handles no card may.
  @Test func `a process with cards makes no socket`() {
    for call in ["socket", "connect", "bind"] {
      #expect(Self.rules(.cards).filter { $0.call == call } == [SystemCallPolicy.Rule(.kill, call)])
    }
    #expect(!Self.rules(.cards).contains { $0.call.hasPrefix("inotify") && $0.verdict == .allow })
  }

  @Test func `a process that lists readers makes local sockets alone`() {
    let sockets = Self.rules(.list).filter { $0.call == "socket" }
    #expect(
      sockets == [
        SystemCallPolicy.Rule(.allow, "socket", .equal(argument: 0, UInt64(AF_UNIX)), .equal(argument: 2, 0))
      ])
    #expect(Self.rules(.list).filter { $0.call == "connect" } == [SystemCallPolicy.Rule(.allow, "connect")])
    #expect(Self.rules(.list).filter { $0.call == "bind" } == [SystemCallPolicy.Rule(.kill, "bind")])
  }

  @Test(arguments: Plan.PCSCDUse.allCases) func `no call has a wider rule beside a narrow one`(use: Plan.PCSCDUse) {
    let rules = Self.rules(use)
    let unconditional = rules.filter(\.conditions.isEmpty).map(\.call)
    #expect(Set(unconditional).count == unconditional.count)
    for rule in rules where !rule.conditions.isEmpty { #expect(!unconditional.contains(rule.call), "\(rule.call)") }
  }
}
