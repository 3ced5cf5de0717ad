/* lexicon.c - the lists, and the table of hashes that they are compiled into. */
#include "talk/lexicon.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/str.h"

#define SENSE_BYTES_MAX 64

static const char *const lists[LC_LISTS_COUNT] = {
    [LC_WORDS_STOP] =
        "a|about|again|all|also|am|an|and|any|are|aren't|as|at|be|been|before|being|but|by|"
        "came|can|can't|cannot|come|comes|could|couldn't|did|didn't|do|does|doesn't|don't|done|"
        "during|each|every|for|from|get|gets|getting|go|goes|going|gone|got|had|has|hasn't|"
        "have|haven't|having|he|he'd|he'll|he's|her|here|here's|him|his|how|i|i'd|i'll|i'm|"
        "i've|if|in|into|is|isn't|it|it'd|it'll|it's|its|just|know|let|let's|made|make|may|me|"
        "might|mine|more|most|must|my|need|needs|no|not|now|of|oh|ok|okay|on|once|one|one's|"
        "ones|only|or|other|our|ours|out|over|own|per|please|really|said|same|say|says|shall|"
        "she|she'd|she'll|she's|should|shouldn't|so|some|such|tell|than|that|that's|the|their|"
        "them|then|there|there's|these|they|they'd|they'll|they're|they've|think|this|those|to|"
        "told|too|under|until|up|us|very|via|want|wants|was|wasn't|we|we'd|we'll|we're|we've|"
        "well|went|were|weren't|what|what's|when|where|which|who|who's|whom|whose|why|will|"
        "with|won't|would|wouldn't|yes|you|you'd|you'll|you're|you've|your|yours",
    [LC_WORDS_DATES] =
        "apr|april|aug|august|dec|december|eod|feb|february|fri|friday|jan|january|jul|july|"
        "jun|june|mar|march|mon|monday|nov|november|oct|october|saturday|sep|sept|september|"
        "sunday|thu|thurs|thursday|today|tomorrow|tonight|tue|tues|tuesday|wed|wednesday",
    [LC_WORDS_STATES] =
        "accepted|active|approved|archived|available|blocked|cancelled|canceled|closed|"
        "complete|completed|confirmed|declined|delayed|denied|disabled|done|enabled|expired|"
        "failed|finished|fixed|frozen|halted|inactive|launched|live|offline|online|open|paused|"
        "pending|postponed|ready|rejected|released|resolved|revoked|scheduled|shipped|stopped|"
        "suspended|terminated|unavailable",
    [LC_WORDS_UNITS] =
        "attendees|bottles|boxes|cars|chairs|cm|copies|cups|day|days|degrees|engineers|feet|"
        "floor|floors|gb|grams|guests|hour|hours|hrs|items|kg|kilo|kilometers|kilometres|kilos|"
        "km|licenses|litres|liters|mb|members|meters|metres|mg|miles|mins|minute|minutes|ml|"
        "month|months|orders|pages|people|points|quarter|quarters|rooms|seats|seconds|servers|"
        "sprints|tables|tickets|units|users|week|weeks|year|years",
    [LC_WORDS_RELATIVE] = "coming|following|next|this",
    [LC_WORDS_CURRENCIES] =
        "bucks|cents|dollar|dollars|eur|euro|euros|francs|gbp|pence|pound|pounds|quid|usd|yen",
    [LC_WORDS_ATTRIBUTES] =
        "address|age|allergies|allergy|bank|birthday|boss|branch|budget|car|city|color|colour|"
        "company|country|currency|database|deadline|diet|doctor|editor|email|employer|"
        "framework|goal|hometown|job|landlord|language|location|manager|name|nickname|number|"
        "partner|phone|plan|price|role|salary|school|shell|size|team|timezone|"
        "title|username|venue|version|wife|husband|zip|postcode|password",
    [LC_WORDS_ABBREVIATIONS] = "mr|mrs|ms|dr|prof|st|rev|sgt|lt|jr|sr|vs",
    [LC_WORDS_STATUS] = "phase|stage|state|status",
    [LC_WORDS_SUPPOSING] =
        "almost|assume|assuming|brainstorm|consider|considering|could|draft|dream|either|"
        "estimate|eventually|example|guess|guessing|hypothetical|hypothetically|if|imagine|"
        "lets|likely|maybe|might|mightn't|or|otherwise|perhaps|possibly|potentially|presumably|"
        "pretend|probably|proposal|propose|proposed|roughly|should|someday|sometimes|suggest|"
        "suggested|suppose|supposed|supposedly|supposing|tentative|tentatively|theoretically|"
        "thinking|unless|unsure|usually|whatever|whenever|whether|wonder|wondering|would|"
        "wouldn't",
    [LC_WORDS_WISHING] =
        "aim|aiming|can't|fear|hope|hoped|hopefully|hopes|hoping|i'd|ideally|intend|love|loved|"
        "need|needs|ought|plan|planning|prefer|preferably|rather|they'd|tried|try|trying|want|"
        "wanted|wants|we'd|wish|wished|wishes|you'd|he'd|she'd",
    [LC_WORDS_PAST] =
        "ago|back|before|did|earlier|ended|former|formerly|had|initially|last|once|original|"
        "originally|previous|previously|started|then|used|was|wasn't|were|weren't|went|"
        "yesterday",
    [LC_WORDS_DENYING] =
        "ain't|aren't|can't|cannot|couldn't|didn't|doesn't|don't|hardly|hasn't|haven't|isn't|"
        "neither|never|nobody|none|nor|not|nothing|shouldn't|wasn't|without|won't|wouldn't",
    [LC_WORDS_REPORTING] =
        "according|allegedly|apparently|asked|asks|believe|believes|claim|claimed|claims|heard|"
        "joked|joking|kidding|quote|quoted|read|reckon|reckons|reminds|reportedly|rumor|rumour|"
        "said|say|saying|says|seems|sounds|suggests|tell|telling|tells|thinks|thought|told|"
        "wrote",
    [LC_WORDS_OTHERS] =
        "another|each|every|everyone|her|his|its|other|someone|somebody|their|they|theirs|your|"
        "yours|he|she|you|you're|they're|he's|she's",
    [LC_WORDS_FILLERS] =
        "ah|alright|also|and|anyway|argh|btw|but|cool|fine|fyi|good|great|guys|ha|hello|hey|hi|"
        "hmm|just|listen|lol|look|note|oh|ok|okay|please|plus|quick|reminder|right|so|sure|"
        "thanks|then|thing|ugh|uh|um|well|yeah|yep|yes",
    [LC_WORDS_CORRECTING] =
        "actually|correction|no|nope|oops|scratch|sorry|wait|whoops|wrong|rather|meant|mean",
    [LC_WORDS_NEWS] = "announcement|change|correction|heads-up|news|reminder|update|updated",
    [LC_WORDS_NOW] =
        "currently|effective|finally|new|now|nowadays|officially|onwards|updated|revised|latest",
    [LC_WORDS_OWN] = "my|our",
    [LC_WORDS_DETERMINERS] = "my|our|the|this|that",
    [LC_WORDS_COPULAS] = "are|becomes|equals|is|remains|stands",
    [LC_WORDS_AUXILIARIES] =
        "been|being|did|get|gets|got|has|have|just|is|are|now|was|were|will|be",
    [LC_WORDS_CHANGE] =
        "bring|bump|change|correct|cut|delay|drop|extend|increase|lower|make|move|postpone|"
        "push|put|raise|reduce|rename|reschedule|revise|set|shift|switch|update",
    [LC_WORDS_CHANGED] =
        "amended|brought|bumped|changed|corrected|cut|decreased|delayed|dropped|extended|"
        "increased|lowered|migrated|moved|postponed|pushed|raised|reassigned|reduced|relocated|"
        "renamed|rescheduled|revised|risen|rose|fell|set|shifted|slipped|switched|transferred|"
        "updated|upgraded|went",
    [LC_WORDS_CHANGING] =
        "bumping|changing|cutting|delaying|extending|increasing|lowering|moving|postponing|"
        "pushing|raising|reducing|rescheduling|shifting|switching|updating",
    [LC_WORDS_DECIDING] =
        "choose|choosing|do|doing|go|going|pick|proceed|proceeding|stick|sticking|take|try|use",
    [LC_WORDS_DECIDED] = "agreed|chose|decided|finalised|finalized|picked|selected|settled",
    [LC_WORDS_PARTICLES] = "again|back|down|forward|out|over|recently|up",
    [LC_WORDS_PRONOUNS] = "it|it's|that|that's|this|it'll|them",
    [LC_WORDS_SPEAKERS] = "i|i'm|i've|i'll|we|we're|we've|we'll|let's|they|they've|they're",
    [LC_WORDS_TRAILERS] =
        "again|already|anyway|btw|effective|everyone|folks|from|fyi|guys|however|instead|"
        "itself|lol|now|onwards|please|since|sorry|starting|still|thanks|though|today|tho|too|"
        "actually|then|anymore|these|as|by|there|here|ok|okay|finally|officially|until|till|"
        "because|due|after",
    [LC_WORDS_QUALIFIERS] =
        "above|below|each|either|except|for|if|less|more|most|only|or|plus|than|unless|when|"
        "while|with|without|whether|like|about|around|roughly|approximately",
    [LC_WORDS_JOINTS] =
        "and|but|he|i|it|it's|he's|she|so|that|they|we|which|who|you|where|i'm|we're",
    [LC_WORDS_SINCE] = "as|effective|from|since|starting",
    [LC_WORDS_CLAUSES] = "and|but|i'm|i've|it's|my|our|so|that's|we're|we've",
    [LC_WORDS_NEUTRAL] = "actual|address|current|main|new|number|official|own|primary|usual",
    [LC_WORDS_REPLACING] = "forget|instead|not|rather|scratch",
    [LC_WORDS_LEARNING] = "called|deadline|due|im|ive|launch|me|my|our|release",
    [LC_WORDS_MATERIAL] =
        "bio|character|characters|copywriting|dialogue|excerpt|fictional|forwarded|hypothetical|"
        "hypothetically|imagine|imagining|improvise|lyrics|monologue|narrator|paraphrase|pasted|"
        "persona|poem|pretend|proofread|protagonist|quote|rephrase|rewrite|role-play|role-playing|"
        "roleplay|storyline|summarise|summarize|suppose|transcript|translate|verse|writes|wrote",
    [LC_WORDS_COMPOSING] = "act|compose|draft|essay|generate|letter|say|says|story|write",
    [LC_WORDS_JOKING] =
        "haha|hahaha|hehe|jk|joking|kidding|lmao|lol|lolol|psych|rofl|sarcasm|sike|xd|yeah-right",
    [LC_WORDS_HEDGING] =
        "apparently|basically|figuratively|guess|honestly|imagine|kinda|literally|maybe|perhaps|"
        "practically|pretend|probably|seems|somehow|suppose|supposedly|technically|think|totally|"
        "whatever|wish|wonder",
    [LC_WORDS_CUTTING] = "although|because|but|cause|cuz|since|so|though|whereas|which|who|yet",
    [LC_WORDS_JOINING] = "and|plus",
    [LC_WORDS_LIMITING] = "anymore|if|than|unless|until|when|while",
    [LC_WORDS_REFUSING] = "cant|dont|no",
    [LC_WORDS_TELLING] =
        "adore|always|am|are|can't|cannot|collect|commute|daily|decided|despise|detest|"
        "dislike|don't|dont|drive|enjoy|every|got|gotta|graduated|grew|hate|have|"
        "launch|lead|like|live|loathe|love|manage|migrated|moved|must|need|nightly|normally|"
        "on|once|own|play|prefer|promised|raised|rent|report|run|settled|speak|start|studied|"
        "study|switched|teach|times|twice|typically|upgraded|use|usually|volunteer|was|wear|"
        "weekly|will|work",
    [LC_WORDS_SMALL] = "a|an|at|in|of|on|per|the|to|our|my|de|von|van|la",
    [LC_WORDS_PENDING] =
        "awaiting|outstanding|pending|tbc|tbd|todo|unclear|undecided|unfinished|unresolved|"
        "waiting",
    [LC_WORDS_KIN] =
        "accountant|aunt|boss|boyfriend|brother|coach|cofounder|co-founder|colleague|"
        "coworker|co-worker|cousin|dad|daughter|dentist|doctor|father|fiance|fiancee|flatmate|"
        "friend|girlfriend|grandfather|grandma|grandmother|grandpa|husband|landlord|lawyer|"
        "manager|mentor|mom|mother|mum|neighbor|neighbour|nephew|niece|roommate|sister|"
        "son|supervisor|teacher|teammate|therapist|uncle|wife",
    [LC_WORDS_GLAD] =
        "amazing|awesome|brilliant|congrats|delighted|excellent|excited|fantastic|glad|grateful|"
        "great|happy|love|lovely|perfect|pleased|relieved|thank|thanks|wonderful|yay",
    [LC_WORDS_TROUBLED] =
        "afraid|angry|annoyed|annoying|anxious|awful|broken|confused|desperate|disappointed|"
        "exhausted|failing|frustrated|frustrating|hate|horrible|nervous|overwhelmed|sad|scared|"
        "sick|stressed|stuck|terrible|tired|unhappy|upset|worried|worse|worst|ugh",
};

