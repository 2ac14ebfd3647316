public import Foundation

/// The answer of a wallet (iOS 13). Sessions of this system have none.
open class NFCVASResponse: NSObject, NSCopying {
  /// The status word of the answer.
  public enum ErrorCode: Int, Sendable {
    /// The wallet has sent the data.
    case success = 0x9000
    /// The wallet has no such pass.
    case dataNotFound = 0x6A83
    /// The pass is not activated.
    case dataNotActivated = 0x6287
    /// The parameters are wrong.
    case wrongParameters = 0x6B00
    /// The length of the data is wrong.
    case wrongLCField = 0x6700
    /// The user has to act first.
    case userIntervention = 0x6984
    /// The data is wrong.
    case incorrectData = 0x6A80
    /// The wallet does not support this version of the protocol.
    case unsupportedApplicationVersion = 0x6340
  }

  /// The status word.
  open private(set) var status: ErrorCode
  /// The data of the pass.
  open private(set) var vasData: Data
  /// The token that identifies the wallet.
  open private(set) var mobileToken: Data

  init(status: ErrorCode, vasData: Data, mobileToken: Data) {
    self.status = status
    self.vasData = vasData
    self.mobileToken = mobileToken
    super.init()
  }

  /// The same object, since it cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The former name of ``NFCVASResponse/ErrorCode``.
@available(*, deprecated, renamed: "NFCVASResponse.ErrorCode")
public typealias VASErrorCode = NFCVASResponse.ErrorCode

// swift-format-ignore: AlwaysUseLowerCamelCase
extension NFCVASResponse.ErrorCode {
  /// The former name of ``success``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.success")
  public static var VASErrorCodeSuccess: NFCVASResponse.ErrorCode { .success }
  /// The former name of ``dataNotFound``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.dataNotFound")
  public static var VASErrorCodeDataNotFound: NFCVASResponse.ErrorCode { .dataNotFound }
  /// The former name of ``dataNotActivated``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.dataNotActivated")
  public static var VASErrorCodeDataNotActivated: NFCVASResponse.ErrorCode { .dataNotActivated }
  /// The former name of ``wrongParameters``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.wrongParameters")
  public static var VASErrorCodeWrongParameters: NFCVASResponse.ErrorCode { .wrongParameters }
  /// The former name of ``wrongLCField``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.wrongLCField")
  public static var VASErrorCodeWrongLCField: NFCVASResponse.ErrorCode { .wrongLCField }
  /// The former name of ``userIntervention``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.userIntervention")
  public static var VASErrorCodeUserIntervention: NFCVASResponse.ErrorCode { .userIntervention }
  /// The former name of ``incorrectData``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.incorrectData")
  public static var VASErrorCodeIncorrectData: NFCVASResponse.ErrorCode { .incorrectData }
  /// The former name of ``unsupportedApplicationVersion``.
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.unsupportedApplicationVersion")
  public static var VASErrorCodeUnsupportedApplicationVersion: NFCVASResponse.ErrorCode {
    .unsupportedApplicationVersion
  }
}
