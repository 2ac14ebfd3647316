/// What of a name, as it is shown, tells it from another on a screen: its letters and digits, in lower case. Where it has none, the whole.
struct Likeness {
  /// With the marks on its letters, which Swift compares in any normal form, and without them where there are any. Two names are
  /// alike where they have one of these in common.
  let forms: [String]

  /// - Parameter shown: the name as it stands on the screen, cut to what is seen.
  init(_ shown: String) {
    var (whole, bare) = (String.UnicodeScalarView(), String.UnicodeScalarView())
    for scalar in shown.unicodeScalars {
      let properties = scalar.properties
      guard !properties.isDefaultIgnorableCodePoint else { continue }
      let isMark = [.nonspacingMark, .spacingMark, .enclosingMark].contains(properties.generalCategory)
      guard isMark || properties.isAlphabetic || properties.numericType != nil else { continue }
      let letters = properties.lowercaseMapping.unicodeScalars
      whole.append(contentsOf: letters)
      if !isMark { bare.append(contentsOf: letters) }
    }
    guard !bare.isEmpty else {
      forms = [shown]
      return
    }
    forms = bare.count == whole.count ? [String(bare)] : [String(whole), String(bare)]
  }
}
