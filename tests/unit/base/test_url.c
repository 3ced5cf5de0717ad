/* URLs as they may be shown. */
#include "lib/test.h"

#include <string.h>

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
                 "postgresql:///db?user=me&***&host=h");
    CHECK_STR_EQ(label("postgresql:///db?sslpassword=hush"), "postgresql:///db?***");
}

/* Right, wrong and mistyped: wherever a password can end up, it is not shown. */
TEST(url, no_spelling_of_a_password_is_shown)
{
    static const char *const spellings[] = {
        "postgresql://me:hush@host/db",
        "postgres://me:hush@host/db",
        "postgresql://me:hush@host,other:5433/db",
        "postgresql://:hush@host/db",
        "postgresql://me:a:hush@host/db",
        "postgresql://me:a@hush@host/db",
        "postgresql://me:a/hush@host/db",
        "postgresql://me:a?hush@host/db",
        "postgresql://me:a?b&hush@host/db",
        "postgresql://me:a?host=hush@host/db",
        "postgresql://me:a#hush@host/db",
        "postgresql://me:a%40hush@host/db",
        "postgresql://me:hush",
        "postgresql://me:hush/db",
        "postgresql://me:1hush/db",
        "postgresql://me:hush?host=h",
        "postgresql://host/db?password=hush",
        "postgresql://host/db?PASSWORD=hush",
        "postgresql://host/db?password =hush",
        "postgresql://host/db?p%61ssword=hush",
        "postgresql://host/db?%70%61%73%73%77%6f%72%64=hush",
        "postgresql://host/db?sslpassword=hush",
        "postgresql://host/db?user=me&password=a&hush",
        "postgresql://host/db?user=me&password=a=hush",
        "postgresql://host/db?user=a@b&password=hush",
        "postgresql://host/db?password=hush&user=a@b",
        "postgresql://me:x@host/db?application_name=a@b&password=hush",
        "postgresql://host/db?passwort=hush",
        "postgresql://host/db?hush",
        "host=h password=hush",
        "host=h password = 'hush'",
        "host=h PASSWORD='a hush'",
        "sslpassword=hush",
    };

    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const char *shown = label(spellings[i]);

        if (strstr(shown, "hush") != NULL)
            test_fail(__FILE__, __LINE__, "%s is shown as %s", spellings[i], shown);
    }
}

TEST(url, what_says_where_the_store_is_stays)
{
    static const char *const plain[] = {
        "postgresql://me@host:5432,other:5433/db",
        "postgresql://me@[::1]:5432/db",
        "postgresql://%2Ftmp%2Fdir/db",
        "postgresql:///db?host=/tmp/dir&port=5433&options=-csearch_path%3Dagents&sslmode=require",
        "postgresql://me@host/db?target_session_attrs=read-write&application_name=loci",
    };

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        CHECK_STR_EQ(label(plain[i]), plain[i]);
}

TEST(url, what_is_neither_a_file_nor_our_url_is_no_store)
{
    static const char *const refused[] = {
        "Postgresql://me:hush@host/db", "mysql://me:hush@host/db",      "postgresql:me:hush@host",
        "POSTGRES:/me:hush@host",       "host=h user=me password=hush", "host=h PassWord = 'hush'",
    };
    static const char *const taken[] = {"postgresql://me:hush@host/db", "postgres:///db",
                                        "store.db", "a:b@c.db", "passwords/=.db"};
    loci_error err;

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        CHECK_STATUS(LOCI_EINVAL, lc_url_check_store(refused[i], &err));
        CHECK(strstr(err.message, "hush") == NULL);
    }
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        CHECK_OK(lc_url_check_store(taken[i], &err), err);
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
