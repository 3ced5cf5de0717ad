/* Facts that a caller may not see are not there for it, whatever it calls: two stores, of which one
 * has a hidden fact under the key that the caller tries and the other under another key, give the
 * same answers. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"

#define KEY "salary"
#define OTHER_KEY "xalary"

/* ---- Two stores ------------------------------------------------------------------------------ */

typedef struct pair {
    facts with, without; /* A hidden fact under KEY. */
    const char *session; /* Of the caller: ",'session_id':'i'", or "". */
} pair;

static void open_pair(pair *p)
{
    const char *folder = test_tmpdir();

    *p = (pair){.session = ",'session_id':'i'"};
    facts_open_store(&p->with, test_store(folder, "with.db"));
    facts_open_store(&p->without, test_store(folder, "without.db"));
}

/* `args` with `name` where it has an @. */
static const char *fill(const char *args, const char *name)
{
    const char *at = strchr(args, '@');

    return at != NULL ? test_format("%.*s%s%s", (int)(at - args), args, name, at + 1) : args;
}

/* What those who see it do; in the other store with the other key. */
static void do_above(pair *p, const char *operation, const char *args)
{
    (void)facts_call(&p->with, operation, "%s", fill(args, KEY));
    (void)facts_call(&p->without, operation, "%s", fill(args, OTHER_KEY));
}

/* The last 7 digits of an id depend on the store. */
static char *without_hashes(loci_str text)
{
    char *copy = test_format("%s", text.ptr); /* LC_STR_ARG shortens. */

    for (char *at = copy; (at = strstr(at, "fact_0")) != NULL; at++)
        for (size_t i = 5 + 19; i < 5 + 26; i++)
            at[i] = '#';
    for (char *at = copy; (at = strstr(at, "ses_0")) != NULL; at++)
        for (size_t i = 4 + 19; i < 4 + 26; i++)
            at[i] = '#';
    for (char *at = copy; (at = strstr(at, "msg_0")) != NULL; at++)
        for (size_t i = 4 + 19; i < 4 + 26; i++)
            at[i] = '#';
    return copy;
}

/* `out_id` (may be NULL): the answer's id. */
static const char *ask(facts *f, const char *operation, const char *args, const char **out_id)
{
    loci_str answer;
    loci_status status = facts_try(f, operation, &answer, args);

    if (status == LOCI_OK && out_id != NULL)
        *out_id = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id")));
    if (status == LOCI_OK)
        return without_hashes(answer);
    return without_hashes(
        loci_str_of(test_format("%d %s %s", (int)status, f->err.message, f->err.data)));
}

/* The same call of the caller below in both stores, which must be answered alike. `ids`: what the @
 * of `args` is in each; NULL = there is none. */
static void same(pair *p, const char *operation, const char *args, const char *const ids[2])
{
    const char *open = test_format("%.*s%s}", (int)strlen(args) - 1, args, p->session);
    const char *texts[2];

    for (int i = 0; i < 2; i++)
        texts[i] = ask(i == 0 ? &p->with : &p->without, operation,
                       ids != NULL ? fill(open, ids[i]) : open, NULL);
    if (strcmp(texts[0], texts[1]) != 0)
        test_fail(__FILE__, __LINE__, "%s %s\n  with a hidden fact: %s\n  without:            %s",
                  operation, open, texts[0], texts[1]);
}

static void same_log(pair *p)
{
    CHECK_STR_EQ(ask(&p->with, "event.list", "{}", NULL),
                 ask(&p->without, "event.list", "{}", NULL));
}

/* Everything that a caller can read. */
static void same_reads(pair *p)
{
    same(p, "fact.current", "{'key':'" KEY "'}", NULL);
    same(p, "fact.current", "{'key':'" KEY "','scope':'task','scope_id':'t'}", NULL);
    same(p, "fact.history", "{'key':'" KEY "'}", NULL);
    same(p, "fact.list", "{}", NULL);
    same(p, "fact.list", "{'limit':1}", NULL);
    same(p, "fact.list", "{'scope':'task','scope_id':'t'}", NULL);
    same(p, "fact.claims", "{}", NULL);
    same(p, "fact.claims", "{'key':'" KEY "'}", NULL);
    same(p, "context.build", "{'query':'" KEY "','budget':500}", NULL);
    same_log(p);
}

