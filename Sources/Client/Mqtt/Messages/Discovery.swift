import Names

/// What Home Assistant needs to know, by its MQTT discovery.
enum Discovery {
  /// The descriptions of the tag scanner and of the connectivity sensor, without tokens.
  ///
  /// The scanner's schema ignores availability, so the sensor is a second entity of the same device.
  static func publications(_ settings: MessageSettings) -> [Publication] {
    let node = "tagroute_\(settings.station)"
    let device = JSONValue.record([
      "identifiers": .array([.string(node)]), "name": .string("Tagroute \(settings.station)"),
      "manufacturer": .string("Tagroute"), "model": .string("NFC station"), "sw_version": .string(Names.version),
    ])
    let tag = JSONValue.record([
      "topic": .string(settings.topics.tap), "value_template": .string("{{ value_json.tag_id }}"), "device": device,
    ])
    let sensor = JSONValue.record([
      "name": .string("Connection"), "unique_id": .string("\(node)_state"), "device_class": .string("connectivity"),
      "entity_category": .string("diagnostic"), "state_topic": .string(settings.topics.state),
      "payload_on": .string("online"), "payload_off": .string("offline"), "device": device,
    ])
    return [
      Publication(topic: "homeassistant/tag/\(node)/tag/config", payload: tag.bytes, isRetained: true),
      Publication(topic: "homeassistant/binary_sensor/\(node)/state/config", payload: sensor.bytes, isRetained: true),
    ]
  }
}
