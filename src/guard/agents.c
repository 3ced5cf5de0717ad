/* agents.c - agents, what they hold, and the signals that wait for them.
 *
 *     IDLE --begin--> RUNNING --pause_pipeline--> PAUSING --ack--> PAUSED --resume_pipeline-->
 * RUNNING ^                 |                           |                |
 *      +------end--------+---------------------------+----------------+
 *                                                    +--no ack--> the agent is gone
 *
 * One lock protects everything here. The guard is called under it, except for loci_guard_remove():
 * that waits for callbacks, and lc_agents_signal() is one that takes the lock. So what the guard
 * knows of a run has its own block (`run`), which is taken out under the lock and removed and freed
 * without it; no other thread can reach it then. For the same reason agents that are gone are taken
 * out of the list first and disposed of afterwards.
 *
 * A name in the guard is "agent/name#number". The number is new for each run and component, so
 * equal names of two tenants never meet, and a run can begin while the last one is being removed.
 *
 * Invariants: signals of an agent are in the order of their ids; of one family (pause and resume,
 * say) and name there is at most one, so a slow reader gets the state, not its history, and the
 * list is bounded.
 */
#include "guard/agents.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "guard/host.h"

#define ITEMS_MAX (LC_AGENT_PIPELINES_MAX + LC_AGENT_COMPONENTS_MAX)
/* One per item, and one of each family that is about all. */
#define SIGNALS_MAX (ITEMS_MAX + LC_AGENT_SIGNALS)
#define RETRY_MS 1000
#define TENANT_SHARE 4 /* The default quota is this part of the limit. */

/* The part of a pipeline that the guard knows. */
typedef struct run {
    char guard_name[LC_GUARD_NAME_BYTES_MAX + 1];
    _Atomic int64_t bytes; /* Read by the guard's thread without the lock. */
} run;

/* A component or a pipeline. */
typedef struct item {
    char name[LC_AGENT_ITEM_BYTES_MAX + 1];
    int64_t bytes;
    bool is_pipeline;
    char guard_name[LC_GUARD_NAME_BYTES_MAX + 1]; /* Of a component. */
    int32_t priority;                             /* Of a pipeline, like the rest. */
    loci_work work;
    lc_agent_state state;
    run *run; /* NULL when it is idle. */
} item;

typedef struct agent {
    struct agent *next;
    char tenant_id[LC_ID_BYTES_MAX + 1], owner_id[LC_ID_BYTES_MAX + 1];
    char name[LC_AGENT_NAME_BYTES_MAX + 1];
    int64_t seen_ms; /* Its last call. */
    item *items[ITEMS_MAX];
    size_t item_count;
    lc_agent_signal signals[SIGNALS_MAX];
    size_t signal_count;
    lc_agent_stream *stream; /* Or NULL. */
} agent;

struct lc_agent_stream {
    lc_agents *agents;
    agent *agent;    /* NULL when it is over. */
    const char *end; /* Why. */
    uint64_t sent_id;
    int fd;
};

struct lc_agents {
    lc_heap *heap;
    pthread_mutex_t lock;
    loci_guard *guard; /* NULL until it is attached. */
    agent *first;
    uint64_t sequence;   /* Of signals and names. */
    int64_t bytes;       /* Of all items. */
    int64_t begun_bytes; /* By runs since the last tick, which its reading does not show yet. */
    bool is_paused;
    int64_t gone_count, acknowledged_count, sent_count[LC_AGENT_SIGNALS];
};

const char *lc_agent_signal_name(lc_agent_signal_kind kind)
{
    static const char *const names[] = {
        [LC_AGENT_PRESSURE_CHANGED] = "memory_pressure_changed",
        [LC_AGENT_EVICT_CACHES] = "evict_caches",
        [LC_AGENT_COMPACT_CONTEXTS] = "compact_contexts",
        [LC_AGENT_PAUSE_PIPELINE] = "pause_pipeline",
        [LC_AGENT_RESUME_PIPELINE] = "resume_pipeline",
        [LC_AGENT_PAUSE_ALL] = "pause_all",
        [LC_AGENT_RESUME_ALL] = "resume_all",
    };

    return names[kind];
}

const char *lc_agent_state_name(lc_agent_state state)
{
    static const char *const names[] = {"idle", "running", "pausing", "paused"};

    return names[state];
}

static void lock(lc_agents *agents)
{
    (void)pthread_mutex_lock(&agents->lock);
}

static void unlock(lc_agents *agents)
{
    (void)pthread_mutex_unlock(&agents->lock);
}

/* Under the lock. */
static void set_bytes(lc_agents *agents, item *i, int64_t bytes)
{
    agents->bytes += bytes - i->bytes;
    i->bytes = bytes;
    if (i->run != NULL)
        atomic_store(&i->run->bytes, bytes);
    lc_guard_set_outside(agents->guard, agents->bytes);
}

/* ---- Agents: under the lock ------------------------------------------------------------------ */

