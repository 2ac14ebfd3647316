/// Tags, rules and what has to happen.
struct DecisionRow: Sendable, CustomTestStringConvertible {
  /// Words such as `uid=04A2195A`, `uri=…`, `text=…`, `mime=…`, `ext=…`, `tech=…` and `reader=…`. `_` is a space.
  let tag: String
  /// `NAME | KEY=VALUE | …`, with `!` before the name if the rule is the administrator's.
  let rules: [String]
  /// The rule's name and action, or the decision without rules.
  let expected: String

  init(_ tag: String, _ rules: [String], _ expected: String) {
    (self.tag, self.rules, self.expected) = (tag, rules, expected)
  }

  var testDescription: String { "\(tag) \(rules)" }
}

import Testing

/// `menu.desktop` claims menu.example.com, and `dial.desktop` claims tel:. `web.desktop` is the default for https, and
/// `player.desktop` is installed. The user has blocked `blocked.desktop`. `cards.desktop` declares text/vcard and
/// example.com:coupon, and `viewer.desktop` is the default for image/png and, in vain, for text/html.
let decisionTable: [DecisionRow] = [
  // UIDs
  .init("uid=04A2195A", ["a | UID=04-A2-19-5A | Ignore=yes"], "a ignore"),
  .init("uid=04A2195A", ["a | UID=04:a2:19:5a | Ignore=yes"], "a ignore"),
  .init("uid=04A2195A", ["a | UID=04a2195a | Ignore=yes"], "a ignore"),
  .init("uid=04A2195B", ["a | UID=04-A2-19-5A | Ignore=yes"], "none"),
  .init("uid=04A2195A00", ["a | UID=04-A2-19-5A | Ignore=yes"], "none"),
  .init("uid=04A219", ["a | UID=04-A2-19-5A | Ignore=yes"], "none"),
  .init("uid=04112233445566", ["a | UID=04-11-22-33-44-55-66 | Run=mpc;play"], "a run mpc play"),
  .init("uid=0102030405060708090A", ["a | UID=0102030405060708090A | Run=mpc"], "a run mpc"),
  .init("uri=https://menu.example.com/1", ["a | UID=04-A2-19-5A | Ignore=yes"], "universal-link menu.desktop"),
  // Exact links
  .init("uri=https://menu.example.com/1", ["a | Link=https://menu.example.com/1 | Ignore=yes"], "a ignore"),
  .init("uri=https://menu.example.com/1", ["a | Link=HTTPS://MENU.example.com/1 | Ignore=yes"], "a ignore"),
  .init(
    "uri=https://menu.example.com/2", ["a | Link=https://menu.example.com/1 | Ignore=yes"],
    "universal-link menu.desktop"),
  .init(
    "uri=https://menu.example.com/1?x", ["a | Link=https://menu.example.com/1 | Ignore=yes"],
    "universal-link menu.desktop"),
  .init("uri=https://menu.example.com/?a=1", ["a | Link=https://menu.example.com/?a=1 | Ignore=yes"], "a ignore"),
  .init(
    "uri=https://menu.example.com/xa=1", ["a | Link=https://menu.example.com/?a=1 | Ignore=yes"],
    "universal-link menu.desktop"),
  .init(
    "uri=http://menu.example.com/1", ["a | Link=https://menu.example.com/1 | Ignore=yes"], "universal-link menu.desktop"
  ),
  // Patterns
  .init("uri=https://shop.example.com/a/b", ["a | Link=https://shop.example.com/* | Show=yes"], "a show"),
  .init("uri=https://shop.example.com/a?q=1#f", ["a | Link=https://shop.example.com/* | Show=yes"], "a show"),
  .init("uri=https://shop.example.com", ["a | Link=https://shop.example.com/* | Show=yes"], "a show"),
  .init("uri=https://x.shop.example.com/", ["a | Link=https://*.shop.example.com/* | Show=yes"], "a show"),
  .init("uri=https://shop.example.com/", ["a | Link=https://*.shop.example.com/* | Show=yes"], "default web.desktop"),
  .init(
    "uri=https://shop.example.com.evil.example/", ["a | Link=https://shop.example.com/* | Show=yes"],
    "default web.desktop"),
  .init(
    "uri=https://evil.example/x.shop.example.com/", ["a | Link=https://*.shop.example.com/* | Show=yes"],
    "default web.desktop"),
  .init(
    "uri=https://shop.example.com:8443/a", ["a | Link=https://shop.example.com/* | Show=yes"], "default web.desktop"),
  .init(
    "uri=https://shop.example.com/a/../b", ["a | Link=https://shop.example.com/a/* | Show=yes"], "default web.desktop"),
  .init("uri=https://shop.example.com/a?id=7", ["a | Link=https://shop.example.com/a?id=* | Show=yes"], "a show"),
  .init(
    "uri=https://shop.example.com/a?ix=7", ["a | Link=https://shop.example.com/a?id=* | Show=yes"],
    "default web.desktop"),
  .init("uri=https://shop.example.com/a#b", ["a | Link=https://shop.example.com/*#b | Show=yes"], "a show"),
  .init(
    "uri=https://shop.example.com/a#c", ["a | Link=https://shop.example.com/*#b | Show=yes"], "default web.desktop"),
  .init("uri=https://shop.example.com/de/", ["a | Link=https://shop.example.com/$(lang)/ | Show=yes"], "a show"),
  .init("uri=tel:+15550100", ["a | Link=tel:+1* | Show=yes"], "a show"),
  .init("uri=tel:+495550100", ["a | Link=tel:+1* | Show=yes"], "scheme dial.desktop"),
  .init("uri=x-music://album/7", ["a | Link=x-music://album/* | Show=yes"], "a show"),
  .init("uri=x-music://song/7", ["a | Link=x-music://album/* | Show=yes"], "none"),
  // Records
  .init("mime=text/vcard", ["a | MimeType=text/vcard | Run=x"], "a run x"),
  .init("mime=TEXT/vCard;charset=utf-8", ["a | MimeType=text/vcard | Run=x"], "a run x"),
  .init("mime=image/png", ["a | MimeType=image/* | Run=x"], "a run x"),
  .init("mime=imagex/png", ["a | MimeType=image/* | Run=x"], "none"),
  .init("mime=image/*", ["a | MimeType=image/png | Run=x"], "none"),
  .init("uri=https://a.example/ mime=text/vcard", ["a | MimeType=text/vcard | Run=x"], "a run x"),
  .init("ext=example.com:ticket", ["a | ExternalType=Example.com:Ticket | Run=x"], "a run x"),
  .init("ext=example.com:other", ["a | ExternalType=example.com:ticket | Run=x"], "none"),
  .init("mime=example.com:ticket", ["a | ExternalType=example.com:ticket | Run=x"], "none"),
  .init("text=Good_morning", ["a | Text=Good morning | Run=x"], "a run x"),
  .init("text=good_morning", ["a | Text=Good morning | Run=x"], "none"),
  .init("text=Good_morning text=play", ["a | Text=play | Run=x"], "a run x"),
  // Composed and decomposed letters are different texts.
  .init("text=e\u{301}", ["a | Text=\u{E9} | Run=x"], "none"),
  // Technology and reader
  .init("tech=type-2", ["a | Technology=type-2 | Run=x"], "a run x"),
  .init("tech=type-4a", ["a | Technology=type-2 | Run=x"], "none"),
  .init("reader=/org/tagroute/Tagroute1/readers/3", ["a | Reader=3 | Run=x"], "a run x"),
  .init(
    "reader=/org/tagroute/Tagroute1/readers/3", ["a | Reader=/org/tagroute/Tagroute1/readers/3 | Run=x"], "a run x"),
  .init("reader=/org/tagroute/Tagroute1/readers/13", ["a | Reader=3 | Run=x"], "none"),
  // Several conditions, several rules
  .init("uid=04A2195A text=a", ["a | UID=04-A2-19-5A | Text=a | Run=x"], "a run x"),
  .init("uid=04A2195A text=b", ["a | UID=04-A2-19-5A | Text=a | Run=x"], "none"),
  .init("uid=04A2195A", ["a | Technology=type-2 | Run=x", "b | UID=04-A2-19-5A | Run=y"], "b run y"),
  .init("uid=04A2195A", ["a | UID=04-A2-19-5A | Run=x", "b | UID=04-A2-19-5A | Run=y"], "a run x"),
  .init("uid=04A2195A", ["!a | UID=04-A2-19-5A | Run=x", "b | UID=04-A2-19-5A | Run=y"], "b run y"),
  .init("uid=04A2195A", ["!a | UID=04-A2-19-5A | Run=x", "b | Text=z | Run=y"], "a run x"),
  // A broken rule does not match, and does not stop the next one.
  .init("uid=04A2195A", ["a | UID=04-A2 | Run=x", "b | UID=04-A2-19-5A | Run=y"], "b run y"),
  .init("uid=04A2195A", ["a | UID=04-A2-19-5A | Txet=x | Run=x"], "none"),
  // Apps
  .init("uri=https://a.example/", ["a | Link=https://a.example/ | Open=menu"], "a open menu.desktop message"),
  .init("uri=https://a.example/", ["a | Link=https://a.example/ | Open=player.desktop"], "a open player.desktop link"),
  .init("uri=https://a.example/", ["a | Link=https://a.example/ | Open=web.desktop"], "a open web.desktop link"),
  .init(
    "uri=https://menu.example.com/", ["a | Link=https://menu.example.com/ | Open=default"], "a open web.desktop link"),
  .init("uri=https://a.example/", ["a | Link=https://a.example/ | Open=unknown"], "a open nothing"),
  .init("uri=https://a.example/", ["a | Link=https://a.example/ | Open=blocked"], "a open nothing"),
  .init("uri=x-music:1", ["a | Link=x-music:1 | Open=default"], "a open nothing"),
  .init("uid=04A2195A text=a", ["a | UID=04-A2-19-5A | Open=menu"], "a open nothing"),
  // Links that are never opened
  .init("uid=04A2195A uri=javascript:x", ["a | UID=04-A2-19-5A | Open=menu"], "refused"),
  .init("uid=04A2195A uri=javascript:x", ["a | UID=04-A2-19-5A | Show=yes"], "refused"),
  .init("uid=04A2195A uri=javascript:x", ["a | UID=04-A2-19-5A | Run=x"], "a run x"),
  .init("uid=04A2195A uri=javascript:x", ["a | UID=04-A2-19-5A | Ignore=yes"], "a ignore"),
  // Records without a link
  .init("mime=text/vcard", [], "record cards.desktop"),
  .init("mime=text/x-vCard;charset=utf-8", [], "record cards.desktop"),
  .init("text=a mime=text/vcard", [], "record cards.desktop"),
  .init("ext=Example.com:Coupon", [], "record cards.desktop"),
  .init("ext=android.com:pkg ext=example.com:coupon", [], "record cards.desktop"),
  .init("ext=android.com:pkg", [], "none"),
  .init("mime=image/png", [], "record-default viewer.desktop"),
  .init("mime=image/png mime=text/vcard", [], "record-default viewer.desktop"),
  .init("mime=image/gif mime=text/vcard", [], "none"),
  .init("mime=text/html", [], "none"),
  .init("mime=text/vcard uri=https://menu.example.com/", [], "universal-link menu.desktop"),
  .init("mime=text/vcard uri=x-unclaimed:a", [], "none"),
  .init("mime=text/vcard uri=javascript:a", [], "refused"),
  .init("mime=text/vcard", ["a | MimeType=text/vcard | Ignore=yes"], "a ignore"),
  .init("mime=text/vcard", ["a | MimeType=text/vcard | Open=player.desktop"], "a open player.desktop file"),
  .init("mime=text/vcard", ["a | MimeType=text/vcard | Open=menu"], "a open menu.desktop message"),
  .init("mime=image/png", ["a | MimeType=image/* | Open=default"], "a open viewer.desktop file"),
  .init("mime=text/vcard", ["a | MimeType=text/vcard | Open=default"], "a open nothing"),
  .init("mime=text/html", ["a | MimeType=text/html | Open=player.desktop"], "a open nothing"),
  .init("ext=example.com:a", ["a | ExternalType=example.com:a | Open=player.desktop"], "a open nothing"),
]
