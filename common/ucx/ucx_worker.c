/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "float_env.h"
#include "ucx_worker.h"

/* ---- the library ---- */

/*
 * UCX configures itself when it is loaded, from environment variables only, and changes the process
 * unless these say otherwise (docs/architecture.md).  Each is set unless the user has set it, and
 * removed again.  A process in which UCX is already loaded is left as it is; one that loads it
 * later finds it configured like this.
 */
static const struct {
    const char *name;
    const char *value;
} quiet[] = {
    {"UCX_HANDLE_ERRORS", "none"}, /* no handlers for SIGSEGV and its like */
    {"UCX_DEBUG_SIGNO", "0"},      /* nor for SIGHUP */
    {"UCX_MEM_EVENTS", "n"},       /* no patched memory functions */
    {"UCX_VFS_ENABLE", "n"},       /* no file system thread */
    {"UCX_LOG_LEVEL", "fatal"},    /* an attempt that fails is ours to report */
};

enum { QUIET = sizeof quiet / sizeof quiet[0] };

/* libucp, and with it libuct and libucs, in the quiet environment. */
static void *open_quietly(void)
{
    int set_by_us[QUIET] = {0};

    for (size_t variable = 0; variable < QUIET; ++variable) {
        if (NULL == getenv(quiet[variable].name)) {
            set_by_us[variable] = 0 == setenv(quiet[variable].name, quiet[variable].value, 0);
        }
    }
    void *handle = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
    for (size_t variable = 0; variable < QUIET; ++variable) {
        if (set_by_us[variable]) {
            (void) unsetenv(quiet[variable].name);
        }
    }
    return handle;
}

static int resolve_all(ucx_library_t *library)
{
#define X(_function)                                                                          \
    library->_function = (__typeof__(library->_function)) dlsym(library->handle, #_function); \
    if (NULL == library->_function) {                                                         \
        return 0;                                                                             \
    }
    UCX_FUNCTION_TABLE(X)
#undef X
    return 1;
}

arc_status_t ucx_library_open(ucx_library_t *library, const char **why)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ARC_IN_DEFAULT_FLOAT_ENV;

    memset(library, 0, sizeof *library);
    library->handle = open_quietly();
    if (NULL == library->handle) {
        *why = "UCX (libucp.so.0) cannot be loaded";
        return ARC_UNSUPPORTED;
    }
    if (!resolve_all(library)) {
        *why = "this UCX lacks functions that are needed";
        goto err_close;
    }
    library->ucp_get_version(&major, &minor, &release);
    if (UCX_MAJOR != major || minor < UCX_MINOR) {
        *why = "this UCX is older than 1.12, or newer than UCX 1";
        goto err_close;
    }
    return ARC_OK;

err_close:
    ucx_library_close(library);
    return ARC_UNSUPPORTED;
}

void ucx_library_close(ucx_library_t *library)
{
    if (NULL != library->handle) {
        (void) dlclose(library->handle);
        library->handle = NULL;
    }
}

/* ---- the worker ---- */

enum { CLOSE_TURNS = 1000000 }; /* of progress at most, for an endpoint to close */

/* Since 1.17 UCX knows the settings of a memory domain by names with the transport in front. */
#if UCP_API_VERSION < UCP_VERSION(1, 17)
#define DOMAIN_SETTING(_prefix, _name) _name
#else
#define DOMAIN_SETTING(_prefix, _name) _prefix _name
#endif

/* What UCX must do otherwise than by default, or than the user says. */
static const struct {
    ucx_reach_t reach;
    const char *name;
    const char *value;
} settings[] = {
    /* Memory that the network writes in the order of the puts: what a fence rests on
       (ucx_window.h). */
    {UCX_REACH_NETWORK, DOMAIN_SETTING("IB_", "PCI_RELAXED_ORDERING"), "n"},
    /*
     * Who does not answer while a connection is made is given up by us, earlier.  UCX 1.13 fails an
     * assertion when it gives up, and windows that were connected before may still drive the
     * worker.  UCX looks within the same limit whether a connected peer is there; our windows do
     * that, too.
     */
    {UCX_REACH_NETWORK, "UD_TIMEOUT", "1000000000s"},
    /*
     * A put of up to so many bytes is copied to memory that is registered already, and is one
     * message of the network.  By default UCX copies 8 KiB, and registers what is longer in the
     * call.
     */
    {UCX_REACH_NETWORK, "RC_SEG_SIZE", "16k"},
    {UCX_REACH_NETWORK, "ZCOPY_THRESH", "inf"},
    /*
     * Nobody sends our worker messages but to connect, so few buffers for them will do: with these
     * a process pins 6 MiB on soft-RoCE, by default 75.
     */
    {UCX_REACH_NETWORK, "RC_RX_QUEUE_LEN", "64"},
    {UCX_REACH_NETWORK, "RC_RX_BUFS_GROW", "64"},
    {UCX_REACH_NETWORK, "RC_TX_BUFS_GROW", "64"},
    {UCX_REACH_NETWORK, "UD_RX_QUEUE_LEN", "256"},
    {UCX_REACH_NETWORK, "UD_RX_BUFS_GROW", "128"},
    {UCX_REACH_NETWORK, "UD_TX_BUFS_GROW", "64"},
    /* Shared memory must see, too, that a peer is gone. */
    {UCX_REACH_MACHINE, "MM_ERROR_HANDLING", "y"},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

static arc_status_t open_context(ucx_worker_t *worker)
{
    const ucx_library_t *library = worker->library;
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_RMA};
    ucp_config_t *config = NULL;

    if (UCS_OK != library->ucp_config_read(NULL, NULL, &config)) {
        return ARC_UNSUPPORTED;
    }
    ucs_status_t status = library->ucp_config_modify(config, "TLS", worker->transports);
    for (unsigned i = 0; UCS_OK == status && i < SETTINGS; ++i) {
        if (worker->reach == settings[i].reach) {
            status = library->ucp_config_modify(config, settings[i].name, settings[i].value);
        }
    }
    if (UCS_OK == status) {
        status = library->ucp_init_version(UCX_MAJOR, UCX_MINOR, &params, config, &worker->context);
    }
    library->ucp_config_release(config);
    return UCS_OK == status ? ARC_OK : ARC_UNSUPPORTED;
}

