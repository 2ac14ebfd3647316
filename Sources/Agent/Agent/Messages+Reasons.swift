import Handlers
import Inbox
import Notifications
import UniversalLinks

extension Messages {
  /// A sentence without a full stop; may be empty. `program` is that of the rule; empty if it is unknown.
  ///
  /// Another program's message is quoted and short: it is not translated, and may contain any text.
  static func whyFailed(_ reason: TapReason, program: String = "") -> String {
    if let failure = reason.handOverFailure { return words(for: failure, program) }
    if let doubt = reason.handOverDoubt { return words(for: doubt) }
    return switch reason.code {
    case .endedWhileOpening: translated("Tagroute ended while the link was being opened")
    case .noAnswer: noAnswer
    case .damaged: whyDamaged
    default: quoted(reason.detail)
    }
  }

  static var damagedTag: String { translated("This tag is damaged") }

  /// A sentence without a full stop.
  static var whyDamaged: String {
    // Translators: below “This tag is damaged”.
    translated("What is on it cannot be read; write the tag again")
  }

  /// For example `javascript:`.
  static var refusedLink: String { translated("This link may not be opened") }

  /// With the remedy: how to write the tag. A sentence without a full stop. The refusal is nil if the link cannot be
  /// decoded.
  static func whyRefused(_ refusal: URIError.Code?) -> String {
    switch refusal {
    case .forbiddenCharacter:
      // Translators: below “This link may not be opened”. It: the link on a tag.
      translated("It holds a character that no link may hold, such as a line end or a backslash")
    case .forbiddenScheme:
      // Translators: below “This link may not be opened”. Links that run code or read files, such as javascript: and file:
      translated("Links of this kind are never opened from a tag")
    case .userInformation:
      // Translators: below “This link may not be opened”. Such as https://bank.example@evil.example/
      translated("It has a user name before the domain, as deceptive links do")
    case .tooLong:
      // Translators: below “This link may not be opened”.
      translated("It is too long")
    default:
      // Translators: below “This link may not be opened”.
      translated("It is not written as a link has to be; write the tag again")
    }
  }

  private static func words(for failure: HandOverFailure, _ program: String) -> String {
    switch failure.code {
    case .nowhere:
      return refusedLink
    case .entryMissing:
      return translated("The app is not installed any more")
    case .entryChanged:
      // Translators: the app was updated or replaced after the notification was shown.
      return translated("The app has changed meanwhile; try again to open the link in it as it is now")
    case .entryUnusable:
      // Translators: {detail} is in English and says what is wrong, with the name of a file and a line.
      return translated("The app is not installed correctly: “{detail}”", ["detail": quotable(failure.detail)])
    case .noCommand:
      return translated("The app is not installed correctly: nothing says how to start it")
    case .needsTerminal:
      return translated("The app needs a terminal, and none is opened for a tag")
    case .programMissing:
      // Translators: the app is known to the desktop, and the program that it consists of is missing.
      return translated("The program of the app is not installed")
    case .commandMissing where quotable(program).isEmpty:
      // Translators: the program of a rule that the user has written for a tag
      return translated("The program is missing or cannot be executed")
    case .commandMissing:
      // Translators: a rule that the user has written for a tag names a program, for example /usr/bin/mpc
      return translated("The program is missing or cannot be executed: “{program}”", ["program": quotable(program)])
    case .commandFailed:
      // Translators: a rule that the user has written names a program. {detail} is in English and says how it ended, such
      // as: /bin/false ended with status 1
      return translated("The program failed: “{detail}”", ["detail": quotable(failure.detail)])
    case .tooManyPrograms:
      // Translators: a rule that the user has written starts a program at each tap, and they do not end.
      return translated("Too many programs of earlier taps still run")
    case .notPermitted:
      return translated("You are not permitted to start the app")
    case .notStarted:
      // Translators: {detail} is the reason that the system gives, in English.
      return translated("The app could not be started: “{detail}”", ["detail": quotable(failure.detail)])
    case .handlerFailed:
      let detail = quotable(failure.detail)
      if detail.isEmpty { return translated("The app did not take it") }
      // Translators: it: the link, or all that is on the tag. {detail} is what the app says itself.
      return translated("The app did not take it: “{detail}”", ["detail": detail])
    case .noClipboard:
      // Translators: {programs} are names of programs, one of which it takes for copying.
      return translated("To copy, one of these must be installed: {programs}", ["programs": "wl-copy, xclip, xsel"])
    case .notCopied:
      // Translators: {program} is the name of the program that should have taken what was to be copied.
      return translated("{program} did not take it", ["program": quotable(failure.detail)])
    case .fileNotWritten:
      // Translators: the app opens files, and what was on the tag is written into one for it. {detail} is the reason that
      // the system gives, in English.
      return translated("The file for the app could not be written: “{detail}”", ["detail": quotable(failure.detail)])
    case .noNetworkManager: return whyNoWiFi(.noNetworkManager)
    case .noWiFiDevice: return whyNoWiFi(.noDevice)
    case .wiFiOff: return whyNoWiFi(.off)
    case .networkUnusable: return networkUnusable
    case .networkPassword: return networkPassword
    case .networkNotJoined: return networkNotJoined(quotable(failure.detail))
    case .networkNotSaved: return networkNotSaved(quotable(failure.detail))
    case .noResources:
      return translated("The computer has no memory left, or runs too many programs")
    }
  }

  private static func words(for doubt: HandOverDoubt) -> String {
    switch doubt.code {
    case .unanswered: return noAnswer
    case .leftWithoutAnswer: return translated("The app ended without an answer")
    case .busLost: return translated("The connection to the app was lost before it answered")
    case .outOfSight: return translated("Nobody knows whether {program} took it", ["program": quotable(doubt.detail)])
    }
  }

  private static var noAnswer: String { translated("The app did not answer in time") }

  private static func quoted(_ words: String) -> String {
    let words = quotable(words)
    // Translators: {detail} is what a program says, in English; the marks are quotation marks.
    return words.isEmpty ? "" : translated("“{detail}”", ["detail": words])
  }

  /// Without marks that could end a quotation.
  private static func quotable(_ words: String) -> String {
    DisplayText(TapOffer.withoutQuotationMarks(words), limit: 120).string
  }
}
