public import Foundation

/// A pass of a wallet to ask for (iOS 13). The protocol is Apple's own, and no reader of this system has it.
open class NFCVASCommandConfiguration: NSObject, NSCopying {
  /// How a wallet is asked.
  public enum Mode: Int, Sendable {
    /// Only a URL is sent.
    case urlOnly = 0
    /// The pass is asked for.
    case normal = 1
  }

  /// How the wallet is asked.
  open var mode: Mode
  /// The type identifier of the pass, such as `pass.com.example.menu`.
  open var passTypeIdentifier: String
  /// A URL that the wallet gets, at most 64 characters; nil for none.
  open var url: URL?

  /// Makes a configuration.
  ///
  /// - Parameters:
  ///   - mode: how the wallet is asked.
  ///   - passTypeIdentifier: the type identifier of the pass.
  ///   - url: a URL that the wallet gets; nil for none.
  public required init(vasMode mode: Mode, passTypeIdentifier: String, url: URL?) {
    self.mode = mode
    self.passTypeIdentifier = passTypeIdentifier
    self.url = url
    super.init()
  }

  /// A copy of the same class.
  open func copy(with zone: NSZone? = nil) -> Any {
    type(of: self).init(vasMode: mode, passTypeIdentifier: passTypeIdentifier, url: url)
  }
}

/// The former name of ``NFCVASCommandConfiguration/Mode-swift.enum``.
@available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode")
public typealias VASMode = NFCVASCommandConfiguration.Mode

// swift-format-ignore: AlwaysUseLowerCamelCase
extension NFCVASCommandConfiguration.Mode {
  /// The former name of ``urlOnly``.
  @available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode.urlOnly")
  public static var VASModeURLOnly: NFCVASCommandConfiguration.Mode { .urlOnly }
  /// The former name of ``normal``.
  @available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode.normal")
  public static var VASModeNormal: NFCVASCommandConfiguration.Mode { .normal }
}
