import Bus

/// PACE on the master file of a passport or an identity card (ICAO Doc 9303-11, 4.4, and BSI TR-03110-3, B.1): the card
/// wants it before an application can be selected.
extension TransceivePolicy {
  /// Whether the master file is selected.
  enum MasterFile: Sendable, Hashable {
    /// No. A SELECT of the master file leads to `selected`.
    case left
    /// Only the commands of PACE are sent. Its last one leads to `authenticated`. The SELECT of a declared application
    /// by its name leads to `left`.
    case selected
    /// PACE is done. A SELECT by an encrypted name leads to `left`, too.
    case authenticated

    /// EF.CardAccess and EF.CardSecurity, which describe PACE, and EF.ATR/INFO, which limits the length of commands.
    static let files: [[UInt8]] = [[0x01, 0x1C], [0x01, 0x1D], [0x2F, 0x01]]
    /// Their short identifiers.
    static let shortIdentifiers: [UInt8] = [0x1C, 0x1D, 0x01]
  }

  /// READ BINARY of these files, MANAGE SECURITY ENVIRONMENT, GENERAL AUTHENTICATE, GET RESPONSE. `checkSelect` checks
  /// each SELECT by name.
  func checkAtMasterFile(_ command: CommandAPDU) throws(BusError) {
    let isAllowed =
      switch command.ins {
      case 0xA4:
        command.p1 == 0x04 || command.selectsMasterFile || command.isSecured
          || MasterFile.files.contains(command.data)
      case 0xB0: command.p1 & 0x80 == 0 || MasterFile.shortIdentifiers.contains(command.p1 & 0x1F)
      case 0x22, 0x86, 0xC0: true
      default: false
      }
    guard isAllowed else {
      throw .notAuthorized("the master file is selected: select a declared application by its name after PACE")
    }
  }
}