static bool is_agent(const agent *a, const lc_agent_id *id)
{
    return lc_str_is(id->tenant_id, a->tenant_id) && lc_str_is(id->owner_id, a->owner_id) &&
           lc_str_is(id->name, a->name);
}

static agent *find_agent(const lc_agents *agents, const lc_agent_id *id)
{
    agent *a = agents->first;

    while (a != NULL && !is_agent(a, id))
        a = a->next;
    return a;
}

static void copy_text(char *out, loci_str text)
{
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

static loci_status check_id(const lc_agents *agents, const lc_agent_id *id, loci_error *err)
{
    size_t count = 0, of_tenant = 0;

    if (id->tenant_id.len > LC_ID_BYTES_MAX || id->owner_id.len > LC_ID_BYTES_MAX ||
        id->name.len > LC_AGENT_NAME_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "agent: its name has at most %d bytes, its tenant %d",
                       LC_AGENT_NAME_BYTES_MAX, LC_ID_BYTES_MAX);
    for (const agent *a = agents->first; a != NULL; a = a->next) {
        count++;
        of_tenant += lc_str_is(id->tenant_id, a->tenant_id);
    }
    if (count >= LC_AGENTS_MAX || of_tenant >= LC_AGENTS_PER_TENANT_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "agent %.*s: too many agents, the maximum is %d, and %d of one tenant; "
                       "release what ended",
                       LC_STR_ARG(id->name), LC_AGENTS_MAX, LC_AGENTS_PER_TENANT_MAX);
    return lc_usage_check_name(id->name, err);
}

/* Finds it or makes it. */
static loci_status load_agent(lc_agents *agents, const lc_agent_id *id, agent **out,
                              loci_error *err)
{
    agent *a = find_agent(agents, id);
    loci_status status = LOCI_OK;

    if (a == NULL)
        status = check_id(agents, id, err);
    if (status != LOCI_OK)
        return status;
    if (a == NULL) {
        a = lc_heap_zalloc(agents->heap, sizeof *a, LOCI_MEM_ENGINE);
        if (a == NULL)
            return lc_fail_memory(err);
        copy_text(a->tenant_id, id->tenant_id);
        copy_text(a->owner_id, id->owner_id);
        copy_text(a->name, id->name);
        a->next = agents->first;
        agents->first = a;
    }
    a->seen_ms = lc_guard_now_ms(agents->guard);
    *out = a;
    return LOCI_OK;
}

static void unlink_agent(lc_agents *agents, agent *a)
{
    agent **at = &agents->first;

    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    a->next = NULL;
}

/* Frees an agent that has nothing and does not listen. */
static void tidy(lc_agents *agents, agent *a)
{
    if (a->item_count > 0 || a->stream != NULL)
        return;
    unlink_agent(agents, a);
    lc_heap_free(agents->heap, a, sizeof *a, LOCI_MEM_ENGINE);
}

static void end_stream(lc_agent_stream *stream, const char *why)
{
    stream->agent = NULL;
    stream->end = why;
    (void)eventfd_write(stream->fd, 1); /* Fails only when full: it is readable. */
}

/* Takes an agent out of the list and puts it before `gone`; dispose() follows without the lock. */
static agent *give_up(lc_agents *agents, agent *a, agent *gone)
{
    unlink_agent(agents, a);
    agents->gone_count++;
    if (a->stream != NULL)
        end_stream(a->stream, "no_ack");
    for (size_t i = 0; i < a->item_count; i++) {
        set_bytes(agents, a->items[i], 0);
        if (!a->items[i]->is_pipeline) /* Does not wait; a component was reported once. */
            (void)loci_guard_release(agents->guard, a->items[i]->guard_name, NULL);
    }
    a->next = gone;
    return a;
}

/* Without the lock. NULL is fine. */
static void dispose_run(lc_agents *agents, run *r)
{
    if (r == NULL)
        return;
    (void)loci_guard_remove(agents->guard, r->guard_name, NULL); /* It was added once. */
    lc_heap_free(agents->heap, r, sizeof *r, LOCI_MEM_ENGINE);
}

/* Without the lock. */
static void dispose(lc_agents *agents, agent *gone)
{
    while (gone != NULL) {
        agent *next = gone->next;

        for (size_t i = 0; i < gone->item_count; i++) {
            dispose_run(agents, gone->items[i]->run);
            lc_heap_free(agents->heap, gone->items[i], sizeof(item), LOCI_MEM_ENGINE);
        }
        lc_heap_free(agents->heap, gone, sizeof *gone, LOCI_MEM_ENGINE);
        gone = next;
    }
}

/* ---- Items: under the lock ------------------------------------------------------------------- */

static item *find_item(const agent *a, loci_str name)
{
    for (size_t i = 0; a != NULL && i < a->item_count; i++) {
        if (lc_str_is(name, a->items[i]->name))
            return a->items[i];
    }
    return NULL;
}

static loci_status load_pipeline(const lc_agents *agents, const lc_agent_id *id, loci_str name,
                                 item **out, loci_error *err)
{
    item *i = find_item(find_agent(agents, id), name);

    if (i == NULL || !i->is_pipeline)
        return lc_fail(err, LOCI_ENOTFOUND,
                       "agent %.*s has no pipeline %.*s: register it with pipeline.register; one "
                       "whose agent did not acknowledge a signal is forgotten",
                       LC_STR_ARG(id->name), LC_STR_ARG(name));
    *out = i;
    return LOCI_OK;
}

static size_t count_items(const agent *a, bool is_pipeline)
{
    size_t count = 0;

    for (size_t i = 0; i < a->item_count; i++)
        count += a->items[i]->is_pipeline == is_pipeline;
    return count;
}

static loci_status add_item(lc_agents *agents, agent *a, loci_str name, bool is_pipeline,
                            item **out, loci_error *err)
{
    size_t max = is_pipeline ? LC_AGENT_PIPELINES_MAX : LC_AGENT_COMPONENTS_MAX;
    item *i;

    if (name.len > LC_AGENT_ITEM_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "name: %zu bytes, at most %d are allowed", name.len,
                       LC_AGENT_ITEM_BYTES_MAX);
    if (lc_usage_check_name(name, err) != LOCI_OK)
        return LOCI_EINVAL;
    if (count_items(a, is_pipeline) >= max)
        return lc_fail(err, LOCI_ELIMIT, "agent %s has %zu %s, the maximum", a->name, max,
                       is_pipeline ? "pipelines; end some with unregister"
                                   : "components; release some with guard.release");
    i = lc_heap_zalloc(agents->heap, sizeof *i, LOCI_MEM_ENGINE);
    if (i == NULL)
        return lc_fail_memory(err);
    copy_text(i->name, name);
    i->is_pipeline = is_pipeline;
    a->items[a->item_count++] = i;
    *out = i;
    return LOCI_OK;
}

static void remove_item(lc_agents *agents, agent *a, item *i)
{
    size_t at = 0;

    while (a->items[at] != i)
        at++;
    set_bytes(agents, i, 0);
    a->item_count--;
    memmove(&a->items[at], &a->items[at + 1], (a->item_count - at) * sizeof(item *));
    lc_heap_free(agents->heap, i, sizeof *i, LOCI_MEM_ENGINE);
}

/* Cannot be cut: 48 + 1 + 64 + 1 bytes, and 13 digits last for some centuries. */
static void make_name(lc_agents *agents, const agent *a, const item *i,
                      char out[LC_GUARD_NAME_BYTES_MAX + 1])
{
    (void)snprintf(out, LC_GUARD_NAME_BYTES_MAX + 1, "%s/%s#%llu", a->name, i->name,
                   (unsigned long long)++agents->sequence);
}

/* The item of a name in the guard, and its agent; NULL if it is not an agent's. */
static item *find_guarded(const lc_agents *agents, const char *guard_name, agent **out)
{
    for (agent *a = agents->first; a != NULL; a = a->next) {
        for (size_t i = 0; i < a->item_count; i++) {
            const item *at = a->items[i];
            const char *name = at->is_pipeline ? (at->run != NULL ? at->run->guard_name : "")
                                               : at->guard_name;

            if (strcmp(name, guard_name) == 0) {
                *out = a;
                return a->items[i];
            }
        }
    }
    return NULL;
}

static int64_t bytes_of(const agent *a)
{
    int64_t sum = 0;

    for (size_t i = 0; i < a->item_count; i++)
        sum += a->items[i]->bytes;
    return sum;
}

/* Whether the tenant may hold `more` bytes. Without a quota one tenant could bring the guard of all
 * to critical with a few words. */
static loci_status check_quota(const lc_agents *agents, const lc_agent_id *id,
                               const lc_agent_size *size, int64_t more, loci_error *err)
{
    int64_t max = size->tenant_bytes_max, sum = more;

    if (size->bytes < 0 || size->bytes > LC_GUARD_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "bytes: %lld, not 0 to %lld", (long long)size->bytes,
                       LC_GUARD_BYTES_MAX);
    if (max == 0)
        max = lc_guard_sample(agents->guard).limit_bytes / TENANT_SHARE;
    if (max == 0 || more <= 0)
        return LOCI_OK;
    for (const agent *a = agents->first; a != NULL; a = a->next)
        sum += lc_str_is(id->tenant_id, a->tenant_id) ? bytes_of(a) : 0;
    if (sum > max)
        return lc_fail(err, LOCI_ELIMIT,
                       "bytes: the agents of this tenant would hold %lld bytes, the maximum is "
                       "%lld; an administrator can raise guard.agents_bytes_max",
                       (long long)sum, (long long)max);
    return LOCI_OK;
}

/* ---- Signals: under the lock ----------------------------------------------------------------- */

static void drop_signal(agent *a, size_t at)
{
    a->signal_count--;
    memmove(&a->signals[at], &a->signals[at + 1], (a->signal_count - at) * sizeof(lc_agent_signal));
}

/* Of two signals of a family about the same name only the newer one matters. */
static int family_of(lc_agent_signal_kind kind)
{
    return kind == LC_AGENT_RESUME_PIPELINE ? LC_AGENT_PAUSE_PIPELINE
           : kind == LC_AGENT_RESUME_ALL    ? LC_AGENT_PAUSE_ALL
                                            : (int)kind;
}

/* Adds `signal`, which has its kind, level, name, bytes and needs_ack, to the signals of `a`. */
static void push(lc_agents *agents, agent *a, const lc_agent_signal *signal)
{
    lc_agent_signal *place;

    for (size_t i = 0; i < a->signal_count; i++) {
        lc_agent_signal *at = &a->signals[i];

        if (family_of(at->kind) != family_of(signal->kind) || strcmp(at->name, signal->name) != 0)
            continue;
        if (at->kind == signal->kind && at->needs_ack) {
            at->bytes = signal->bytes; /* Asked before: its time runs from then. */
            at->level = signal->level;
            return;
        }
        drop_signal(a, i);
        break;
    }
    LC_ASSERT(a->signal_count < SIGNALS_MAX);
    place = &a->signals[a->signal_count++];
    *place = *signal;
    place->id = ++agents->sequence;
    place->sent_ms = lc_guard_now_ms(agents->guard);
    agents->sent_count[signal->kind]++;
    if (a->stream != NULL)
        (void)eventfd_write(a->stream->fd, 1); /* Fails only when full: it is readable. */
}

static bool is_request(lc_agent_signal_kind kind)
{
    return kind == LC_AGENT_EVICT_CACHES || kind == LC_AGENT_COMPACT_CONTEXTS ||
           kind == LC_AGENT_PAUSE_PIPELINE || kind == LC_AGENT_PAUSE_ALL;
}

/* Sends to those that listen; returns to how many. */
static uint32_t broadcast(lc_agents *agents, lc_agent_signal signal, bool is_to_all)
{
    uint32_t count = 0;

    for (agent *a = agents->first; a != NULL; a = a->next) {
        if (!is_to_all && a->stream == NULL)
            continue;
        signal.needs_ack = is_request(signal.kind) && a->stream != NULL;
        push(agents, a, &signal);
        count++;
    }
    return count;
}

static void forget_signals(agent *a, const char *name)
{
    for (size_t i = a->signal_count; i-- > 0;) {
        if (a->signals[i].name[0] != '\0' && strcmp(a->signals[i].name, name) == 0)
            drop_signal(a, i);
    }
}

/* A signal of the guard about the item `guard_name`. Returns the agent if it is to be given up. */
static agent *push_named(lc_agents *agents, lc_agent_signal signal, bool is_cancel,
                         const char *guard_name)
{
    agent *a = NULL;
    item *i = find_guarded(agents, guard_name, &a);

    if (i == NULL)
        return NULL; /* One of the process's own, or ended meanwhile. */
    if (is_cancel)
        return a;
    if (i->is_pipeline)
        i->state = signal.kind == LC_AGENT_PAUSE_PIPELINE    ? LC_AGENT_PAUSING
                   : signal.kind == LC_AGENT_RESUME_PIPELINE ? LC_AGENT_RUNNING
                                                             : i->state;
    memcpy(signal.name, i->name, sizeof i->name);
    /* The guard itself waits for the ack of a pause. */
    signal.needs_ack = signal.kind == LC_AGENT_PAUSE_PIPELINE ||
                       (is_request(signal.kind) && a->stream != NULL);
    push(agents, a, &signal);
    return NULL;
}

void lc_agents_signal(void *ctx, const loci_signal *signal)
{
    static const lc_agent_signal_kind kinds[] = {
        [LOCI_SIGNAL_PRESSURE_CHANGED] = LC_AGENT_PRESSURE_CHANGED,
        [LOCI_SIGNAL_EVICT_CACHES] = LC_AGENT_EVICT_CACHES,
        [LOCI_SIGNAL_COMPACT_CONTEXTS] = LC_AGENT_COMPACT_CONTEXTS,
        [LOCI_SIGNAL_PAUSE_PIPELINE] = LC_AGENT_PAUSE_PIPELINE,
        [LOCI_SIGNAL_RESUME_PIPELINE] = LC_AGENT_RESUME_PIPELINE,
        [LOCI_SIGNAL_CANCEL_PIPELINE] = LC_AGENT_PAUSE_PIPELINE, /* Ends the wait for it. */
    };
    lc_agents *agents = ctx;
    lc_agent_signal pushed = {
        .kind = kinds[signal->kind], .level = signal->level, .bytes = signal->bytes};
    agent *gone = NULL;

    lock(agents);
    if (signal->name == NULL)
        (void)broadcast(agents, pushed, false);
    else
        gone = push_named(agents, pushed, signal->kind == LOCI_SIGNAL_CANCEL_PIPELINE,
                          signal->name);
    if (gone != NULL)
        gone = give_up(agents, gone, NULL);
    unlock(agents);
    dispose(agents, gone);
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Whether the agent is gone. The guard itself waits for the ack of a pause. */
static bool is_overdue(agent *a, int64_t now_ms)
{
    if (now_ms < a->seen_ms)
        a->seen_ms = now_ms; /* A clock that goes back starts the time again. */
    if (a->stream == NULL && now_ms - a->seen_ms >= LC_AGENT_IDLE_MS)
        return true;
    for (size_t i = 0; i < a->signal_count; i++) {
        lc_agent_signal *signal = &a->signals[i];

        if (now_ms < signal->sent_ms)
            signal->sent_ms = now_ms;
        if (signal->needs_ack && signal->kind != LC_AGENT_PAUSE_PIPELINE &&
            now_ms - signal->sent_ms >= LC_AGENT_ACK_MS)
            return true;
    }
    return false;
}

/* An lc_ticked_fn. */
static void ticked(void *ctx, int64_t now_ms)
{
    lc_agents *agents = ctx;
    agent *gone = NULL, *next;

    lock(agents);
    agents->begun_bytes = 0;
    for (agent *a = agents->first; a != NULL; a = next) {
        next = a->next;
        if (is_overdue(a, now_ms))
            gone = give_up(agents, a, gone);
    }
    unlock(agents);
    dispose(agents, gone);
}

/* ---- Life ------------------------------------------------------------------------------------ */

loci_status lc_agents_new(lc_heap *heap, lc_agents **out, loci_error *err)
{
    lc_agents *agents = lc_heap_zalloc(heap, sizeof *agents, LOCI_MEM_ENGINE);

    if (agents == NULL)
        return lc_fail_memory(err);
    agents->heap = heap;
    (void)pthread_mutex_init(&agents->lock, NULL); /* Cannot fail on Linux. */
    *out = agents;
    return LOCI_OK;
}

void lc_agents_attach(lc_agents *agents, loci_guard *guard)
{
    lock(agents);
    agents->guard = guard;
    unlock(agents);
    lc_guard_on_tick(guard, ticked, agents);
}

void lc_agents_free(lc_agents *agents)
{
    agent *next;

    if (agents == NULL)
        return;
    for (agent *a = agents->first; a != NULL; a = next) {
        next = a->next;
        for (size_t i = 0; i < a->item_count; i++) {
            if (a->items[i]->run != NULL) /* The guard is closed: it does not know it any more. */
                lc_heap_free(agents->heap, a->items[i]->run, sizeof(run), LOCI_MEM_ENGINE);
            lc_heap_free(agents->heap, a->items[i], sizeof(item), LOCI_MEM_ENGINE);
        }
        lc_heap_free(agents->heap, a, sizeof *a, LOCI_MEM_ENGINE);
    }
    (void)pthread_mutex_destroy(&agents->lock);
    lc_heap_free(agents->heap, agents, sizeof *agents, LOCI_MEM_ENGINE);
}

/* ---- Memory and pipelines -------------------------------------------------------------------- */

static loci_status report_pipeline(lc_agents *agents, const lc_agent_id *id,
                                   const lc_agent_size *size, item *i, loci_error *err)
{
    loci_status status = check_quota(agents, id, size, size->bytes - i->bytes, err);

    if (status != LOCI_OK)
        return status;
    if (size->category != LOCI_MEM_PIPELINES)
        return lc_fail(err, LOCI_EINVAL, "category: %s is a pipeline; report it with pipelines",
                       i->name);
    if (i->run == NULL)
        return lc_fail(err, LOCI_ECONFLICT,
                       "pipeline %s does not run: begin it with pipeline.begin", i->name);
    set_bytes(agents, i, size->bytes);
    return LOCI_OK;
}

static loci_status report_component(lc_agents *agents, const lc_agent_id *id,
                                    const lc_agent_size *size, agent *a, loci_error *err)
{
    item *i = find_item(a, size->name);
    bool is_new = i == NULL;
    loci_status status = check_quota(agents, id, size, size->bytes - (is_new ? 0 : i->bytes), err);

    if (status == LOCI_OK && size->category == LOCI_MEM_PIPELINES)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "agent %s has no pipeline %.*s: register it with pipeline.register",
                         a->name, LC_STR_ARG(size->name));
    if (status == LOCI_OK && is_new)
        status = add_item(agents, a, size->name, false, &i, err);
    if (status != LOCI_OK)
        return status;
    if (is_new)
        make_name(agents, a, i, i->guard_name);
    status = loci_guard_report(agents->guard, i->guard_name, size->category, size->bytes, err);
    if (status == LOCI_OK)
        set_bytes(agents, i, size->bytes);
    else if (is_new)
        remove_item(agents, a, i);
    return status;
}

loci_status lc_agents_report(lc_agents *agents, const lc_agent_id *id, const lc_agent_size *size,
                             loci_error *err)
{
    agent *a = NULL;
    item *i;
    loci_status status;

    lock(agents);
    status = load_agent(agents, id, &a, err);
    if (status == LOCI_OK) {
        i = find_item(a, size->name);
        status = i != NULL && i->is_pipeline ? report_pipeline(agents, id, size, i, err)
                                             : report_component(agents, id, size, a, err);
        tidy(agents, a);
    }
    unlock(agents);
    return status;
}

loci_status lc_agents_release(lc_agents *agents, const lc_agent_id *id, loci_str name,
                              loci_error *err)
{
    loci_status status = LOCI_OK;
    agent *a;
    item *i;

    lock(agents);
    a = find_agent(agents, id);
    i = find_item(a, name);
    if (i == NULL || i->is_pipeline)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "agent %.*s has no component %.*s: it was never reported, or was released "
                         "before",
                         LC_STR_ARG(id->name), LC_STR_ARG(name));
    if (status == LOCI_OK)
        status = loci_guard_release(agents->guard, i->guard_name, err);
    if (status == LOCI_OK) {
        a->seen_ms = lc_guard_now_ms(agents->guard);
        forget_signals(a, i->name);
        remove_item(agents, a, i);
        tidy(agents, a);
    }
    unlock(agents);
    return status;
}