/* "one" is missing: it mostly means a person, or the thing spoken of. */
static const char numbers[] =
    "two=2|third=3|three=3|four=4|fourth=4|fifth=5|five=5|six=6|sixth=6|seven=7|seventh=7|eight=8|"
    "eighth=8|nine=9|ninth=9|ten=10|tenth=10|eleven=11|eleventh=11|twelfth=12|twelve=12|"
    "thirteen=13|thirteenth=13|fourteen=14|fourteenth=14|fifteen=15|fifteenth=15|sixteen=16|"
    "sixteenth=16|seventeen=17|seventeenth=17|eighteen=18|eighteenth=18|nineteen=19|nineteenth=19|"
    "twentieth=20|twenty=20|thirtieth=30|thirty=30|forty=40|fifty=50|sixty=60|seventy=70|"
    "eighty=80|ninety=90|hundred=100|thousand=1000";

const lc_implication lc_implications[] = {
    {"moved to|relocated to|live in|now live in|based in|living in|live at|now live at",
     "city|town|home|location|address|home_address"},
    {"work for|work at|now work for|now work at|joined|started at|just joined|just started at",
     "employer|company|workplace"},
    {"turned|just turned", "age"},
    {"drive a|drive an|now drive a|now drive an", "car|vehicle"},
    {"use|now use|switched to|moved over to|migrated to|am on|are on",
     "editor|tool|database|framework"},
};
const size_t lc_implication_count = sizeof lc_implications / sizeof *lc_implications;