static arc_status_t open_worker(ucx_worker_t *worker)
{
    const ucx_library_t *library = worker->library;
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};

    if (UCS_OK != library->ucp_worker_create(worker->context, &params, &worker->worker)) {
        return ARC_UNSUPPORTED;
    }
    if (UCS_OK != library->ucp_worker_query(worker->worker, &attr)) {
        library->ucp_worker_destroy(worker->worker);
        return ARC_UNSUPPORTED;
    }
    worker->address = attr.address;
    worker->address_bytes = attr.address_length;
    return ARC_OK;
}

arc_status_t ucx_worker_open(ucx_worker_t *worker, const ucx_library_t *library, ucx_reach_t reach,
                             bool locks)
{
    ARC_IN_DEFAULT_FLOAT_ENV;

    *worker = (ucx_worker_t){.library = library, .reach = reach, .locks = locks};
    /* What is given to ucp_config_modify() overrides the user's choice, so that is looked at first.
     */
    if (!ucx_transports(reach, getenv("UCX_TLS"), worker->transports)) {
        return ARC_UNSUPPORTED;
    }
    arc_status_t status = open_context(worker);
    if (ARC_OK != status) {
        return status;
    }
    status = open_worker(worker);
    if (ARC_OK != status) {
        library->ucp_cleanup(worker->context);
        return status;
    }
    (void) pthread_mutex_init(&worker->lock, NULL);
    return ARC_OK;
}

/* From ucp_worker_progress(): whoever drives the worker has the lock. */
static void lose_peer(void *context, ucp_ep_h ep, ucs_status_t status)
{
    ucx_peer_t *peer = context;
    (void) ep;
    (void) status;

    __atomic_store_n(&peer->lost, true, __ATOMIC_RELAXED);
    __atomic_store_n(&peer->worker->loses, true, __ATOMIC_RELEASE);
}

/* Without that mode a lost peer ends the process. */
static bool make_endpoint(ucx_worker_t *worker, const void *address, ucx_peer_t *peer)
{
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = lose_peer, .arg = peer},
    };

    return UCS_OK == worker->library->ucp_ep_create(worker->worker, &params, &peer->ep);
}

ucx_peer_t *ucx_worker_peer(ucx_worker_t *worker, const void *address, size_t address_bytes)
{
    ucx_peer_t *peer = worker->peers;

    while (NULL != peer && (peer->address_bytes != address_bytes ||
                            0 != memcmp(peer->address, address, address_bytes))) {
        peer = peer->next;
    }
    if (NULL != peer) {
        return peer;
    }
    peer = calloc(1, sizeof *peer + address_bytes);
    if (NULL == peer) {
        return NULL;
    }
    peer->worker = worker;
    if (!make_endpoint(worker, address, peer)) {
        free(peer);
        return NULL;
    }
    peer->address_bytes = address_bytes;
    memcpy(peer->address, address, address_bytes);
    peer->next = worker->peers;
    worker->peers = peer;
    return peer;
}

/* All puts are out, or their peers are gone; a while, then the worker is destroyed anyway. */
static void close_endpoint(ucx_worker_t *worker, ucp_ep_h ep)
{
    const ucx_library_t *library = worker->library;
    const ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t closing = library->ucp_ep_close_nbx(ep, &param);
    ucs_status_t status = UCS_INPROGRESS;

    if (NULL == closing || UCS_PTR_IS_ERR(closing)) {
        return;
    }
    for (unsigned turn = 0; turn < CLOSE_TURNS && UCS_INPROGRESS == status; ++turn) {
        (void) library->ucp_worker_progress(worker->worker);
        status = library->ucp_request_check_status(closing);
    }
    library->ucp_request_free(closing);
}

void ucx_worker_close(ucx_worker_t *worker)
{
    const ucx_library_t *library = worker->library;
    ARC_IN_DEFAULT_FLOAT_ENV;

    while (NULL != worker->peers) {
        ucx_peer_t *peer = worker->peers;
        worker->peers = peer->next;
        close_endpoint(worker, peer->ep);
        free(peer);
    }
    library->ucp_worker_release_address(worker->worker, worker->address);
    library->ucp_worker_destroy(worker->worker);
    library->ucp_cleanup(worker->context);
    (void) pthread_mutex_destroy(&worker->lock);
}

int ucx_worker_drive(ucx_worker_t *worker)
{
    int events = 0;
    ARC_IN_DEFAULT_FLOAT_ENV;

    /* Who holds the lock drives it, too. */
    if (!worker->locks || 0 == pthread_mutex_trylock(&worker->lock)) {
        events = (int) worker->library->ucp_worker_progress(worker->worker);
        ucx_worker_unlock(worker);
    }
    return events;
}