loci_status lc_agents_register(lc_agents *agents, const lc_agent_id *id,
                               const lc_agent_pipeline *pipeline, loci_error *err)
{
    agent *a = NULL;
    item *i = NULL;
    loci_status status;

    lock(agents);
    status = load_agent(agents, id, &a, err);
    if (status == LOCI_OK && find_item(a, pipeline->name) != NULL)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "agent %s has a pipeline or component %.*s already; choose another name, "
                         "or end it with pipeline.end and unregister",
                         a->name, LC_STR_ARG(pipeline->name));
    if (status == LOCI_OK)
        status = add_item(agents, a, pipeline->name, true, &i, err);
    if (status == LOCI_OK) {
        i->priority = pipeline->priority;
        i->work = pipeline->work;
    }
    if (a != NULL)
        tidy(agents, a);
    unlock(agents);
    return status;
}

/* A loci_pipeline's bytes. */
static int64_t run_bytes(void *ctx)
{
    run *r = ctx;

    return atomic_load(&r->bytes);
}

/* Milliseconds until it may ask again; 0 = it may start. Its bytes must fit below the same caps as
 * charges of its kind of work. It does not keep the admission: that bounds the requests that run
 * now, and a pipeline may run for hours. */
static int64_t ask(lc_agents *agents, const item *i, int64_t bytes)
{
    lc_sample sample = lc_guard_sample(agents->guard);
    loci_admission admission = LOCI_ADMISSION_INIT;
    loci_ticket ticket = {0};
    int64_t cap = sample.limit_bytes / 100 * (i->work == LOCI_WORK_BULK ? 70 : 95);

    if (agents->is_paused)
        return RETRY_MS;
    if (sample.limit_bytes > 0 && bytes > cap - sample.used_bytes - agents->begun_bytes)
        return RETRY_MS;
    admission.work = i->work;
    admission.priority = i->priority;
    if (loci_guard_admit(agents->guard, &admission, &ticket, NULL) != LOCI_OK)
        return RETRY_MS;
    if (ticket.outcome == LOCI_ADMITTED)
        (void)loci_guard_done(agents->guard, ticket.id, NULL); /* It is there. */
    return ticket.outcome == LOCI_ADMITTED ? 0
           : ticket.retry_after_ms > 0     ? ticket.retry_after_ms
                                           : RETRY_MS;
}

