/* seniority.c - the table of titles, one step for each level of a usual organisation. */
#include "context/seniority.h"

typedef struct level {
    const char *title; /* Lower case; '_' and '-' are spaces. */
    int rank;
} level;

static const level levels[] = {
    {"policy", 100}, {"law", 100}, {"regulation", 100}, {"regulator", 100}, {"government", 98},
    {"ministry", 98}, {"marshal", 97}, {"inspector", 96}, {"board", 95}, {"council", 95},
    {"ceo", 92}, {"founder", 92}, {"owner", 92}, {"chairman", 92}, {"chairwoman", 92},
    {"chair", 92}, {"proprietor", 92}, {"president", 91}, {"chancellor", 91}, {"c level", 90},
    {"c suite", 90}, {"cfo", 90}, {"coo", 90}, {"cto", 90}, {"cio", 90}, {"ciso", 90},
    {"cmo", 90}, {"cpo", 90}, {"cro", 90}, {"chro", 90}, {"clo", 90}, {"chief", 90},
    {"district", 88}, {"superintendent", 88}, {"commissioner", 88}, {"minister", 88}, {"evp", 82},
    {"svp", 81}, {"vp", 80}, {"vice president", 80}, {"executive", 80}, {"executives", 80},
    {"partner", 80}, {"provost", 78}, {"colonel", 78}, {"director", 70}, {"directors", 70},
    {"head", 70}, {"dean", 70}, {"headteacher", 70}, {"headmaster", 70}, {"captain", 70},
    {"producer", 70}, {"admin", 65}, {"administrator", 65}, {"maintainer", 65}, {"principal", 60},
    {"manager", 60}, {"managers", 60}, {"supervisor", 60}, {"matron", 60}, {"editor", 60},
    {"professor", 60}, {"foreman", 58}, {"lead", 55}, {"leader", 55}, {"lieutenant", 55},
    {"sous", 52}, {"organiser", 50}, {"organizer", 50}, {"sergeant", 50}, {"doctor", 50},
    {"surgeon", 50}, {"attorney", 50}, {"counsel", 50}, {"senior", 45}, {"employee", 40},
    {"employees", 40}, {"staff", 40}, {"engineer", 40}, {"developer", 40}, {"designer", 40},
    {"analyst", 40}, {"specialist", 40}, {"agent", 40}, {"rep", 40}, {"representative", 40},
    {"associate", 40}, {"coordinator", 40}, {"individual", 40}, {"support", 40}, {"team", 40},
    {"nurse", 40}, {"teacher", 40}, {"chef", 40}, {"cook", 40}, {"officer", 40}, {"lecturer", 40},
    {"researcher", 40}, {"technician", 40}, {"operator", 40}, {"clerk", 38}, {"caretaker", 38},
    {"member", 38}, {"assistant", 35}, {"contributor", 30}, {"committer", 40}, {"junior", 30},
    {"apprentice", 25}, {"volunteer", 25}, {"student", 20}, {"pupil", 20}, {"intern", 20},
    {"trainee", 20}, {"contractor", 20}, {"consultant", 20}, {"consulting", 20},
    {"freelancer", 20}, {"first time", 18}, {"newcomer", 18}, {"external", 15}, {"vendor", 15},
    {"supplier", 15}, {"customer", 15}, {"client", 15}, {"parent", 15}, {"patient", 15},
    {"guest", 10}, {"visitor", 10}, {"mayor", 92}, {"governor", 92}, {"judge", 90},
    {"magistrate", 88}, {"referee", 80}, {"umpire", 80}, {"treasurer", 70}, {"warden", 70},
    {"coach", 60}, {"conductor", 60}, {"auditor", 60}, {"pastor", 60}, {"attending", 55},
    {"architect", 50}, {"registrar", 45}, {"pharmacist", 45}, {"resident", 42}, {"tutor", 40},
    {"midwife", 40}, {"accountant", 40}, {"electrician", 40}, {"plumber", 40}, {"player", 30},
    {"paralegal", 35}, {"helper", 25},
};

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' || c == '-' ? ' ' : c;
}

static int rank_of(void *ctx, loci_str title)
{
    (void)ctx;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        size_t same = 0;

        while (same < title.len && levels[i].title[same] != '\0' &&
               folded(title.ptr[same]) == levels[i].title[same])
            same++;
        if (same == title.len && levels[i].title[same] == '\0')
            return levels[i].rank;
    }
    return -1;
}

lc_ranking lc_seniority(void)
{
    return (lc_ranking){.rank = rank_of, .ctx = NULL};
}
