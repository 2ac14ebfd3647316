"""Subscribes to all topics with paho and MQTT 5. Prints each message: topic, QoS, retained, expiry and payload, between tabs.

Usage: paho-subscriber.py PORT
"""
import sys

import paho.mqtt.client as mqtt


def received(client, data, message):
    expiry = getattr(message.properties, "MessageExpiryInterval", "-")
    words = [message.topic, message.qos, int(message.retain), expiry, message.payload.decode()]
    print("\t".join(map(str, words)), flush=True)


client = mqtt.Client(protocol=mqtt.MQTTv5)
client.on_connect = lambda client, *_: client.subscribe("#", qos=1)
client.on_subscribe = lambda *_: print("subscribed", flush=True)
client.on_message = received
client.connect("127.0.0.1", int(sys.argv[1]))
client.loop_forever()