static loci_status start_run(lc_agents *agents, const agent *a, item *i, int64_t bytes,
                             loci_error *err)
{
    loci_pipeline pipeline = LOCI_PIPELINE_INIT;
    run *r = lc_heap_zalloc(agents->heap, sizeof *r, LOCI_MEM_ENGINE);
    loci_status status;

    if (r == NULL)
        return lc_fail_memory(err);
    make_name(agents, a, i, r->guard_name);
    atomic_store(&r->bytes, bytes);
    pipeline.name = r->guard_name;
    pipeline.priority = i->priority;
    pipeline.bytes = run_bytes;
    pipeline.ctx = r;
    status = loci_guard_add_pipeline(agents->guard, &pipeline, err);
    if (status != LOCI_OK) {
        lc_heap_free(agents->heap, r, sizeof *r, LOCI_MEM_ENGINE);
        return status;
    }
    i->run = r;
    i->state = LC_AGENT_RUNNING;
    set_bytes(agents, i, bytes);
    agents->begun_bytes += bytes;
    return LOCI_OK;
}

loci_status lc_agents_begin(lc_agents *agents, const lc_agent_id *id, const lc_agent_size *size,
                            int64_t *retry_after_ms, loci_error *err)
{
    item *i = NULL;
    agent *a;
    int64_t retry_ms = 0;
    loci_status status;

    lock(agents);
    a = find_agent(agents, id);
    status = load_pipeline(agents, id, size->name, &i, err);
    if (status == LOCI_OK && i->run != NULL)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "pipeline %s is %s: end it before it begins again, or report its size "
                         "with guard.report",
                         i->name, lc_agent_state_name(i->state));
    if (status == LOCI_OK)
        status = check_quota(agents, id, size, size->bytes, err);
    if (status == LOCI_OK) {
        a->seen_ms = lc_guard_now_ms(agents->guard);
        retry_ms = ask(agents, i, size->bytes);
    }
    if (status == LOCI_OK && retry_ms == 0)
        status = start_run(agents, a, i, size->bytes, err);
    unlock(agents);
    if (status == LOCI_OK)
        *retry_after_ms = retry_ms;
    return status;
}

