/* lexicon.c - the lists, and the table of hashes that they are compiled into. */
#include "talk/lexicon.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/str.h"

#define SENSE_BYTES_MAX 64

static const char *const lists[LC_LISTS_COUNT] = {
    [LC_WORDS_STOP] =
        "a|about|again|all|also|am|an|and|any|are|aren't|as|at|be|been|before|being|but|by|came|"
        "can|can't|cannot|come|comes|could|couldn't|did|didn't|do|does|doesn't|don't|done|during|"
        "each|every|for|from|get|gets|getting|go|goes|going|gone|got|had|has|hasn't|have|haven't|"
        "having|he|he'd|he'll|he's|her|here|here's|him|his|how|i|i'd|i'll|i'm|i've|if|in|into|is|"
        "isn't|it|it'd|it'll|it's|its|just|know|let|let's|made|make|may|me|might|mine|more|most|"
        "must|my|need|needs|no|not|now|of|oh|ok|okay|on|once|one|one's|ones|only|or|other|our|"
        "ours|out|over|own|per|please|really|said|same|say|says|shall|she|she'd|she'll|she's|"
        "should|shouldn't|so|some|such|tell|than|that|that's|the|their|them|then|there|there's|"
        "these|they|they'd|they'll|they're|they've|think|this|those|to|told|too|under|until|up|us|"
        "very|via|want|wants|was|wasn't|we|we'd|we'll|we're|we've|well|went|were|weren't|what|"
        "what's|when|where|which|who|who's|whom|whose|why|will|with|won't|would|wouldn't|yes|you|"
        "you'd|you'll|you're|you've|your|yours",
    [LC_WORDS_DATES] =
        "apr|april|aug|august|dec|december|eod|feb|february|fri|friday|jan|january|jul|july|jun|"
        "june|mar|march|mon|monday|nov|november|oct|october|saturday|sep|sept|september|sunday|"
        "thu|thurs|thursday|today|tomorrow|tonight|tue|tues|tuesday|wed|wednesday",
    [LC_WORDS_FILLERS] =
        "ah|alright|also|and|anyway|argh|btw|but|fine|good|great|ha|hey|hmm|now|oh|ok|okay|oops|"
        "right|so|sorry|then|ugh|uh|um|well|yeah|yes",
    [LC_WORDS_LAST_THIS] = "last|this",
    [LC_WORDS_DAY_TIMES] = "afternoon|evening|morning|night|time",
    [LC_WORDS_VALUE_ENDS] =
        "because|but|due|effective|from|if|instead|please|since|so|then|though|till|unless|until",
    [LC_WORDS_VALUE_LEADS] = "a|about|actually|an|from|now|the",
    [LC_WORDS_ARTICLES] = "a|an|my|our|the",
    [LC_WORDS_AMOUNT_LEADS] = "at|for|on",
    [LC_WORDS_NEXT_CLAUSE] =
        "and|as|he|i|i'm|i've|it|it's|just|mind|or|she|sorry|thanks|that|that's|they|this|we|"
        "we're|we've|which|who|you",
    [LC_WORDS_VALUE_TAILS] = "here|now|onwards|there|today",
    [LC_WORDS_TURNS] = "but|so",
    [LC_WORDS_MORE_OR_LESS] = "additional|extra|fewer|less|more",
    [LC_WORDS_SINCE] = "effective|from|of|since|until",
    [LC_WORDS_NEW] = "changed|correct|final|latest|new|revised|updated",
    [LC_WORDS_DEFINITE] = "my|our|the|your",
    [LC_WORDS_TAKE] = "filling|fills|standing|stands|stepping|steps|take|takes|taking|took",
    [LC_WORDS_COVER] = "covering|covers|replaces|replacing",
    [LC_WORDS_OVER] = "for|in|over|up",
    [LC_WORDS_TENTATIVE] = "draft|planned|preliminary|proposed|provisional|tentative|tentatively",
    [LC_WORDS_VALUE_JOINTS] = "at|for|in|is|on|to|with",
    [LC_WORDS_THIRD_PERSONS] = "he|her|his|other|she|their|they",
    [LC_WORDS_STATE_VERBS] = "are|has|have|is|will",
    [LC_WORDS_ATTRIBUTES] =
        "color|colour|contact|cost|deadline|duration|fee|lead|level|location|material|method|"
        "owner|place|plan|price|rate|state|tool|type|venue|window",
    [LC_WORDS_OTHERS] = "another|other|their",
    [LC_WORDS_PLAIN_KEY] = "current|customer|first|full|home|main|my|own|personal|primary|user",
    [LC_WORDS_WHENS] = "a|and|from|in|last|now|on|recently|since|this|today|yesterday",
    [LC_WORDS_WE] = "let's|please|we|we'll|we're",
    [LC_WORDS_VALUE_NOUNS] =
        "amount|count|date|deadline|estimate|figure|goal|limit|number|offer|plan|price|quote|rate|"
        "schedule|slot|target|time|total|value",
    [LC_WORDS_IT_IS] = "it'll|it's|that's",
    [LC_WORDS_ALSO] = "also|another|extra|more|or|too",
    [LC_WORDS_KEY_GENERIC] =
        "approach|choice|current|decision|detail|fact|info|item|new|note|preference|selected|"
        "stated|status|value",
    [LC_WORDS_SEGMENT_JOINTS] = "and|but|so",
    [LC_WORDS_KEY_KINDS] =
        "amount|count|date|day|due|height|length|name|number|quantity|size|start|time|total|weight",
    [LC_WORDS_POSSESSIVES] = "a|another|her|his|my|their|your",
    [LC_WORDS_CHANGES] =
        "actually|amended|back|become|brought|bump|bumped|change|changed|chose|correction|"
        "currently|cut|decided|decreased|down|dropped|extend|extended|fell|finally|forward|"
        "increase|increased|instead|lower|lowered|meant|move|moved|moving|official|officially|"
        "picked|postponed|push|pushed|raise|raised|rather|reduce|reduced|relocated|replace|"
        "replaced|rescheduled|revised|rose|said|selected|set|settled|shift|shifted|slipped|sorry|"
        "swap|swapped|switch|switched|update|updated|use|using|went",
    [LC_WORDS_NEUTRAL] =
        "actual|approach|choice|correct|current|decision|detail|exact|fact|final|full|info|item|"
        "latest|new|note|official|planned|preference|real|revised|right|selected|stated|status|"
        "total|updated|usual|value|whole",
    [LC_WORDS_COPULAS] =
        "adds|amounts|arrives|begins|closes|come|comes|costs|day|earlier|ends|falls|goes|happens|"
        "held|later|leaves|opens|place|remains|runs|serves|sooner|stands|starts|takes|totals|"
        "weighs",
    [LC_WORDS_NOT_OURS] =
        "another|aren't|could|every|had|her|his|if|isn't|never|not|other|their|typical|usually|"
        "was|were|would|your",
    [LC_WORDS_CURRENCIES] =
        "bucks|cent|cents|dollar|dollars|eur|euro|euros|francs|gbp|pence|pound|pounds|usd|yen",
    [LC_WORDS_CLOCK] = "o'clock|past|sharp",
    [LC_WORDS_RELATIVE] = "coming|following|last|next|this",
    [LC_WORDS_PER] = "a|an|per",
    [LC_WORDS_EACH] = "a|an|each|every|per",
    [LC_WORDS_NO] =
        "aren't|ban|banned|can't|cancel|cannot|deny|doesn't|don't|forbidden|halt|isn't|mustn't|"
        "never|no|nobody|none|not|prohibited|refuse|reject|stop|suspended|without|won't",
    [LC_WORDS_RULES] =
        "all|allowed|always|banned|can|can't|cannot|compulsory|every|fine|forbidden|keep|"
        "mandatory|may|must|need|needs|never|no|nobody|only|optional|remain|remains|required|"
        "shall|should|stay|stays",
    [LC_WORDS_BINDING] = "before|by|for|hit|on|until",
    [LC_WORDS_NOT_NOW] =
        "aim|below|did|expect|goal|got|had|hope|hopes|need|needs|target|want|wants|was|were|wish|"
        "yesterday",
    [LC_WORDS_SPEAKER] = "i|i'd|i'll|i'm|i've|me|mine|my",
    [LC_WORDS_TELLING] = "allowed|approved|promised|said|say|told",
    [LC_WORDS_PART_JOINTS] = "and|because|but|so",
    [LC_WORDS_EVENTS] = "ate|came|did|gave|got|had|made|met|ran|saw|sent|sold|took|was|went|were",
    [LC_WORDS_ADDITIONS] =
        "additional|again|also|another|both|each|either|extra|more|or|plus|second|too",
    [LC_WORDS_GOING_ON] = "goes|i'll|i'm|i've|instead|let's|now|so|still|then|we'll|we're|we've",
    [LC_WORDS_SAYING] = "announced|reports|said|says|shows|that|told|writes|wrote",
    [LC_WORDS_USES] = "at|by|from|in|is|on|the|to|use|using|with",
    [LC_WORDS_RECOUNT] = "again|leaves|makes|now|so",
    [LC_WORDS_SHOWS] = "reads|says",
    [LC_STEMS_STATUS] =
        "accept|activ|approv|archiv|availabl|block|cancel|clear|clos|complet|confirm|declin|delay|"
        "den|disabl|dismis|drop|enabl|expir|fail|finish|fix|freez|froz|halt|inactiv|launch|liv|"
        "mov|open|operation|outag|pas|paus|pend|postpon|ready|reject|releas|resolv|revok|schedul|"
        "ship|stop|suspend|terminat|unavailabl|withdrawn|work",
    [LC_STEMS_CHOICE] = "choos|instead|pick|prefer|use|using",
    [LC_STEMS_TIME_UNITS] = "day|hour|minut|month|quarter|sprint|week|year",
    [LC_STEMS_MEASURES] =
        "buck|cent|cm|degre|dollar|euro|franc|gram|kg|kilo|kilometr|km|litr|metr|mg|mil|ml|penc|"
        "percent|pound|quid|usd|yen",
};

