#include "server/metrics_text.h"

#include "base/str.h"

void lc_metric_family(lc_buf *out, const char *name, const char *type, const char *help)
{
    lc_buf_append_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_name(lc_buf *out, const char *name, const char *labels)
{
    lc_buf_append(out, loci_str_of(name));
    if (labels[0] != '\0')
        lc_buf_append_format(out, "{%s}", labels);
    lc_buf_append_byte(out, ' ');
}

void lc_metric_int(lc_buf *out, const char *name, const char *labels, int64_t value)
{
    put_name(out, name, labels);
    lc_buf_append_format(out, "%lld\n", (long long)value);
}

void lc_metric_seconds(lc_buf *out, const char *name, const char *labels, int64_t us)
{
    put_name(out, name, labels);
    lc_buf_append_format(out, "%s%lld.%06lld\n", us < 0 ? "-" : "",
                         (long long)(us < 0 ? -(us / 1000000) : us / 1000000),
                         (long long)(us < 0 ? -(us % 1000000) : us % 1000000));
}

void lc_metric_one(lc_buf *out, const char *name, const char *type, const char *help, int64_t value)
{
    lc_metric_family(out, name, type, help);
    lc_metric_int(out, name, "", value);
}