loci_status lc_agents_end(lc_agents *agents, const lc_agent_id *id, loci_str name, bool forgets,
                          loci_error *err)
{
    run *ended = NULL;
    item *i = NULL;
    agent *a;
    loci_status status;

    lock(agents);
    a = find_agent(agents, id);
    status = load_pipeline(agents, id, name, &i, err);
    if (status == LOCI_OK && i->run == NULL && !forgets)
        status = lc_fail(err, LOCI_ECONFLICT, "pipeline %s does not run", i->name);
    if (status == LOCI_OK) {
        a->seen_ms = lc_guard_now_ms(agents->guard);
        set_bytes(agents, i, 0);
        ended = i->run;
        i->run = NULL;
        i->state = LC_AGENT_IDLE;
        forget_signals(a, i->name);
        if (forgets)
            remove_item(agents, a, i);
        tidy(agents, a);
    }
    unlock(agents);
    dispose_run(agents, ended);
    return status;
}

/* ---- Signals --------------------------------------------------------------------------------- */

static lc_agent_signal shown(const lc_agents *agents, const lc_agent_signal *signal)
{
    int64_t past_ms = lc_guard_now_ms(agents->guard) - signal->sent_ms;
    lc_agent_signal copy = *signal;

    copy.ack_within_ms = !copy.needs_ack             ? 0
                         : past_ms < 0               ? LC_AGENT_ACK_MS
                         : past_ms < LC_AGENT_ACK_MS ? LC_AGENT_ACK_MS - past_ms
                                                     : 0;
    return copy;
}

