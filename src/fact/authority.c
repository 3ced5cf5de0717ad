/* authority.c - the table of titles. Titles match as a whole: "Account Executive" is not an
 * executive, and a "Project Manager" has no authority over others, so a part of a title grants no
 * rank. */
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

static const char *const rank_names[] = {
    [LC_RANK_GUEST] = "guest",     [LC_RANK_INTERN] = "intern", [LC_RANK_EMPLOYEE] = "employee",
    [LC_RANK_MANAGER] = "manager", [LC_RANK_ADMIN] = "admin",   [LC_RANK_EXECUTIVE] = "executive",
    [LC_RANK_POLICY] = "policy",
};

/* Titles of one level, highest first. `rank` grants rights, so only titles that mean the same in
 * every organisation have one above guest. `weight` only orders the people a text quotes; a higher
 * rank never has a lower weight. */
typedef struct level {
    lc_rank rank;
    int weight;
    const char *titles; /* Lower case, with one space between words and '|' between titles. */
} level;

static const level levels[] = {
    {LC_RANK_POLICY, 100, "policy"},
    {LC_RANK_GUEST, 100, "law|regulation|regulator"},
    {LC_RANK_GUEST, 99, "prime minister"},
    {LC_RANK_GUEST, 98, "government|ministry"},
    {LC_RANK_GUEST, 97, "marshal|court|tribunal"},
    {LC_RANK_GUEST, 96, "inspector|police"},
    {LC_RANK_GUEST, 95, "board|council|council leader"},
    {LC_RANK_GUEST, 93, "trustee"},
    {LC_RANK_EXECUTIVE, 92, "ceo|chief executive officer"},
    {LC_RANK_GUEST, 92,
     "founder|owner|chairman|chairwoman|chair|proprietor|mayor|governor|"
     "chairperson|managing director|managing partner|executive officer"},
    {LC_RANK_EXECUTIVE, 91, "president"},
    {LC_RANK_GUEST, 91, "chancellor|rector|co founder"},
    {LC_RANK_EXECUTIVE, 90,
     "cfo|coo|cto|cio|ciso|cmo|cpo|cro|chro|clo|chief financial officer|"
     "chief operating officer|chief technology officer|"
     "chief information officer"},
    {LC_RANK_GUEST, 90, "c level|c suite|chief|judge|editor in chief|bishop|senator|chief of"},
    {LC_RANK_GUEST, 88,
     "district|superintendent|commissioner|minister|magistrate|sheriff|"
     "ambassador|general counsel"},
    {LC_RANK_GUEST, 85, "publisher|committee|general|senior partner"},
    {LC_RANK_EXECUTIVE, 82, "evp"},
    {LC_RANK_EXECUTIVE, 81, "svp"},
    {LC_RANK_GUEST, 81, "senior vp"},
    {LC_RANK_EXECUTIVE, 80, "vp|vice president|executive"},
    {LC_RANK_GUEST, 80, "partner|referee|umpire|commander"},
    {LC_RANK_GUEST, 78, "provost|colonel"},
    {LC_RANK_ADMIN, 75, "admin|administrator"},
    {LC_RANK_GUEST, 75,
     "legal counsel|compliance|compliance officer|safety officer|"
     "protection officer"},
    {LC_RANK_GUEST, 72, "senior director|chief engineer|executive chef|major"},
    {LC_RANK_MANAGER, 70, "director"},
    {LC_RANK_GUEST, 70,
     "head|dean|headteacher|headmaster|captain|producer|treasurer|warden|"
     "leader of|head chef|vicar|skipper"},
    {LC_RANK_GUEST, 66, "general manager"},
    {LC_RANK_GUEST, 65, "maintainer|bursar|chief accountant|security officer"},
    {LC_RANK_GUEST, 63, "regional manager|area manager"},
    {LC_RANK_GUEST, 62, "senior manager"},
    {LC_RANK_MANAGER, 60, "manager|supervisor"},
    {LC_RANK_GUEST, 60,
     "principal|matron|editor|professor|coach|conductor|auditor|pastor|"
     "priest|landlord|landlady|curator|controller|product owner"},
    {LC_RANK_GUEST, 58, "foreman|pilot|project manager|product manager"},
    {LC_RANK_GUEST, 55,
     "lead|leader|lieutenant|attending|tech lead|team lead|barrister|"
     "stage manager"},
    {LC_RANK_GUEST, 52, "sous|sous chef|physician"},
    {LC_RANK_GUEST, 50,
     "organiser|organizer|sergeant|doctor|surgeon|attorney|counsel|architect|"
     "first officer|scrum master|gp|vet|dentist|solicitor|lawyer"},
    {LC_RANK_GUEST, 45, "senior|registrar|pharmacist|steward|copilot"},
    {LC_RANK_GUEST, 42,
     "resident|therapist|paramedic|secretary|account manager|dispatcher|"
     "buyer|planner|scientist|instructor|trainer"},
    {LC_RANK_EMPLOYEE, 40, "employee|staff"},
    {LC_RANK_GUEST, 40,
     "engineer|developer|designer|analyst|specialist|agent|rep|"
     "representative|associate|coordinator|individual|support|team|nurse|"
     "teacher|chef|cook|officer|lecturer|researcher|technician|operator|"
     "committer|tutor|midwife|accountant|electrician|plumber|keeper|reporter|"
     "journalist|columnist|copywriter|photographer|librarian|archivist|"
     "account executive|sales executive|marketing executive|baker|programmer|"
     "tester|postdoc|builder|carpenter|mechanic"},
    {LC_RANK_GUEST, 38,
     "clerk|caretaker|member|teller|driver|salesperson|seller|gardener|guard|"
     "singer|drummer"},
    {LC_RANK_GUEST, 36,
     "executive assistant|personal assistant|waiter|waitress|barista|"
     "bartender|worker"},
    {LC_RANK_GUEST, 35, "assistant|paralegal|farmhand|porter|cashier|stagehand"},
    {LC_RANK_GUEST, 30, "contributor|junior|player"},
    {LC_RANK_GUEST, 25, "apprentice|volunteer|helper"},
    {LC_RANK_INTERN, 20, "intern|trainee"},
    {LC_RANK_GUEST, 20,
     "student|pupil|contractor|consultant|consulting|freelancer|temp|rookie|"
     "cadet"},
    {LC_RANK_GUEST, 18, "first time|newcomer|subcontractor|novice"},
    {LC_RANK_GUEST, 15, "external|vendor|supplier|customer|client|parent|patient|tenant"},
    {LC_RANK_GUEST, 10, "guest|visitor"},
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

static int find_rank_name(loci_str name)
{
    for (int rank = LC_RANK_GUEST; rank <= LC_RANK_POLICY; rank++) {
        if (is_same_word(name, loci_str_of(rank_names[rank])))
            return rank;
    }
    return 0;
}

/* NULL for an unknown title. */
static const level *find_level(loci_str title)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        loci_str rest = loci_str_of(levels[i].titles);

        while (rest.len > 0) {
            if (is_same_word(title, lc_str_split(rest, '|', &rest)))
                return &levels[i];
        }
    }
    return NULL;
}

