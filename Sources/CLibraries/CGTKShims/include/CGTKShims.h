#ifndef CGTKSHIMS_H
#define CGTKSHIMS_H

#include <glib-object.h>

#pragma clang assume_nonnull begin

/* What Swift cannot call: macros, variadic functions, and the files of the window that the compiler embeds. */

/* Called with the values of a signal, of which the first is the object that sent it. `result` is NULL for a signal
   without a result. */
typedef void (*TagsInvoke)(void *box, GValue *_Nullable result, unsigned count, const GValue *values);
typedef void (*TagsRelease)(void *box);

/* Connects a handler of any signature: GObject checks the type of each value, which a C function pointer does not. `box`
   is released when the object ends, or when the handler is disconnected. */
unsigned long tags_connect(void *object, const char *signal, void *box, TagsInvoke invoke, TagsRelease release);

/* Runs Swift's main actor on GLib's main loop. Call once, on the main thread. */
unsigned tags_attach_main_queue(void);

/* The name of a widget for assistive technology. `widget` is a GtkWidget. */
void tags_set_accessible_name(void *widget, const char *name);

/* What assistive technology says after the name. */
void tags_set_accessible_description(void *widget, const char *description);

/* What is wrong in an entry; NULL if nothing is. */
void tags_set_accessible_mistake(void *widget, const char *_Nullable mistake);

/* The file of Sources/Client/TagsWindow/UI with this name; NULL if there is none. `length` is in bytes. */
const char *_Nullable tags_file(const char *name, size_t *length);

#pragma clang assume_nonnull end

#endif
