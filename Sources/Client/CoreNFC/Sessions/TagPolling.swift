import Names
import TagrouteClient

/// What a tag session asks the daemon for.
struct TagPolling: Sendable {
  private let kinds: NFCTagReaderSession.PollingOption
  /// The declared applications, hexadecimal; nil if the program declares none.
  let identifiers: [String]?
  /// The declared systems.
  let systems: [UInt16]

  /// An empty list of a configuration is none.
  init(_ source: NFCTagReaderSession.PollingSource) {
    switch source {
    case .declared(let kinds):
      let declarations = NFCDeclarations.current
      self.kinds = kinds
      identifiers = declarations.iso7816SelectIdentifiers
      systems = NFCDeclarations.systems(declarations.feliCaSystemCodes ?? [])
    case .configured(let configuration):
      let list = configuration.iso7816SelectIdentifiers
      kinds = configuration.pollingOption
      identifiers = list.isEmpty ? nil : list
      systems = NFCDeclarations.systems(configuration.feliCaSystemCodes)
    }
  }

  /// The declared applications; nil if the program declares none.
  var applications: [[UInt8]]? { identifiers.map(NFCDeclarations.applications) }

  /// Whether a card of ISO/IEC 14443-4 is an ISO 7816 card without a declared application.
  var findsEveryCard: Bool { kinds.contains(.pace) }

  /// The options for the daemon.
  ///
  /// - Throws: 1 if there is no kind of tag; 2 if the kind needs a list and the list has no valid entry.
  func options() throws(NFCReaderError) -> ReaderSessionOptions {
    var options = ReaderSessionOptions()
    if kinds.contains(.iso14443) {
      options.technologies += [TagType.type2, .type4A, .type4B].map(\.rawValue)
      if let applications {
        options.applicationIdentifiers = applications
        guard !options.applicationIdentifiers.isEmpty else { throw NFCReaderError(.readerErrorSecurityViolation) }
        // DESFire and Plus are found without an application, as `miFare`.
        options.reportsUndeclaredCards = true
      }
    }
    if kinds.contains(.pace) {
      options.technologies += [TagType.type4A, .type4B].map(\.rawValue).filter { !options.technologies.contains($0) }
      options.applicationIdentifiers = applications ?? []
      options.reportsUndeclaredCards = true
      options.selectsApplication = false
    }
    if kinds.contains(.iso18092) {
      options.technologies.append(TagType.type3.rawValue)
      options.systemCodes = systems
      guard !options.systemCodes.isEmpty else { throw NFCReaderError(.readerErrorSecurityViolation) }
    }
    // The daemon refuses this kind alone if the reader cannot find it. Beside other kinds, the reader finds the others.
    if kinds.contains(.iso15693) { options.technologies.append(TagType.type5.rawValue) }
    guard !options.technologies.isEmpty else { throw NFCReaderError(.readerErrorUnsupportedFeature) }
    return options
  }
}
