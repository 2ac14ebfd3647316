/* Prints the link and the records that it is opened with, like handler.swift.
   cc -o handler handler.c $(pkg-config --cflags --libs gio-2.0) */
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

static const char description[] =
    "<node><interface name='org.tagroute.Handler1'><method name='HandleTag'>"
    "<arg name='uri' type='s'/><arg name='message' type='ay'/><arg name='platform_data' type='a{sv}'/>"
    "</method></interface></node>";

static void print_text(const guint8 *bytes, gsize count) {
  for (gsize i = 0; i < count; i++) putchar(g_ascii_isprint(bytes[i]) ? bytes[i] : '.');
}

/* A record (NDEF 1.0, section 3.2) is header, lengths, type, id, payload. FALSE if the message ends within one. */
static gboolean print_records(const guint8 *at, gsize left) {
  for (int number = 1; left > 0; number++) {
    gsize fixed = 3 + (at[0] & 0x10 ? 0 : 3) + (at[0] & 0x08 ? 1 : 0);
    if (left < fixed) return FALSE;
    gsize type = at[1], id = at[0] & 0x08 ? at[fixed - 1] : 0;
    gsize payload = at[0] & 0x10 ? at[2] : (gsize)at[2] << 24 | at[3] << 16 | at[4] << 8 | at[5];
    if (left - fixed < type + id || left - fixed - type - id < payload) return FALSE;
    printf("record %d: %d ", number, at[0] & 0x07);
    print_text(at + fixed, type);
    printf(": ");
    print_text(at + fixed + type + id, payload);
    printf("\n");
    at += fixed + type + id + payload;
    left -= fixed + type + id + payload;
  }
  return TRUE;
}

/* The UID and the technology, if the tag has a UID. */
static void print_tag(GVariant *data) {
  g_autoptr(GVariant) uid = g_variant_lookup_value(data, "uid", G_VARIANT_TYPE_BYTESTRING);
  g_autoptr(GVariant) technology = g_variant_lookup_value(data, "technology", G_VARIANT_TYPE_STRING);
  gsize count = 0;
  const guint8 *bytes = uid ? g_variant_get_fixed_array(uid, &count, 1) : NULL;
  if (count == 0) return;
  for (gsize i = 0; i < count; i++) printf("%s%02X", i ? "-" : "tag: ", bytes[i]);
  const char *name = technology ? g_variant_get_string(technology, NULL) : "";
  printf(" ");
  print_text((const guint8 *)name, strlen(name));
  printf("\n");
}

static void called(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *method,
                   GVariant *arguments, GDBusMethodInvocation *call, gpointer data) {
  const char *uri;
  gsize count;
  g_autoptr(GVariant) message = g_variant_get_child_value(arguments, 1);
  const guint8 *bytes = g_variant_get_fixed_array(message, &count, 1);
  g_variant_get_child(arguments, 0, "&s", &uri);
  printf("link: ");
  print_text((const guint8 *)uri, strlen(uri));
  printf("\n");
  g_autoptr(GVariant) platform_data = g_variant_get_child_value(arguments, 2);
  print_tag(platform_data);
  gboolean is_whole = print_records(bytes, count);
  fflush(stdout);
  if (is_whole) g_dbus_method_invocation_return_value(call, NULL); /* The hand-over is complete. */
  else g_dbus_method_invocation_return_dbus_error(call, "org.example.Error.Failed", "the message ends within a record");
}

static const GDBusInterfaceVTable handler = {.method_call = called};
int main(void) {
  g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
  if (!bus) return 1;
  GDBusInterfaceInfo *interface = g_dbus_node_info_new_for_xml(description, NULL)->interfaces[0];
  g_dbus_connection_register_object(bus, "/org/example/CHandler", interface, &handler, NULL, NULL, NULL);
  g_bus_own_name_on_connection(bus, "org.example.CHandler", G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, NULL, NULL, NULL, NULL);
  g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