static loci_status ack_pause(lc_agents *agents, const agent *a, const char *name, int64_t bytes,
                             loci_error *err)
{
    item *i = find_item(a, loci_str_of(name));
    loci_status status;

    LC_ASSERT(i != NULL);      /* Signals are forgotten with their pipeline, */
    LC_ASSERT(i->run != NULL); /* and with its run. */
    if (bytes > i->bytes)
        return lc_fail(err, LOCI_EINVAL,
                       "bytes: a paused pipeline holds at most what it held, %lld",
                       (long long)i->bytes);
    status = loci_guard_ack(agents->guard, i->run->guard_name, err);
    if (status != LOCI_OK)
        return status;
    i->state = LC_AGENT_PAUSED;
    set_bytes(agents, i, bytes);
    return LOCI_OK;
}

loci_status lc_agents_ack(lc_agents *agents, const lc_agent_id *id, uint64_t signal_id,
                          int64_t bytes, lc_agent_signal *out, loci_error *err)
{
    loci_status status = LOCI_OK;
    size_t at = 0;
    agent *a;

    lock(agents);
    a = find_agent(agents, id);
    while (a != NULL && at < a->signal_count && a->signals[at].id != signal_id)
        at++;
    if (a == NULL || at == a->signal_count)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "no signal %llu waits for agent %.*s: it was acknowledged or taken back, "
                         "or the agent did not acknowledge in time and is gone",
                         (unsigned long long)signal_id, LC_STR_ARG(id->name));
    if (status == LOCI_OK && a->signals[at].kind == LC_AGENT_PAUSE_PIPELINE)
        status = ack_pause(agents, a, a->signals[at].name, bytes, err);
    if (status == LOCI_OK) {
        *out = shown(agents, &a->signals[at]);
        agents->acknowledged_count++;
        a->seen_ms = lc_guard_now_ms(agents->guard);
        drop_signal(a, at);
    }
    unlock(agents);
    return status;
}

