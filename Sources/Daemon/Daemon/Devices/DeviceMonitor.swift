import CUdev
package import EventLoop
import Glibc

/// Reports, from udev's messages, which devices are present, and each device that is plugged in, changes or is removed.
///
/// It sleeps between events. The loop owns it and calls its handler.
package actor DeviceMonitor {
  /// The loop that owns this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The number of events that are handled before other work on the loop may run.
  private static let mostAtOnce = 64

  private nonisolated let loop: EventLoop
  private let subsystems: [String]
  private let udev: Udev
  private let handler: @Sendable (DeviceEvent) -> Void
  private var watch: DescriptorWatch?

  /// Reports devices of these subsystems, such as `usb` or `tty`, on the loop after `start()`. Throws if the udev
  /// monitor cannot be opened.
  package init(
    subsystems: [String], on loop: EventLoop, handler: @escaping @Sendable (DeviceEvent) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.subsystems = subsystems
    self.handler = handler
    udev = try Udev(subsystems: subsystems)
  }

  /// Starts listening, and only then lists the present devices, so that none is missed in between. Throws if the udev
  /// monitor cannot be started.
  package func start() throws(SystemError) -> [Device] {
    let descriptor = try udev.listen()
    watch = try DescriptorWatch(descriptor, on: loop) { [weak self] in self?.assumeIsolated { $0.receive() } }
    return devices()
  }

  /// Stops listening. The handler is not called after this.
  package func stop() {
    watch?.cancel()
    watch = nil
  }

  /// The current state of the device with this `Device.path`; nil if it is not present.
  package func device(at path: String) -> Device? {
    guard let device = udev_device_new_from_syspath(udev.context, path) else { return nil }
    defer { udev_device_unref(device) }
    return Device(device, udev.context)
  }

  private func devices() -> [Device] {
    guard let enumeration = udev_enumerate_new(udev.context) else { return [] }
    defer { udev_enumerate_unref(enumeration) }
    for subsystem in subsystems { udev_enumerate_add_match_subsystem(enumeration, subsystem) }
    guard udev_enumerate_scan_devices(enumeration) >= 0 else { return [] }
    return Device.names(udev_enumerate_get_list_entry(enumeration)).compactMap { path in
      guard let device = udev_device_new_from_syspath(udev.context, path) else { return nil }
      defer { udev_device_unref(device) }
      // An interface is part of a device that is also in the list.
      return Device.owner(ofInterface: device) == nil ? Device(device, udev.context) : nil
    }
  }

  private func receive() {
    for _ in 0..<Self.mostAtOnce {
      errno = 0
      guard let device = udev_monitor_receive_device(udev.monitor) else {
        // The queue overflowed, so events are lost.
        if errno == ENOBUFS { handler(.present(devices())) }
        return
      }
      defer { udev_device_unref(device) }
      if let event = event(device) { handler(event) }
    }
  }

  private func event(_ device: OpaquePointer) -> DeviceEvent? {
    let action = Device.text(udev_device_get_action(device))
    if Device.text(udev_device_get_devtype(device)) == "usb_interface" {
      // The device sends its own message when it is added or removed. From an interface, only a driver that binds or
      // unbinds matters.
      guard action == "bind" || action == "unbind", let owner = Device.owner(ofInterface: device) else { return nil }
      return Device.text(udev_device_get_syspath(owner)).flatMap { self.device(at: $0) }.map { .changed($0) }
    }
    if action == "remove" { return Device.text(udev_device_get_syspath(device)).map { .removed(path: $0) } }
    return Device(device, udev.context).map { action == "add" ? .added($0) : .changed($0) }
  }
}

/// libudev's context and its monitor of udev's own messages, freed with this object.
private final class Udev {
  let context: OpaquePointer
  let monitor: OpaquePointer

  init(subsystems: [String]) throws(SystemError) {
    guard let context = udev_new() else { throw SystemError("open libudev") }
    // "udev": the messages that udev sends after its rules have run, not the earlier ones of the kernel.
    guard let monitor = udev_monitor_new_from_netlink(context, "udev") else {
      let error = SystemError("listen to udev")
      udev_unref(context)
      throw error
    }
    self.context = context
    self.monitor = monitor
    for subsystem in subsystems { udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil) }
  }

  /// Returns a descriptor that becomes ready when a message arrives.
  func listen() throws(SystemError) -> FileDescriptor {
    guard udev_monitor_enable_receiving(monitor) >= 0 else { throw SystemError("listen to udev") }
    // libudev closes its own descriptor, so return a duplicate.
    let copy = fcntl(udev_monitor_get_fd(monitor), F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError("listen to udev") }
    return FileDescriptor(owning: copy)
  }

  deinit {
    udev_monitor_unref(monitor)
    udev_unref(context)
  }
}
