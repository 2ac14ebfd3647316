import CSeccomp
import CShims
import Glibc

/// Puts a policy on system calls in force, by seccomp.
enum SystemCallFilter {
  /// What has come of it.
  enum Outcome: Equatable {
    /// But for these rules, which libseccomp does not take: their calls are not let through.
    case inForce(missing: [String])
    /// The kernel knows none.
    case unknown
    /// The kernel knows some, and this one is not in force, for this reason.
    case failed(String)
  }

  /// Holds every thread of the process to a policy for good. The process must have given up new privileges before.
  ///
  /// - Parameter policy: what becomes of each call.
  /// - Returns: whether it is in force.
  static func apply(_ policy: SystemCallPolicy) -> Outcome {
    guard tagroute_kernel_filters_calls() != 0 else { return .unknown }
    guard let filter = seccomp_init(answer(ENOSYS)) else { return .failed("libseccomp cannot be initialised") }
    defer { seccomp_release(filter) }
    // Otherwise it says of what the kernel refuses only that it did. One before 2.5 does not know that, and does without.
    _ = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)
    for (attribute, value) in [
      (SCMP_FLTATR_CTL_TSYNC, 1),
      // Where another architecture's calls are made, libseccomp would end the calling thread alone.
      (SCMP_FLTATR_ACT_BADARCH, UInt32(SCMP_ACT_KILL_PROCESS)),
    ] {
      let error = seccomp_attr_set(filter, attribute, value)
      guard error == 0 else { return .failed(words(error)) }
    }
    var missing: [String] = []
    for rule in policy.rules {
      let number = rule.call.withCString(seccomp_syscall_resolve_name)
      // libseccomp is older than the call.
      guard number != __NR_SCMP_ERROR else { continue }
      // What no rule names is refused: without one the process may do less, and never more.
      if let error = add(rule, number, to: filter) { missing.append("\(rule.call): \(words(error))") }
    }
    let error = seccomp_load(filter)
    return error == 0 ? .inForce(missing: missing) : .failed(words(error))
  }

  private static func add(_ rule: SystemCallPolicy.Rule, _ number: Int32, to filter: scmp_filter_ctx) -> Int32? {
    let action: UInt32
    switch rule.verdict {
    case .allow: action = UInt32(SCMP_ACT_ALLOW)
    case .refuse: action = answer(EPERM)
    case .kill: action = UInt32(SCMP_ACT_KILL_PROCESS)
    }
    let conditions = rule.conditions.map(comparison)
    let error = seccomp_rule_add_array(filter, action, number, UInt32(conditions.count), conditions)
    // This architecture has no such call.
    return error == 0 || error == -EDOM ? nil : error
  }

  private static func comparison(_ condition: SystemCallPolicy.Condition) -> scmp_arg_cmp {
    switch condition {
    case .equal(let argument, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
    case .notEqual(let argument, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_NE, datum_a: value, datum_b: 0)
    case .masked(let argument, let mask, let value):
      scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
    }
  }

  /// SCMP_ACT_ERRNO, a macro that Swift does not import.
  private static func answer(_ error: Int32) -> UInt32 { 0x0005_0000 | UInt32(error) }

  private static func words(_ error: Int32) -> String { String(cString: strerror(-error)) }
}