uint32_t lc_agents_send(lc_agents *agents, lc_agent_signal_kind kind)
{
    uint32_t count;

    LC_ASSERT(kind == LC_AGENT_PAUSE_ALL || kind == LC_AGENT_RESUME_ALL);
    lock(agents);
    agents->is_paused = kind == LC_AGENT_PAUSE_ALL;
    count = broadcast(
        agents, (lc_agent_signal){.kind = kind, .level = loci_guard_level(agents->guard)}, true);
    unlock(agents);
    return count;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static lc_agent_id id_of(const agent *a)
{
    return (lc_agent_id){loci_str_of(a->tenant_id), loci_str_of(a->owner_id), loci_str_of(a->name)};
}

lc_agents_counters lc_agents_get_counters(lc_agents *agents)
{
    lc_agents_counters counters = {0};

    lock(agents);
    counters.gone = agents->gone_count;
    counters.acknowledged = agents->acknowledged_count;
    counters.is_paused = agents->is_paused;
    memcpy(counters.sent, agents->sent_count, sizeof counters.sent);
    for (const agent *a = agents->first; a != NULL; a = a->next) {
        counters.agents++;
        counters.listening += a->stream != NULL;
        for (size_t i = 0; i < a->item_count; i++)
            counters.pipelines[a->items[i]->state] += a->items[i]->is_pipeline;
    }
    unlock(agents);
    return counters;
}

void lc_agents_each(lc_agents *agents, void (*visit)(void *ctx, const lc_agent_row *row), void *ctx)
{
    lock(agents);
    for (const agent *a = agents->first; a != NULL; a = a->next) {
        uint32_t pipeline_count = (uint32_t)count_items(a, true);

        visit(ctx, &(lc_agent_row){.id = id_of(a),
                                   .is_listening = a->stream != NULL,
                                   .bytes = bytes_of(a),
                                   .component_count = (uint32_t)a->item_count - pipeline_count,
                                   .pipeline_count = pipeline_count,
                                   .signal_count = (uint32_t)a->signal_count});
    }
    unlock(agents);
}

void lc_agents_each_pipeline(lc_agents *agents, const lc_agent_id *id, bool is_of_all,
                             void (*visit)(void *ctx, const lc_agent_pipeline *pipeline), void *ctx)
{
    lock(agents);
    for (const agent *a = agents->first; a != NULL; a = a->next) {
        if (!lc_str_is(id->tenant_id, a->tenant_id) ||
            (!is_of_all && !lc_str_is(id->owner_id, a->owner_id)) ||
            (id->name.ptr != NULL && !lc_str_is(id->name, a->name)))
            continue;
        for (size_t i = 0; i < a->item_count; i++) {
            const item *at = a->items[i];

            if (at->is_pipeline)
                visit(ctx, &(lc_agent_pipeline){.agent = loci_str_of(a->name),
                                                .name = loci_str_of(at->name),
                                                .priority = at->priority,
                                                .work = at->work,
                                                .state = at->state,
                                                .bytes = at->bytes});
        }
    }
    unlock(agents);
}

void lc_agents_each_signal(lc_agents *agents, const lc_agent_id *id,
                           void (*visit)(void *ctx, const lc_agent_signal *signal), void *ctx)
{
    agent *a;

    lock(agents);
    a = find_agent(agents, id);
    if (a != NULL) {
        a->seen_ms = lc_guard_now_ms(agents->guard);
        for (size_t i = 0; i < a->signal_count; i++) {
            lc_agent_signal copy = shown(agents, &a->signals[i]);

            visit(ctx, &copy);
        }
    }
    unlock(agents);
}

/* ---- Streams --------------------------------------------------------------------------------- */

loci_status lc_agent_stream_open(lc_agents *agents, const lc_agent_id *id, lc_agent_stream **out,
                                 loci_error *err)
{
    lc_agent_stream *stream = lc_heap_zalloc(agents->heap, sizeof *stream, LOCI_MEM_REQUESTS);
    agent *a = NULL;
    loci_status status = LOCI_OK;

    if (stream == NULL)
        return lc_fail_memory(err);
    stream->agents = agents;
    stream->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stream->fd < 0)
        status = lc_fail(err, LOCI_ERESOURCE, "signals: no descriptor for a stream");
    lock(agents);
    if (status == LOCI_OK)
        status = load_agent(agents, id, &a, err);
    if (status == LOCI_OK) {
        if (a->stream != NULL)
            end_stream(a->stream, "replaced");
        a->stream = stream;
        stream->agent = a;
        push(agents, a,
             &(lc_agent_signal){.kind = LC_AGENT_PRESSURE_CHANGED,
                                .level = loci_guard_level(agents->guard)});
    }
    unlock(agents);
    if (status == LOCI_OK) {
        *out = stream;
        return LOCI_OK;
    }
    lc_agent_stream_close(stream);
    return status;
}