/* A caller that may not see what is under KEY tries to find out. */
static void probe(pair *p)
{
    static const char *const writes[] = {
        "{'key':'" KEY "','value':90}", /* The hidden value, guessed. */
        "{'key':'" KEY "','value':90}",
        "{'key':'" KEY "','value':91}",
        "{'key':'" KEY "','value':5,'observed_at':'2001-01-01T00:00:00Z'}",
        "{'key':'" KEY "','value':92,'authority':'guest'}",
        "{'key':'" KEY "','value':93,'trust':'web'}",
        "{'key':'" KEY "','value':94,'is_constraint':true}",
        "{'key':'" KEY "','value':95,'multi':true}",
        "{'key':'" KEY "','value':96,'min_read_authority':'guest'}",
        "{'key':'" KEY "','value':97,'scope':'task','scope_id':'t'}",
        "{'key':'" KEY "','value':98,'scope':'draft','scope_id':'d'}",
    };
    const char *mine = test_format("{'key':'" KEY "'%s}", p->session);
    const char *ids[2] = {NULL, NULL};

    same_reads(p);
    same(p, "fact.write", "{'key':'a','value':1,'supersedes':['" KEY "']}", NULL);
    same(p, "fact.write", "{'key':'a','value':1,'depends_on':['" KEY "']}", NULL);
    same(p, "fact.retract", "{'key':'" KEY "'}", NULL);
    same(p, "fact.observe", "{'text':'The salary is now 100, not 90.','speaker':'user'}", NULL);
    same(p, "fact.write", "{'key':'" KEY "','value':1,'scope':'task','scope_id':'t'}", NULL);
    same(p, "fact.write", "{'key':'" KEY "','value':1,'scope':'draft','scope_id':'t'}", NULL);
    same_reads(p);
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        p->with.now_us = p->without.now_us += MINUTE_US;
        same(p, "fact.write", writes[i], NULL);
        same_reads(p);
    }
    same(p, "fact.write", "{'key':'a','value':1,'depends_on':['" KEY "']}", NULL);
    same(p, "fact.observe", "{'text':'Actually, the salary is now 77.','speaker':'user'}", NULL);
    (void)ask(&p->with, "fact.current", mine, &ids[0]);
    (void)ask(&p->without, "fact.current", mine, &ids[1]);
    same(p, "fact.get", "{'id':'@'}", ids);
    same(p, "fact.retract", "{'key':'" KEY "'}", NULL);
    same_reads(p);
    same(p, "fact.get", "{'id':'@'}", ids);
    same(p, "fact.retract", "{'key':'" KEY "'}", NULL);
    same(p, "fact.review", "{'id':'@','action':'confirm'}", ids);
    same(p, "fact.write", "{'key':'" KEY "','value':99}", NULL);
    same(p, "fact.write", "{'key':'b','value':1,'supersedes':['" KEY "']}", NULL);
    same(p, "fact.write", "{'key':'" KEY "','value':100}", NULL);
    same_reads(p);
}

static void close_pair(pair *p)
{
    facts_close(&p->with);
    facts_close(&p->without);
}

static const char identities[] =
    "{'user_name':'I','authority':'intern','session_id':'i'}"
    "|{'user_name':'H','authority':'CEO','session_id':'h','permissions':['hr']}";

static void set_identities(pair *p)
{
    loci_str rest = loci_str_of(identities);

    while (rest.len > 0) {
        loci_str each = lc_str_split(rest, '|', &rest);

        for (int i = 0; i < 2; i++)
            (void)facts_call(i == 0 ? &p->with : &p->without, "identity.set", "%.*s",
                             LC_STR_ARG(each));
    }
}

/* ---- Kinds of hidden facts ------------------------------------------------------------------- */

