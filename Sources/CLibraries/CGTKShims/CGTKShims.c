#include "CGTKShims.h"

#include <gtk/gtk.h>
#include <glib-unix.h>
#include <unistd.h>

/* A closure that also keeps the function that releases its box. */
typedef struct {
  GClosure closure;
  TagsInvoke invoke;
  TagsRelease release;
} Handler;

static void marshal(
  GClosure *closure, GValue *result, guint count, const GValue *values, gpointer hint, gpointer data
) {
  ((Handler *)closure)->invoke(closure->data, result, count, values);
}

static void release_box(gpointer box, GClosure *closure) { ((Handler *)closure)->release(box); }

unsigned long tags_connect(void *object, const char *signal, void *box, TagsInvoke invoke, TagsRelease release) {
  GClosure *closure = g_closure_new_simple(sizeof(Handler), box);
  ((Handler *)closure)->invoke = invoke;
  ((Handler *)closure)->release = release;
  g_closure_set_marshal(closure, marshal);
  g_closure_add_finalize_notifier(closure, box, release_box);
  return g_signal_connect_closure(object, signal, closure, FALSE);
}

/* libdispatch gives these to CFRunLoop. They are in no header. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

static gboolean drain(gint descriptor, GIOCondition condition, gpointer data) {
  uint64_t count;
  /* Unread, the descriptor stays ready, and the loop never waits. */
  if (read(descriptor, &count, sizeof count) < 0) count = 0;
  _dispatch_main_queue_callback_4CF(NULL);
  return G_SOURCE_CONTINUE;
}

unsigned tags_attach_main_queue(void) {
  return g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, drain, NULL);
}

void tags_set_accessible_name(void *widget, const char *name) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

void tags_set_accessible_description(void *widget, const char *description) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description, -1);
}

void tags_set_accessible_mistake(void *widget, const char *mistake) {
  gtk_accessible_update_state(
    GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_INVALID,
    mistake ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
  tags_set_accessible_description(widget, mistake ? mistake : "");
}
