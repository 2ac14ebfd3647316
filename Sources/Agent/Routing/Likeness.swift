/// The part of a displayed name that distinguishes it on a screen: its letters and digits, in lower case. If it has no
/// letters or digits, the whole name.
struct Likeness {
  /// The part with the marks on its letters, in any Unicode normal form, and without them if it has any. Two names are
  /// alike if they share a form.
  let forms: [String]

  /// Uses the name as displayed, cut to the visible part.
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
