"""Runs Home Assistant's core with its MQTT, tag and automation integrations, and prints what happens there as JSON.

Usage: home-assistant.py FOLDER BROKER-PORT TAG-ID

FOLDER is the configuration folder. The first run sets it up as a person would: it adds the MQTT integration with the
steps of its dialog. Later runs are restarts of the same Home Assistant. An automation waits for TAG-ID.

Each line on standard output is one object, and "event" is one of these:

    started        Home Assistant has started
    device         a device was added, changed or removed
    state          the state of a binary sensor has changed
    tag_scanned    Home Assistant's own event
    automation     the automation has run

A line on standard input stops Home Assistant properly.

The whole program would also install packages and need a web page. So this sets up only these integrations, with Home
Assistant's own functions. Its MQTT integration prints an error about cameras, because a library for pictures is
missing.
"""

import asyncio
import json
import socket
import sys

from homeassistant import bootstrap, config_entries, core, data_entry_flow, loader
from homeassistant.components import mqtt
from homeassistant.config import async_hass_config_yaml, async_process_ha_core_config
from homeassistant.const import EVENT_STATE_CHANGED, __version__
from homeassistant.helpers import device_registry
from homeassistant.setup import async_setup_component

AUTOMATION = "tagroute_automation"


def say(what, **values):
    print(json.dumps({"event": what, **values}), flush=True)


def configuration(tag):
    # The MQTT integration needs the web server, which cannot let the kernel choose a port.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    trigger = {"platform": "tag", "tag_id": tag}
    action = {"event": AUTOMATION, "event_data": {"tag_id": "{{ trigger.event.data.tag_id }}"}}
    return {
        "http": {"server_host": ["127.0.0.1"], "server_port": port},
        "automation": [{"id": "tagroute", "alias": "tagroute", "trigger": trigger, "action": action}],
        "tag": {},
    }


def watch(hass):
    def device_changed(event):
        if event.data["action"] == "remove":
            return say("device", action="remove", id=event.data["device_id"])
        device = device_registry.async_get(hass).async_get(event.data["device_id"])
        say("device", action=event.data["action"], id=device.id, name=device.name,
            identifiers=sorted(list(pair) for pair in device.identifiers))

    def state_changed(event):
        state = event.data["new_state"]
        if event.data["entity_id"].startswith("binary_sensor."):
            say("state", entity=event.data["entity_id"], state=state and state.state,
                device_class=state and state.attributes.get("device_class"))

    listeners = {
        "tag_scanned": lambda event: say("tag_scanned", **event.data),
        AUTOMATION: lambda event: say("automation", **event.data),
        device_registry.EVENT_DEVICE_REGISTRY_UPDATED: device_changed,
        EVENT_STATE_CHANGED: state_changed,
    }
    for name, listener in listeners.items():
        # Without this, Home Assistant calls it in a thread of its own, and lines get mixed up.
        hass.bus.async_listen(name, core.callback(listener))


async def add_broker(hass, port):
    """Adds the MQTT integration, with the same steps as its dialog."""
    flow = hass.config_entries.flow
    form = await flow.async_init(mqtt.DOMAIN, context={"source": config_entries.SOURCE_USER})
    result = await flow.async_configure(form["flow_id"], {"broker": "127.0.0.1", "port": port})
    if result["type"] != data_entry_flow.FlowResultType.CREATE_ENTRY:
        raise SystemExit(f"Home Assistant has not accepted the broker: {result.get('errors')}")


async def line_of_input():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.readline()


async def run(folder, port, tag):
    hass = core.HomeAssistant(folder)
    hass.config.skip_pip = True
    loader.async_setup(hass)
    with open(hass.config.path("configuration.yaml"), "w", encoding="utf-8") as file:
        json.dump(configuration(tag), file)  # YAML includes JSON.
    config = await async_hass_config_yaml(hass)
    hass.config_entries = config_entries.ConfigEntries(hass, config)
    await bootstrap.async_load_base_functionality(hass)
    await async_process_ha_core_config(hass, {})
    watch(hass)
    for name in ["homeassistant", "http", "tag", "automation", mqtt.DOMAIN]:
        if not await async_setup_component(hass, name, config):
            raise SystemExit(f"Home Assistant cannot set up {name}")
    if not hass.config_entries.async_entries(mqtt.DOMAIN):
        await add_broker(hass, port)
    await hass.async_start()
    say("started", version=__version__)
    await line_of_input()
    await hass.async_stop()


asyncio.run(run(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