/* How a fact is hidden, and what became of it. Steps of those who see it, '|' between them. */
static const char *const kinds[] = {
    "fact.write {'key':'@','value':90,'min_read_authority':'manager'}",
    "fact.write {'key':'@','value':90,'required_permission':'hr','session_id':'h'}",
    "fact.write {'key':'@','value':90,'min_read_authority':'manager','is_constraint':true}",
    "fact.write {'key':'@','value':90,'min_read_authority':'manager','multi':true}"
    "|fact.write {'key':'@','value':91}",
    "fact.write {'key':'@','value':90,'min_read_authority':'manager'}"
    "|fact.retract {'key':'@'}",
    "fact.write {'key':'@','value':90,'min_read_authority':'manager'}"
    "|fact.write {'key':'took','value':1,'supersedes':['@'],'min_read_authority':'manager'}",
    "fact.write {'key':'@','value':90,'min_read_authority':'manager',"
    "'valid_until':'2023-11-14T22:13:30Z'}",
    "fact.write {'key':'@','value':90,'min_read_authority':'manager'}"
    "|fact.write {'key':'@','value':91,'trust':'web'}",
};

static void hide(pair *p, const char *steps)
{
    loci_str rest = loci_str_of(steps);

    while (rest.len > 0) {
        loci_str args, step = lc_str_split(rest, '|', &rest);
        loci_str operation = lc_str_split(step, ' ', &args);

        do_above(p, test_format("%.*s", LC_STR_ARG(operation)),
                 test_format("%.*s", LC_STR_ARG(args)));
    }
}

static void probe_kind(const char *kind, bool is_capped)
{
    pair p;

    open_pair(&p);
    set_identities(&p);
    hide(&p, kind);
    p.with.now_us = p.without.now_us += MINUTE_US;
    if (is_capped) {
        p.with.ceiling = p.without.ceiling = "guest";
        p.session = "";
    }
    probe(&p);
    p.with.ceiling = p.without.ceiling = NULL;
    close_pair(&p);
}

TEST(fact_hidden, a_session_below_cannot_tell_that_a_key_is_used)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        probe_kind(kinds[i], false);
}

TEST(fact_hidden, a_capped_token_cannot_tell_that_a_key_is_used)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        probe_kind(kinds[i], true);
}

/* ---- From above ------------------------------------------------------------------------------ */

static const char *list_values(facts *f, const char *operation, const char *args)
{
    loci_str answer = facts_call(f, operation, "%s", args), value;
    const char *name = strcmp(operation, "fact.claims") == 0 ? "claims" : "facts", *all = "";

    for (int i = 0; (value = test_member(answer, test_format("%s.%d.value", name, i))).len > 0; i++)
        all = test_format("%s%.*s ", all, LC_STR_ARG(value));
    return all;
}

#define LOW ",'session_id':'i'}"
#define HIGH ",'session_id':'m'}"

static void open_levels(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
    facts_call(f, "identity.set", "{'user_name':'I','authority':'intern','session_id':'i'}");
    facts_call(f, "identity.set", "{'user_name':'M','authority':'manager','session_id':'m'}");
}

