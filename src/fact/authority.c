/* authority.c - the tables. Titles are whole: "Account Executive" is no executive, and "Project
 * Manager" commands nobody, so parts of a title say nothing. */
#include "fact/authority.h"

#include "base/str.h"

const lc_setting lc_setting_authority_titles = {
    .name = "authority.titles",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .max = 4000,
    .help = "Ranks of job titles in addition to the built-in ones, as \"title=rank, "
            "title=rank\"",
    .is_live = true,
    .is_per_tenant = true,
};

typedef struct title {
    const char *name; /* Lower case; words are parted by one space. */
    lc_rank rank;
} title;

static const title ranks[] = {
    {"policy", LC_RANK_POLICY},     {"executive", LC_RANK_EXECUTIVE},
    {"admin", LC_RANK_ADMIN},       {"manager", LC_RANK_MANAGER},
    {"employee", LC_RANK_EMPLOYEE}, {"intern", LC_RANK_INTERN},
    {"guest", LC_RANK_GUEST},       {NULL, 0},
};

static const title titles_known[] = {
    {"ceo", LC_RANK_EXECUTIVE},
    {"cfo", LC_RANK_EXECUTIVE},
    {"coo", LC_RANK_EXECUTIVE},
    {"cto", LC_RANK_EXECUTIVE},
    {"cio", LC_RANK_EXECUTIVE},
    {"ciso", LC_RANK_EXECUTIVE},
    {"cmo", LC_RANK_EXECUTIVE},
    {"cpo", LC_RANK_EXECUTIVE},
    {"cro", LC_RANK_EXECUTIVE},
    {"chro", LC_RANK_EXECUTIVE},
    {"clo", LC_RANK_EXECUTIVE},
    {"chief executive officer", LC_RANK_EXECUTIVE},
    {"chief financial officer", LC_RANK_EXECUTIVE},
    {"chief operating officer", LC_RANK_EXECUTIVE},
    {"chief technology officer", LC_RANK_EXECUTIVE},
    {"chief information officer", LC_RANK_EXECUTIVE},
    {"president", LC_RANK_EXECUTIVE},
    {"vice president", LC_RANK_EXECUTIVE},
    {"vp", LC_RANK_EXECUTIVE},
    {"svp", LC_RANK_EXECUTIVE},
    {"evp", LC_RANK_EXECUTIVE},
    {"administrator", LC_RANK_ADMIN},
    {"director", LC_RANK_MANAGER},
    {"supervisor", LC_RANK_MANAGER},
    {"staff", LC_RANK_EMPLOYEE},
    {"trainee", LC_RANK_INTERN},
    {NULL, 0},
};

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' || c == '-' ? ' ' : c;
}

/* ASCII case, '_' and '-' do not matter. */
static bool is_same_word(loci_str a, loci_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (folded(a.ptr[i]) != folded(b.ptr[i]))
            return false;
    }
    return true;
}

static int find_rank(const title *table, loci_str name)
{
    for (; table->name != NULL; table++) {
        if (is_same_word(name, loci_str_of(table->name)))
            return (int)table->rank;
    }
    return 0;
}

/* 0 when the setting does not name it, or gives it no rank there is. */
static int find_set_rank(loci_str titles, loci_str name)
{
    loci_str rest = titles;

    while (rest.len > 0) {
        loci_str rank;
        loci_str each = lc_str_split(lc_str_split(rest, ',', &rest), '=', &rank);

        if (is_same_word(lc_str_trim(each), name))
            return find_rank(ranks, lc_str_trim(rank));
    }
    return 0;
}

lc_authority lc_authority_of(loci_str name, loci_str titles)
{
    loci_str word = lc_str_trim(name);
    int rank;

    if (word.len == 0)
        return (lc_authority){0};
    rank = find_rank(ranks, word);
    if (rank == 0)
        rank = find_set_rank(titles, word);
    if (rank == 0)
        rank = find_rank(titles_known, word);
    return (lc_authority){.name = name, .rank = rank != 0 ? rank : (int)LC_RANK_GUEST};
}

static void lower(lc_authority *to, lc_authority bound)
{
    if (bound.rank != 0 && bound.rank < to->rank)
        *to = bound;
}

lc_authority lc_authority_effective(const lc_authority_bounds *bounds)
{
    lc_authority effective = bounds->argument;

    if (effective.rank == 0)
        effective = bounds->identity;
    if (effective.rank == 0)
        effective = (lc_authority){LC_STR("manager"), LC_RANK_MANAGER};
    lower(&effective, bounds->identity);
    lower(&effective, bounds->ceiling);
    return effective;
}

/* ---- Trust ----------------------------------------------------------------------------------- */

static const char *const trusts[] = {"user", "system", "tool", "web", "model"};

#define TRUST_COUNT (sizeof trusts / sizeof trusts[0])

/* How far down it stands; what is not known stands lowest. */
static size_t trust_place(loci_str trust)
{
    size_t place = 0;

    while (place < TRUST_COUNT - 1 && !lc_str_is(trust, trusts[place]))
        place++;
    return place;
}

bool lc_trust_is_trusted(loci_str trust)
{
    return trust_place(trust) <= 1;
}

loci_str lc_trust_capped(loci_str trust, loci_str cap)
{
    loci_str said = trust.len > 0 ? trust : LC_STR("user");

    return cap.len > 0 && trust_place(said) < trust_place(cap) ? cap : said;
}
