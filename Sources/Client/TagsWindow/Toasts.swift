import CGTK
import Notifications

/// Short messages at the lower edge of the window. A screen reader reads them out.
final class Toasts {
  private let overlay: Kept

  init(_ overlay: Kept) { self.overlay = overlay }

  /// `button` is a label and the action that it carries out. `ended` runs when the message goes, by itself or not.
  func show(_ text: String, button: (label: String, action: String)? = nil, ended: (() -> Void)? = nil) {
    let toast = Kept(adopting: adw_toast_new(Widgets.escaped(DisplayText(text).string)))
    if let button {
      adw_toast_set_button_label(toast.opaque, button.label)
      adw_toast_set_action_name(toast.opaque, button.action)
    }
    if let ended { toast.on("dismissed", ended) }
    adw_toast_overlay_add_toast(overlay.opaque, toast.added)
  }

  /// With a button that runs `pressed`.
  func show(_ text: String, button: String, pressed: @escaping () -> Void) {
    let toast = Kept(adopting: adw_toast_new(Widgets.escaped(DisplayText(text).string)))
    adw_toast_set_button_label(toast.opaque, button)
    toast.on("button-clicked", pressed)
    adw_toast_overlay_add_toast(overlay.opaque, toast.added)
  }
}