/* The rank that the setting gives the title; 0 if it gives none, or one that does not exist. */
static int find_set_rank(loci_str titles, loci_str name)
{
    loci_str rest = titles;

    while (rest.len > 0) {
        loci_str rank;
        loci_str each = lc_str_split(lc_str_split(rest, ',', &rest), '=', &rank);

        if (is_same_word(lc_str_trim(each), name))
            return find_rank_name(lc_str_trim(rank));
    }
    return 0;
}

lc_authority lc_authority_of(loci_str name, loci_str titles)
{
    loci_str word = lc_str_trim(name);
    const level *known;
    int rank;

    if (word.len == 0)
        return (lc_authority){0};
    rank = find_rank_name(word);
    if (rank == 0)
        rank = find_set_rank(titles, word);
    if (rank == 0) {
        known = find_level(word);
        rank = (int)(known != NULL ? known->rank : LC_RANK_GUEST);
    }
    return (lc_authority){.name = name, .rank = rank};
}

int lc_title_weight(loci_str title)
{
    const level *known = find_level(title);

    if (known == NULL && title.len > 3 && folded(title.ptr[title.len - 1]) == 's')
        known = find_level((loci_str){title.ptr, title.len - 1});
    return known != NULL ? known->weight : -1;
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

/* Position in `trusts`; an unknown word has the last one. */
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