const char lc_phrases_aside_open[] =
    "hold on|hang on|one sec|one second|quick aside|side note|sidenote|by the way|unrelated|"
    "on another note|on a different note|different topic|before i forget|before i go on|excuse me|"
    "sorry to interrupt|something else|quick interruption|need to step away|interrupting";
const char lc_phrases_aside_close[] =
    "back to|anyway back|anyway where|where were we|where was i|as i was saying|returning to|"
    "resuming|let's get back|let's return|now back";
const char lc_phrases_play_open[] =
    "brainstorm|brainstorming|brainstorming session|hypothetically|just exploratory|just exploring|"
    "purely hypothetical|thought experiment|role-play|roleplay|sandbox|what-if|thinking out loud|"
    "let's imagine|let's pretend|let's speculate|for the sake of argument";
const char lc_phrases_play_close[] =
    "that's enough|enough brainstorming|back to reality|real commitments|leaving the sandbox|"
    "out of the sandbox|brainstorm over|enough pretending|in reality|for real now|"
    "stop the role-play|enough speculation";

const char lc_phrases_below[] = "deputy|assistant|associate|acting|junior|trainee|interim";
const char lc_phrases_outsiders[] =
    "patient|client|customer|parent|tenant|guest|visitor|family|member|resident";
const char lc_marks_withdrawn[] =
    "invalid|retracted|superseded|cancelled|canceled|outdated|deprecated|obsolete|withdrawn|void|"
    "expired|revoked";
