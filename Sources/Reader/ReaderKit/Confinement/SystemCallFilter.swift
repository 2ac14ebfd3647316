import CSeccomp
import CShims
import Glibc

/// Enforces a policy on system calls, by seccomp.
enum SystemCallFilter {
  /// The result of applying a policy.
  enum Outcome: Equatable {
    /// The filter is in force, except for these rules, which libseccomp rejected. Their calls are not allowed.
    case inForce(missing: [String])
    /// The kernel has no filter of system calls.
    case unknown
    /// The kernel has a filter, but this one is not in force, for this reason.
    case failed(String)
  }

  /// Restricts every thread of the process to a policy for good. The process must have given up new privileges before.
  static func apply(_ policy: SystemCallPolicy) -> Outcome {
    guard tagroute_kernel_filters_calls() != 0 else { return .unknown }
    guard let filter = seccomp_init(answer(ENOSYS)) else { return .failed("libseccomp cannot be initialised") }
    defer { seccomp_release(filter) }
    // Otherwise libseccomp does not return the kernel's error codes. libseccomp before 2.5 lacks this attribute, which
    // is not an error.
    _ = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)
    for (attribute, value) in [
      (SCMP_FLTATR_CTL_TSYNC, 1),
      // By default libseccomp would kill only the calling thread for a call of another architecture.
      (SCMP_FLTATR_ACT_BADARCH, UInt32(SCMP_ACT_KILL_PROCESS)),
    ] {
      let error = seccomp_attr_set(filter, attribute, value)
      guard error == 0 else { return .failed(words(error)) }
    }
    var missing: [String] = []
    for rule in policy.rules {
      let number = rule.call.withCString(seccomp_syscall_resolve_name)
      // This libseccomp is older than the call.
      guard number != __NR_SCMP_ERROR else { continue }
      // A call without a rule is refused. Without a rule the process may do less, never more.
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