int lc_agent_stream_fd(const lc_agent_stream *stream)
{
    return stream->fd;
}

bool lc_agent_stream_next(lc_agent_stream *stream, lc_agent_signal *out)
{
    bool is_found = false;
    size_t at = 0;
    agent *a;

    lock(stream->agents);
    a = stream->agent;
    while (a != NULL && at < a->signal_count && a->signals[at].id <= stream->sent_id)
        at++;
    if (a != NULL && at < a->signal_count) {
        is_found = true;
        *out = shown(stream->agents, &a->signals[at]);
        stream->sent_id = out->id;
        if (!out->needs_ack)
            drop_signal(a, at);
    }
    unlock(stream->agents);
    return is_found;
}

const char *lc_agent_stream_end(lc_agent_stream *stream)
{
    const char *why;

    lock(stream->agents);
    why = stream->end;
    unlock(stream->agents);
    return why;
}

void lc_agent_stream_close(lc_agent_stream *stream)
{
    lc_agents *agents;

    if (stream == NULL)
        return;
    agents = stream->agents;
    lock(agents);
    if (stream->agent != NULL) {
        stream->agent->stream = NULL;
        stream->agent->seen_ms = lc_guard_now_ms(agents->guard);
        tidy(agents, stream->agent);
    }
    unlock(agents);
    if (stream->fd >= 0)
        (void)close(stream->fd); /* Nothing is lost with it. */
    lc_heap_free(agents->heap, stream, sizeof *stream, LOCI_MEM_REQUESTS);
}
