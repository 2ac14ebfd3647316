import CGTK
import CGTKShims
import TagsPages

/// An app in the list of apps. Expanded, it has a row for each claim, in which the user chooses.
final class AppRow {
  enum Change {
    case choose(AppEntry.Choice, claim: String)
    case block(Bool)
    case forgetAll
  }

  let widget: Kept
  private let changed: (Change) -> Void
  private var warning: Kept?
  /// Made when the row is first expanded, because a list of choices takes time to make.
  private var contents: [Kept] = []
  private var claims: [ClaimRow] = []
  private var block: Kept?
  private var forget: Kept?
  private var entry: AppEntry
  private var isUpdating = false

  init(_ entry: AppEntry, changed: @escaping (Change) -> Void) {
    (self.entry, self.changed) = (entry, changed)
    widget = Widgets.expander(entry.title)
    widget.on("notify::expanded") { [weak self] in self?.fill() }
    update(entry)
  }

  func update(_ entry: AppEntry) {
    let former = self.entry
    self.entry = entry
    isUpdating = true
    defer { isUpdating = false }
    adw_preferences_row_set_title(widget.cast(), entry.title)
    adw_expander_row_set_subtitle(widget.cast(), entry.summary)
    if warning == nil, !entry.problems.isEmpty {
      let sign = Widgets.warning(translated("Has a mistake"))
      adw_expander_row_add_prefix(widget.cast(), sign.widget)
      warning = sign
    }
    if let warning { gtk_widget_set_visible(warning.widget, entry.problems.isEmpty ? 0 : 1) }
    guard !contents.isEmpty else { return }
    let isSame =
      former.claims.map(\.id) == entry.claims.map(\.id) && former.problems == entry.problems
      && former.source == entry.source && former.moreClaims == entry.moreClaims
    guard isSame else {
      for row in contents { adw_expander_row_remove(widget.cast(), row.widget) }
      contents = []
      fill()
      return
    }
    for (row, claim) in zip(claims, entry.claims) { row.update(claim) }
    updateChoices()
  }

  private func fill() {
    guard contents.isEmpty, adw_expander_row_get_expanded(widget.cast()) != 0 else { return }
    add(Widgets.row(title: entry.idText, text: entry.source))
    for problem in entry.problems {
      let row = Widgets.row(title: problem)
      adw_action_row_add_prefix(row.cast(), Widgets.warning(translated("Mistake")).widget)
      add(row)
    }
    claims = entry.claims.map { claim in
      ClaimRow(claim) { [weak self] choice in self?.changed(.choose(choice, claim: claim.id)) }
    }
    for claim in claims { add(claim.widget) }
    if entry.moreClaims > 0 {
      add(Widgets.row(title: translated("{number} more", ["number": "\(entry.moreClaims)"])))
    }
    // Without a valid claim there is nothing to decide.
    guard !entry.claims.isEmpty else { return }
    addBlock()
    addForget()
    updateChoices()
  }

  private func add(_ row: Kept) {
    adw_expander_row_add_row(widget.cast(), row.widget)
    contents.append(row)
  }

  private func addBlock() {
    let row = Widgets.row(title: translated("Block This App"), text: translated("No tag offers it"))
    let toggle = Kept(gtk_switch_new())
    gtk_widget_set_valign(toggle.widget, GTK_ALIGN_CENTER)
    tags_set_accessible_name(toggle.raw, translated("Block This App"))
    toggle.on("notify::active") { [weak self, weak toggle] in
      guard let self, let toggle, !isUpdating else { return }
      changed(.block(gtk_switch_get_active(toggle.opaque) != 0))
    }
    adw_action_row_add_suffix(row.cast(), toggle.widget)
    adw_action_row_set_activatable_widget(row.cast(), toggle.widget)
    add(row)
    block = toggle
  }

  private func addForget() {
    let row = Widgets.row(
      title: translated("Your Choices"), text: translated("Permissions, preferences and blocks for this app"))
    let button = Kept(gtk_button_new_with_label(translated("Take Back All")))
    gtk_widget_set_valign(button.widget, GTK_ALIGN_CENTER)
    button.on("clicked") { [weak self] in self?.changed(.forgetAll) }
    adw_action_row_add_suffix(row.cast(), button.widget)
    add(row)
    forget = button
  }

  private func updateChoices() {
    let wasUpdating = isUpdating
    isUpdating = true
    defer { isUpdating = wasUpdating }
    if let block { gtk_switch_set_active(block.opaque, entry.isBlocked ? 1 : 0) }
    if let forget { gtk_widget_set_sensitive(forget.widget, entry.hasChoices ? 1 : 0) }
  }
}

/// One claim of an app, and the choice about it.
private final class ClaimRow {
  let widget: Kept
  private let chosen: (AppEntry.Choice) -> Void
  private var claim: AppEntry.Claim
  private var isUpdating = false

  init(_ claim: AppEntry.Claim, chosen: @escaping (AppEntry.Choice) -> Void) {
    (self.claim, self.chosen) = (claim, chosen)
    widget = Widgets.choices(claim.title)
    ChoiceItems.name(widget, claim.title)
    update(claim)
    widget.on("notify::selected") { [weak self] in self?.select() }
  }

  func update(_ claim: AppEntry.Claim) {
    self.claim = claim
    isUpdating = true
    defer { isUpdating = false }
    adw_action_row_set_subtitle(widget.cast(), claim.reason)
    var words = [translated("No Choice"), translated("Prefer"), translated("Block")]
    if claim.choice == .allowed { words.append(translated("Allowed")) }
    if adw_combo_row_get_model(widget.cast()).map({ Int(g_list_model_get_n_items($0)) }) != words.count {
      let model = Widgets.strings(words)
      adw_combo_row_set_model(widget.cast(), model.opaque)
    }
    adw_combo_row_set_selected(widget.cast(), guint(claim.choice.rawValue))
  }

  private func select() {
    guard !isUpdating, let choice = AppEntry.Choice(rawValue: Int(adw_combo_row_get_selected(widget.cast()))),
      choice != claim.choice
    else { return }
    chosen(choice)
  }
}