const char lc_marks_restricted[] =
    "restricted|confidential|private|secret|internal|classified|sensitive";
const char lc_marks_excluded[] = "not for|hidden from";
const char lc_marks_organization[] = "tenant:|organization:|organisation:|org:|company:";
const char lc_marks_supposed[] =
    "sandbox|draft|hypothetical|brainstorm|simulation|simulated|what-if|mock|role-play|roleplay|"
    "rehearsal|test";
const char lc_marks_scope[] = "scope:";

uint64_t lc_word_key(loci_str lower)
{
    return lc_hash64(lower);
}

uint64_t lc_sense_key(char class, loci_str form)
{
    char tagged[SENSE_BYTES_MAX + 1];

    LC_ASSERT(form.len <= SENSE_BYTES_MAX);
    tagged[0] = class;
    memcpy(tagged + 1, form.ptr, form.len);
    return lc_hash64((loci_str){tagged, form.len + 1});
}

/* The place of the key, or the free one where it belongs. */
static size_t place_of(const lc_lexicon *lexicon, uint64_t key)
{
    size_t place = key & (LC_LEXICON_PLACES - 1);

    while (lexicon->places[place].key != 0 && lexicon->places[place].key != key)
        place = (place + 1) & (LC_LEXICON_PLACES - 1);
    return place;
}

void lc_lexicon_init(lc_lexicon *lexicon)
{
    loci_str rest = loci_str_of(numbers);

    memset(lexicon, 0, sizeof *lexicon);
    for (size_t list = 0; list < LC_LISTS_COUNT; list++) {
        loci_str words = loci_str_of(lists[list]);

        while (words.len > 0) {
            loci_str word = lc_str_split(words, '|', &words);
            uint64_t key = lc_word_key(word);
            lc_lexeme *lexeme = &lexicon->places[place_of(lexicon, key)];

            lexeme->key = key;
            lexeme->lists |= UINT64_C(1) << list;
        }
    }
    while (rest.len > 0) {
        loci_str digits, word = lc_str_split(lc_str_split(rest, '|', &rest), '=', &digits);
        uint64_t key = lc_word_key(word);
        lc_lexeme *lexeme = &lexicon->places[place_of(lexicon, key)];
        int64_t number = 0;
        bool is_number = lc_str_to_i64(digits, &number);

        LC_ASSERT(is_number);
        lexeme->key = key;
        lexeme->number = (uint32_t)number;
    }
}

lc_lexeme lc_lexicon_find(const lc_lexicon *lexicon, uint64_t key)
{
    return lexicon->places[place_of(lexicon, key)];
}
