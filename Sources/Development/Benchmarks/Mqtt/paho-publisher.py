"""Publishes messages with QoS 1 over one connection, and prints how long each took until its PUBACK, in microseconds.

Usage: paho-publisher.py PORT COUNT
"""
import sys
import time

import paho.mqtt.client

client = paho.mqtt.client.Client(client_id="paho", protocol=paho.mqtt.client.MQTTv5)
client.connect("127.0.0.1", int(sys.argv[1]))
client.loop_start()
while not client.is_connected():
    time.sleep(0.01)
for number in range(int(sys.argv[2])):
    start = time.monotonic()
    client.publish("peer/log", f'{{"tap_id": "{number}"}}', qos=1).wait_for_publish()
    print(round((time.monotonic() - start) * 1e6))
client.disconnect()
client.loop_stop()