/* What a caller below says is not lost, and changes nothing for those above. */
TEST(fact_hidden, what_is_said_below_is_a_claim_above)
{
    const char *low;
    loci_str seen;
    facts f;

    open_levels(&f);
    facts_write(&f, "created", "{'key':'pay','value':90,'min_read_authority':'manager'" HIGH);
    low = facts_write(&f, "created", "{'key':'pay','value':1" LOW);
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay'" HIGH), "90");
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay'" LOW), "1");
    CHECK_STR_EQ(list_values(&f, "fact.list", "{'limit':50" HIGH), "90 ");
    CHECK_STR_EQ(list_values(&f, "fact.list", "{'limit':50" LOW), "1 ");
    CHECK_STR_EQ(list_values(&f, "fact.claims", "{'limit':50" HIGH), "1 ");
    CHECK_STR_EQ(list_values(&f, "fact.claims", "{'key':'pay'" HIGH), "1 ");
    CHECK_STR_EQ(list_values(&f, "fact.claims", "{'key':'pay'" LOW), "");
    seen = facts_call(&f, "fact.get", "{'id':'%s'" HIGH, low);
    CHECK_STR_EQ(test_member_text(seen, "status"), "claim");
    seen = facts_call(&f, "fact.get", "{'id':'%s'" LOW, low);
    CHECK_STR_EQ(test_member_text(seen, "status"), "valid");
    /* A new value above, for the same readers, leaves it alone; so does a task of its own. */
    facts_write(&f, "superseded", "{'key':'pay','value':95" HIGH);
    facts_write(&f, "superseded", "{'key':'pay','value':2" LOW);
    facts_write(&f, "shadowed", "{'key':'pay','value':3,'scope':'task','scope_id':'t'" LOW);
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay'" HIGH), "95");
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay','scope':'task','scope_id':'t'" HIGH), "95");
    CHECK_STR_EQ(list_values(&f, "fact.list", "{'scope':'task','scope_id':'t'" HIGH), "95 ");
    CHECK_STR_EQ(list_values(&f, "fact.list", "{'scope':'task','scope_id':'t'" LOW), "3 ");
    facts_call(&f, "fact.retract", "{'key':'pay','scope':'task','scope_id':'t'" LOW);
    /* It outlasts the hidden fact and does not become valid for those above. */
    facts_call(&f, "fact.retract", "{'key':'pay'" HIGH);
    seen = facts_call(&f, "fact.current", "{'key':'pay'" HIGH);
    CHECK_STR_EQ(test_member_text(seen, "status"), "retracted");
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay'" LOW), "2");
    /* Those above can end it, by its id or with a fact that all may read. */
    low = facts_write(&f, "superseded", "{'key':'pay','value':4" LOW);
    facts_call(&f, "fact.retract", "{'id':'%s'" HIGH, low);
    facts_write(&f, "created", "{'key':'pay','value':5" LOW);
    facts_write(&f, "created", "{'key':'pay','value':6,'min_read_authority':'guest'" HIGH);
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay'" LOW), "6");
    CHECK_STR_EQ(facts_value(&f, "{'key':'pay'" HIGH), "6");
    CHECK_STR_EQ(list_values(&f, "fact.list", "{'limit':50" LOW), "6 ");
    CHECK_STR_EQ(list_values(&f, "fact.history", "{'key':'pay'" LOW), "1 2 4 5 6 ");
    facts_close(&f);
}

static void check_readers(facts *f, const char *const values[5])
{
    static const char *const readers[] = {"guest", "intern", "manager", "hr", "boss"};

    for (size_t i = 0; i < 5; i++) {
        CHECK_STR_EQ(facts_value(f, test_format("{'key':'k','session_id':'%s'}", readers[i])),
                     values[i]);
        CHECK_STR_EQ(list_values(f, "fact.list", test_format("{'session_id':'%s'}", readers[i])),
                     test_format("%s ", values[i]));
    }
}

/* Three levels: each sees the fact of the highest level that it is cleared for. */
TEST(fact_hidden, every_reader_sees_one_fact)
{
    static const char identity[] =
        "{'user_name':'U','authority':'%s','permissions':%s,'session_id':'%s'}";
    facts f;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "identity.set", identity, "guest", "[]", "guest");
    facts_call(&f, "identity.set", identity, "intern", "[]", "intern");
    facts_call(&f, "identity.set", identity, "manager", "[]", "manager");
    facts_call(&f, "identity.set", identity, "guest", "[\"hr\"]", "hr");
    facts_call(&f, "identity.set", identity, "manager", "[\"hr\"]", "boss");
    facts_write(&f, "created",
                "{'key':'k','value':1,'required_permission':'hr','session_id':'hr'}");
    facts_write(&f, "created",
                "{'key':'k','value':2,'min_read_authority':'intern','session_id':'intern'}");
    facts_write(&f, "created", "{'key':'k','value':3,'session_id':'guest'}");
    check_readers(&f, (const char *const[]){"3", "2", "2", "1", "1"});
    /* A new version is for those who saw the one before. */
    facts_write(&f, "superseded", "{'key':'k','value':10,'session_id':'hr'}");
    facts_write(&f, "superseded", "{'key':'k','value':20,'session_id':'manager'}");
    check_readers(&f, (const char *const[]){"3", "20", "20", "10", "10"});
    facts_write(&f, "superseded", "{'key':'k','value':11,'session_id':'boss'}");
    facts_write(&f, "superseded", "{'key':'k','value':30,'session_id':'guest'}");
    check_readers(&f, (const char *const[]){"30", "20", "20", "11", "11"});
    facts_close(&f);
}

