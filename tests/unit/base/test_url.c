/* URLs as they may be shown. */
#include "lib/test.h"

#include "base/url.h"

static const char *label(const char *url)
{
    char *out = test_bytes(256);

    lc_url_write_label(url, out, 256);
    return out;
}

TEST(url, passwords_are_left_out)
{
    CHECK_STR_EQ(label("postgresql://me:hush@host:5432/db"), "postgresql://me@host:5432/db");
    CHECK_STR_EQ(label("postgresql://me@host/db"), "postgresql://me@host/db");
    CHECK_STR_EQ(label("postgresql://host/db"), "postgresql://host/db");
    CHECK_STR_EQ(label("postgresql://me:a@b:c@host/db"), "postgresql://me@host/db");
    CHECK_STR_EQ(label("postgresql://me:a/b@host/db"), "postgresql://me@host/db");
    CHECK_STR_EQ(label("postgresql://:hush@/db?host=/tmp"), "postgresql://@/db?host=/tmp");
    CHECK_STR_EQ(label("postgresql:///db?user=me&password=hush&host=h"),
                 "postgresql:///db?user=me&password=***&host=h");
    CHECK_STR_EQ(label("postgresql:///db?sslpassword=hush"), "postgresql:///db?password=***");
}

TEST(url, a_path_is_shown_as_it_is)
{
    CHECK(!lc_url_is("some/a:b@c.db"));
    CHECK_STR_EQ(label("some/a:b@c.db"), "some/a:b@c.db");
    CHECK_STR_EQ(label(""), "");
}

TEST(url, what_does_not_fit_is_cut)
{
    char out[12];

    lc_url_write_label("postgresql://me:hush@host", out, sizeof out);
    CHECK_STR_EQ(out, "postgresql:");
}
