/* Hidden, so that libcurl's own calls of these functions do not come here. */
#pragma GCC visibility push(hidden)
#include "CCurl.h"
#pragma GCC visibility pop

#include <dlfcn.h>
#include <pthread.h>

/* The macros of curl.h would check types at the calls through pointers, too. */
#undef curl_easy_getinfo
#undef curl_easy_setopt

#define FUNCTIONS(EACH)                                                                                                \
  EACH(curl_easy_cleanup)                                                                                              \
  EACH(curl_easy_getinfo)                                                                                              \
  EACH(curl_easy_header)                                                                                               \
  EACH(curl_easy_init)                                                                                                 \
  EACH(curl_easy_perform)                                                                                              \
  EACH(curl_easy_recv)                                                                                                 \
  EACH(curl_easy_send)                                                                                                 \
  EACH(curl_easy_setopt)                                                                                               \
  EACH(curl_easy_strerror)                                                                                             \
  EACH(curl_global_init)                                                                                               \
  EACH(curl_slist_append)                                                                                              \
  EACH(curl_slist_free_all)

static struct {
#define POINTER(name) __typeof__(&name) name;
  FUNCTIONS(POINTER)
} library;
static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *file = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  is_loaded = file != NULL;
#define FIND(name) is_loaded = is_loaded && (library.name = (__typeof__(&name))dlsym(file, #name));
  FUNCTIONS(FIND)
}

CURLcode curl_global_init(long flags) {
  pthread_once(&once, load);
  return is_loaded ? library.curl_global_init(flags) : CURLE_FAILED_INIT;
}

CURL *curl_easy_init(void) { return library.curl_easy_init(); }

void curl_easy_cleanup(CURL *handle) { library.curl_easy_cleanup(handle); }

CURLcode curl_easy_perform(CURL *handle) { return library.curl_easy_perform(handle); }

CURLcode curl_easy_recv(CURL *handle, void *buffer, size_t room, size_t *count) {
  return library.curl_easy_recv(handle, buffer, room, count);
}

CURLcode curl_easy_send(CURL *handle, const void *bytes, size_t size, size_t *count) {
  return library.curl_easy_send(handle, bytes, size, count);
}

CURLHcode curl_easy_header(
    CURL *handle, const char *name, size_t index, unsigned int origin, int request, struct curl_header **header) {
  return library.curl_easy_header(handle, name, index, origin, request, header);
}

const char *curl_easy_strerror(CURLcode code) { return library.curl_easy_strerror(code); }

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text) {
  return library.curl_slist_append(list, text);
}

void curl_slist_free_all(struct curl_slist *list) { library.curl_slist_free_all(list); }

CURLcode tagroute_curl_set_long(CURL *handle, CURLoption option, long value) {
  return library.curl_easy_setopt(handle, option, value);
}

CURLcode tagroute_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return library.curl_easy_setopt(handle, option, value);
}

CURLcode tagroute_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return library.curl_easy_setopt(handle, option, value);
}

CURLcode tagroute_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return library.curl_easy_setopt(handle, option, value);
}

CURLcode tagroute_curl_set_receiver(CURL *handle, CURLoption option, curl_write_callback value) {
  return library.curl_easy_setopt(handle, option, value);
}

CURLcode tagroute_curl_set_socket_opener(CURL *handle, curl_opensocket_callback value) {
  return library.curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

curl_socket_t tagroute_curl_active_socket(CURL *handle) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return library.curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}

long tagroute_curl_os_error(CURL *handle) {
  long number = 0;
  return library.curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK ? number : 0;
}

CURLcode tagroute_curl_response_code(CURL *handle, long *code) {
  return library.curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, code);
}