/* ---- What was derived ------------------------------------------------------------------------ */

TEST(fact_hidden, derived_facts_are_those_that_the_reader_sees)
{
    const char *shared, *of_p, *secret, *base;
    loci_str seen;
    facts f;

    open_levels(&f);
    base = facts_write(&f, "created", "{'key':'base','value':1,'authority':'intern'" HIGH);
    shared = facts_write(&f, "created", "{'key':'shared','value':1,'depends_on':'base'" HIGH);
    of_p = facts_write(&f, "created",
                       "{'key':'own','value':1,'depends_on':'base','persona_id':'p'" HIGH);
    secret = facts_write(&f, "created",
                         "{'key':'secret','value':1,'depends_on':'base',"
                         "'min_read_authority':'manager'" HIGH);
    seen = facts_call(&f, "fact.current", "{'key':'base'" HIGH);
    CHECK_STR_EQ(test_member(seen, "derived_facts"),
                 test_format("[\"%s\",\"%s\"]", shared, secret));
    seen = facts_call(&f, "fact.current", "{'key':'base','persona_id':'p'" HIGH);
    CHECK_STR_EQ(test_member(seen, "derived_facts"),
                 test_format("[\"%s\",\"%s\",\"%s\"]", shared, of_p, secret));
    seen = facts_call(&f, "fact.get", "{'id':'%s'" LOW, base);
    CHECK_STR_EQ(test_member(seen, "derived_facts"), test_format("[\"%s\"]", shared));
    seen = facts_call(&f, "fact.list", "{'limit':1" LOW);
    CHECK_STR_EQ(test_member(seen, "facts.0.derived_facts"), test_format("[\"%s\"]", shared));
    /* Nor are the others counted; they need a review all the same. */
    seen = facts_call(&f, "fact.write", "{'key':'base','value':2" LOW);
    CHECK_STR_EQ(test_member_text(seen, "outcome"), "superseded");
    CHECK_STR_EQ(test_member(seen, "needs_review"), "1");
    seen = facts_call(&f, "fact.current", "{'key':'secret'" HIGH);
    CHECK_STR_EQ(test_member(seen, "needs_review"), "true");
    facts_close(&f);
}

/* A version that everybody may read was followed by one that not everybody may. */
TEST(fact_hidden, a_conflict_does_not_name_a_hidden_head)
{
    const char *open;
    facts f;

    open_levels(&f);
    open = facts_write(&f, "created", "{'key':'k','value':1" HIGH);
    facts_write(&f, "superseded", "{'key':'k','value':2,'min_read_authority':'manager'" HIGH);
    facts_fail(&f, LOCI_ECONFLICT, "not valid any more", "fact.retract",
               test_format("{'id':'%s'" LOW, open));
    CHECK_STR_EQ(f.err.data, "{\"head\":null}");
    facts_fail(&f, LOCI_ECONFLICT, "not valid any more", "fact.write",
               test_format("{'key':'l','value':1,'supersedes':'%s'" LOW, open));
    CHECK_STR_EQ(f.err.data, "{\"head\":null}");
    facts_fail(&f, LOCI_ECONFLICT, "the current fact is", "fact.retract",
               test_format("{'id':'%s'" HIGH, open));
    facts_close(&f);
}
