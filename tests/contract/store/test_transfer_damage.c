/* Nothing is taken from a file that is not whole, and nothing of the store is touched. */
#include "contract/note_text.h"

#include <stdlib.h>
#include <string.h>

static const lc_sql events_sql = {"select count(*) from events", "", "i"};
static const lc_sql heads_sql = {"select count(*) from heads where user_id <> ''", "", "i"};

static void check_refused(notes *n, note_text *t)
{
    loci_status status = note_text_import(n, t, NULL);

    CHECK(status == LOCI_EINVAL || status == LOCI_EUNSUPPORTED || status == LOCI_ELIMIT);
    CHECK_CONTAINS(n->err.message, "line ");
}

static note_text small_export(void)
{
    notes a;
    note_text t;

    notes_open(&a, NULL);
    notes_write(&a, "ann", 1, "one");
    notes_write(&a, "ann", 2, "two");
    notes_write(&a, "bob", 3, "three");
    notes_set(&a, "", "x", "1");
    t = note_text_export(&a, NULL);
    notes_close(&a);
    return t;
}

static void check_untouched(notes *n)
{
    CHECK_EQ(notes_number(n, &events_sql), 0);
    CHECK_EQ(notes_number(n, &heads_sql), 0);
}

TEST(transfer_damage, a_file_cut_off_anywhere_is_refused)
{
    note_text t = small_export();
    notes b;

    notes_open(&b, NULL);
    for (size_t len = 0; len < t.len - 1; len++) { /* The last byte is the end of the last line. */
        note_text cut = {.ptr = t.ptr, .len = len};

        check_refused(&b, &cut);
    }
    check_untouched(&b);
    CHECK_OK(note_text_import(&b, &t, NULL), b.err);
    free(t.ptr);
    notes_close(&b);
}

TEST(transfer_damage, a_file_changed_anywhere_is_refused)
{
    note_text t = small_export();
    const char *body = strchr(t.ptr, '\n');
    notes b;

    notes_open(&b, NULL);
    for (size_t at = (size_t)(body - t.ptr) + 1; at < t.len; at++) {
        static const char changes[] = {1, 2, 32, (char)0x80};

        for (size_t i = 0; i < sizeof changes; i++) {
            t.ptr[at] ^= changes[i];
            if (at < t.len - 1 || t.ptr[at] != ' ')
                check_refused(&b, &t);
            t.ptr[at] ^= changes[i];
        }
    }
    check_untouched(&b);
    free(t.ptr);
    notes_close(&b);
}

TEST(transfer_damage, lines_that_are_missing_doubled_or_swapped_are_refused)
{
    note_text t = small_export();
    char *lines[16];
    int count = 0;
    notes b;

    for (char *line = t.ptr; *line != '\0'; line = strchr(line, '\0') + 1) {
        *strchr(line, '\n') = '\0';
        lines[count++] = line;
    }
    CHECK_EQ(count, 8);
    notes_open(&b, NULL);
    for (int what = 0; what < 3; what++) {
        for (int at = 0; at < count - (what == 2); at++) {
            note_text changed = {0};

            for (int i = 0; i < count; i++) {
                int from = what == 2 && i == at ? at + 1 : what == 2 && i == at + 1 ? at : i;

                if (what != 0 || i != at)
                    (void)note_text_add(&changed, loci_str_of(lines[from]), NULL);
                if (what == 1 && i == at)
                    (void)note_text_add(&changed, loci_str_of(lines[from]), NULL);
            }
            check_refused(&b, &changed);
            free(changed.ptr);
        }
    }
    check_untouched(&b);
    free(t.ptr);
    notes_close(&b);
}

static void check_header(const char *header, loci_status expected)
{
    notes b;
    note_text t = {.ptr = test_format("%s\n{\"end\":true,\"events\":0,\"users\":0,\"settings\":0,"
                                      "\"hash\":\"00000000000000000000000000000000\"}\n",
                                      header)};

    t.len = strlen(t.ptr);
    notes_open(&b, NULL);
    CHECK_STATUS(expected, note_text_import(&b, &t, NULL));
    notes_close(&b);
}

TEST(transfer_damage, only_known_formats_are_read)
{
    check_header("{\"loci\":\"export\",\"format\":1,\"store_id\":\"x\",\"schema_version\":1}",
                 LOCI_OK);
    check_header("{\"loci\":\"export\",\"format\":2,\"store_id\":\"x\",\"schema_version\":1}",
                 LOCI_EUNSUPPORTED);
    check_header("{\"loci\":\"export\",\"format\":1,\"store_id\":\"x\",\"schema_version\":999}",
                 LOCI_EUNSUPPORTED);
    check_header("{\"loci\":\"import\",\"format\":1,\"store_id\":\"x\",\"schema_version\":1}",
                 LOCI_EINVAL);
    check_header("{\"hello\":\"world\"}", LOCI_EINVAL);
    check_header("[]", LOCI_EINVAL);
    check_header("", LOCI_EINVAL);
}

TEST(transfer_damage, types_and_versions_of_a_newer_loci_are_named)
{
    note_text t = small_export();
    char *type = strstr(t.ptr, "note.written");
    notes b;

    notes_open(&b, NULL);
    memcpy(type, "note.wrxtten", 12);
    CHECK_STATUS(LOCI_EUNSUPPORTED, note_text_import(&b, &t, NULL));
    CHECK_CONTAINS(b.err.message, "line 3: this loci knows no event of type note.wrxtten");
    memcpy(type, "note.written\",\"v\":9", 19);
    CHECK_STATUS(LOCI_EUNSUPPORTED, note_text_import(&b, &t, NULL));
    CHECK_CONTAINS(b.err.message, "note.written has version 9, this loci knows up to 2");
    free(t.ptr);
    notes_close(&b);
}
