/* frame_status.c - see frame_status.h. The table is the only place that knows which moves exist. */
#include "frame/frame_status.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

static const struct {
    lc_frame_status from, to;
} moves[] = {
    {LC_FRAME_ACTIVE, LC_FRAME_WAITING},
    {LC_FRAME_WAITING, LC_FRAME_ACTIVE},
    {LC_FRAME_ACTIVE, LC_FRAME_SUSPENDED},
    {LC_FRAME_WAITING, LC_FRAME_SUSPENDED},
    {LC_FRAME_SUSPENDED, LC_FRAME_ACTIVE},
    {LC_FRAME_ACTIVE, LC_FRAME_COMPLETED},
    /* A frame that waited for its last child or for an answer may end with it. */
    {LC_FRAME_WAITING, LC_FRAME_COMPLETED},
    /* Suspended work is never completed: it is resumed first, or given up. */
    {LC_FRAME_ACTIVE, LC_FRAME_FAILED},
    {LC_FRAME_WAITING, LC_FRAME_FAILED},
    {LC_FRAME_SUSPENDED, LC_FRAME_FAILED},
    {LC_FRAME_ACTIVE, LC_FRAME_CANCELLED},
    {LC_FRAME_WAITING, LC_FRAME_CANCELLED},
    {LC_FRAME_SUSPENDED, LC_FRAME_CANCELLED},
};

static const char *const names[] = {
    [LC_FRAME_ACTIVE] = "active",       [LC_FRAME_WAITING] = "waiting",
    [LC_FRAME_SUSPENDED] = "suspended", [LC_FRAME_COMPLETED] = "completed",
    [LC_FRAME_FAILED] = "failed",       [LC_FRAME_CANCELLED] = "cancelled",
};

_Static_assert(sizeof names / sizeof names[0] == LC_FRAME_STATUS_COUNT, "one name per status");

bool lc_frame_status_is_open(lc_frame_status status)
{
    return status == LC_FRAME_ACTIVE || status == LC_FRAME_WAITING || status == LC_FRAME_SUSPENDED;
}

const char *lc_frame_status_name(lc_frame_status status)
{
    LC_ASSERT(status < LC_FRAME_STATUS_COUNT);
    return names[status];
}

bool lc_frame_status_find(loci_str name, lc_frame_status *out)
{
    for (int i = 0; i < LC_FRAME_STATUS_COUNT; i++) {
        if (lc_str_is(name, names[i])) {
            *out = (lc_frame_status)i;
            return true;
        }
    }
    return false;
}

bool lc_frame_status_leads(lc_frame_status from, lc_frame_status to)
{
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (moves[i].from == from && moves[i].to == to)
            return true;
    return false;
}

loci_status lc_frame_move(lc_frame_status *status, lc_frame_status to, loci_str id, loci_error *err)
{
    if (!lc_frame_status_leads(*status, to))
        return lc_fail(err, LOCI_ECONFLICT, "frame %.*s is %s and cannot become %s", LC_STR_ARG(id),
                       lc_frame_status_name(*status), lc_frame_status_name(to));
    *status = to;
    return LOCI_OK;
}
