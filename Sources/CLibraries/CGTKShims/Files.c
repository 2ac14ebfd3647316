#include "CGTKShims.h"

#include <string.h>

/* The compiler embeds these files, so the program needs none of them at run time. #embed is C23, and this compiler has
   it in every mode. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char window_ui[] = {
#embed "../../Client/TagsWindow/UI/window.ui"
};
static const char tags_ui[] = {
#embed "../../Client/TagsWindow/UI/tags.ui"
};
static const char first_run_ui[] = {
#embed "../../Client/TagsWindow/UI/first-run.ui"
};
static const char preferences_ui[] = {
#embed "../../Client/TagsWindow/UI/preferences.ui"
};
static const char reader_ui[] = {
#embed "../../Client/TagsWindow/UI/reader.ui"
};
static const char write_ui[] = {
#embed "../../Client/TagsWindow/UI/write.ui"
};
static const char apps_ui[] = {
#embed "../../Client/TagsWindow/UI/apps.ui"
};
static const char rule_ui[] = {
#embed "../../Client/TagsWindow/UI/rule.ui"
};
static const char picker_ui[] = {
#embed "../../Client/TagsWindow/UI/picker.ui"
};
static const char shortcuts_ui[] = {
#embed "../../Client/TagsWindow/UI/shortcuts.ui"
};
static const char style_css[] = {
#embed "../../Client/TagsWindow/UI/style.css"
};

static const struct {
  const char *name;
  const char *bytes;
  size_t length;
} files[] = {
  {"window.ui", window_ui, sizeof window_ui},
  {"tags.ui", tags_ui, sizeof tags_ui},
  {"first-run.ui", first_run_ui, sizeof first_run_ui},
  {"preferences.ui", preferences_ui, sizeof preferences_ui},
  {"reader.ui", reader_ui, sizeof reader_ui},
  {"write.ui", write_ui, sizeof write_ui},
  {"apps.ui", apps_ui, sizeof apps_ui},
  {"rule.ui", rule_ui, sizeof rule_ui},
  {"picker.ui", picker_ui, sizeof picker_ui},
  {"shortcuts.ui", shortcuts_ui, sizeof shortcuts_ui},
  {"style.css", style_css, sizeof style_css},
};

const char *tags_file(const char *name, size_t *length) {
  for (size_t index = 0; index < sizeof files / sizeof files[0]; index++) {
    if (strcmp(files[index].name, name) != 0) continue;
    *length = files[index].length;
    return files[index].bytes;
  }
  return NULL;
}