/* "one" is missing: it mostly means somebody, or the thing spoken of. */
static const char numbers[] =
    "two=2|third=3|three=3|four=4|fourth=4|fifth=5|five=5|six=6|sixth=6|seven=7|seventh=7|eight=8|"
    "eighth=8|nine=9|ninth=9|ten=10|tenth=10|eleven=11|eleventh=11|twelfth=12|twelve=12|"
    "thirteen=13|thirteenth=13|fourteen=14|fourteenth=14|fifteen=15|fifteenth=15|sixteen=16|"
    "sixteenth=16|seventeen=17|seventeenth=17|eighteen=18|eighteenth=18|nineteen=19|nineteenth=19|"
    "twentieth=20|twenty=20|twenty-first=21|twenty-second=22|twenty-third=23|twenty-fourth=24|"
    "twenty-fifth=25|twenty-sixth=26|twenty-seventh=27|twenty-eighth=28|twenty-ninth=29|"
    "thirtieth=30|thirty=30|thirty-first=31|forty=40|fifty=50|sixty=60|seventy=70|eighty=80|"
    "ninety=90|hundred=100|thousand=1000";

const char lc_phrases_below[] = "deputy|assistant|associate|acting|junior|trainee|interim";
const char lc_phrases_per[] =
    "per the |per our |per |according to the |according to |as per the |as per |by order of the ";
const char lc_phrases_articles[] = "the |an |a |our |my ";
const char lc_phrases_says[] = " says | said | says: | told me | told us | insists | announced ";
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
const char lc_abbreviations[] = "Mr|Mrs|Ms|Dr|Prof|St|Rev|Sgt|Lt|Jr|Sr|vs";

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
            uint64_t key = list < LC_WORDS_COUNT ? lc_word_key(word) : lc_sense_key('w', word);
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
