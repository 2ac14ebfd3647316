#include <curl/curl.h>

/* libcurl, loaded when it is first used. Call curl_global_init first. If that fails, call nothing else.

   A program that is linked with libcurl loads thirty more libraries at each start. That was a third of the time of most
   commands of tagroute. CCurl.c defines the functions of curl.h that our code calls. Other functions do not link. */

/* curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call: one function a type of argument. */

CURLcode tagroute_curl_set_long(CURL *handle, CURLoption option, long value);

/* libcurl copies the text. */
CURLcode tagroute_curl_set_text(CURL *handle, CURLoption option, const char *value);

CURLcode tagroute_curl_set_pointer(CURL *handle, CURLoption option, void *value);

/* libcurl does not copy the list. */
CURLcode tagroute_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);

CURLcode tagroute_curl_set_receiver(CURL *handle, CURLoption option, curl_write_callback value);

CURLcode tagroute_curl_set_socket_opener(CURL *handle, curl_opensocket_callback value);

/* -1 without a connection. */
curl_socket_t tagroute_curl_active_socket(CURL *handle);

/* The errno of a failed connect; 0 if there is none. */
long tagroute_curl_os_error(CURL *handle);

CURLcode tagroute_curl_response_code(CURL *handle, long *code);
