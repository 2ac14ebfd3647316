#!/usr/bin/python3
"""Uses a program's window as a screen reader does, over AT-SPI.

Reads a command of JSON from each line of standard input, and answers it with a line of JSON. A command has the keys "do",
"name" (the accessible name; with "*" at its end, the beginning of it), "role" (optional) and "text". Each command but
"missing" waits until the widget is there and shown, at most 30 seconds.

  wait     the widget is there
  gone     it is not there, or not shown
  press    does its first action
  type     replaces its text
  focus    moves the keyboard to it
  read     answers with its name, and the text if it has one
  missing  answers with the focusable widgets that have no name of their own
"""

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

LIMIT = 30
PROGRAM = sys.argv[1]
EVENTS = [
    "object:children-changed", "object:state-changed", "object:property-change", "object:text-changed",
    "object:visible-data-changed", "window:activate", "window:create"]


def is_shown(node) -> bool:
    """GTK 4.8 does not report whether a widget is showing. A hidden one that was never shown has no size."""
    if not node.get_state_set().contains(Atspi.StateType.VISIBLE):
        return False
    component = node.get_component_iface()
    extents = component.get_extents(Atspi.CoordType.WINDOW) if component else None
    return extents is None or extents.width > 0 and extents.height > 0


def nodes(node, depth=0):
    """What a user can see, from the outside in."""
    try:
        if depth > 1 and not is_shown(node):
            return
        yield node
        for index in range(node.get_child_count()):
            child = node.get_child_at_index(index)
            if child is not None:
                yield from nodes(child, depth + 1)
    except GLib.Error:
        # It went away while it was looked at.
        return


def windows():
    desktop = Atspi.get_desktop(0)
    for index in range(desktop.get_child_count()):
        application = desktop.get_child_at_index(index)
        if application is not None and application.get_name() == PROGRAM:
            yield application


def matches(node, command) -> bool:
    try:
        name = node.get_name() or ""
        wanted = command["name"]
        if not (name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted):
            return False
        return "role" not in command or node.get_role_name() == command["role"]
    except GLib.Error:
        return False


def find(command):
    return next((node for window in windows() for node in nodes(window) if matches(node, command)), None)


def until(condition):
    """Waits for AT-SPI events until the condition has a result. Returns None after the limit."""
    result = condition()
    if result is not None:
        return result
    loop = GLib.MainLoop()
    found = []
    due = []

    def look():
        due.clear()
        result = condition()
        if result is not None:
            found.append(result)
            loop.quit()
        return False

    def event(_):
        # Many events come together.
        if not due:
            due.append(GLib.timeout_add(20, look))

    listener = Atspi.EventListener.new(event)
    for name in EVENTS:
        listener.register(name)
    # Something may have happened before the registration.
    GLib.idle_add(look)
    limit = GLib.timeout_add_seconds(LIMIT, loop.quit)
    loop.run()
    for name in EVENTS:
        listener.deregister(name)
    for source in due:
        GLib.source_remove(source)
    if found:
        GLib.source_remove(limit)
        return found[0]
    return None


def outline() -> list[str]:
    return [f"{node.get_role_name()}: {node.get_name()}" for window in windows() for node in nodes(window)]


def missing() -> list[str]:
    """A widget without a name has that of its class. What only scrolls needs none."""
    result = []
    for window in windows():
        for node in nodes(window):
            states = node.get_state_set()
            name = node.get_name() or ""
            if node.get_role_name() == "scroll pane" or not states.contains(Atspi.StateType.FOCUSABLE):
                continue
            if not name or name.startswith(("Gtk", "Adw")):
                parent = node.get_parent()
                result.append(f"{node.get_role_name()} {name} in {parent.get_name() if parent else ''}")
    return result


def answer(command) -> dict:
    action = command["do"]
    if action == "missing":
        return {"missing": missing()}
    if action == "gone":
        return {"ok": until(lambda: True if find(command) is None else None) is not None, "outline": outline()}
    node = until(lambda: find(command))
    if node is None:
        return {"ok": False, "outline": outline()}
    if action == "press":
        return {"ok": node.get_action_iface().do_action(0)}
    if action == "type":
        return {"ok": node.get_editable_text_iface().set_text_contents(command["text"])}
    if action == "focus":
        return {"ok": node.get_component_iface().grab_focus()}
    if action == "read":
        text = node.get_text_iface()
        return {"ok": True, "name": node.get_name(),
                "text": text.get_text(0, text.get_character_count()) if text else ""}
    return {"ok": True}


Atspi.init()
# The registry has answered.
Atspi.get_desktop(0).get_child_count()
print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
