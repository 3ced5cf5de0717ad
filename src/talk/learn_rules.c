/* learn_rules.c - see learn_rule.h. The lists have kinds of words, not names of people or products;
 * a word belongs in a list if nearly all speakers who use the form with it mean it for long. */
#include "talk/learn_rule.h"

#include "base/str.h"

#define OFTEN_SAID "?really|truly|absolutely|also|still|actually|personally|generally"
#define I_AM "i am ?also|currently|still|actually"

const lc_learn_rule lc_learn_rules[] = {
    /* Health */
    {"i am ?also|severely|very|highly|badly|mildly|deathly|actually allergic to ?all|most|raw|"
     "tree|some|cooked @allergen END",
     0.95, LC_LEARN_LIST, "profile", "fact", NULL, 3},
    {"i am ?also|severely|very|highly|badly allergic to REST .", 0.6, 0, "profile", "fact", NULL,
     2},
    {"i have ?got a|an ?severe|bad|mild @allergen allergy", 0.95, 0, "profile", "fact", NULL, 3},
    {"i have ?got an allergy to @allergen END", 0.95, 0, "profile", "fact", NULL, 3},
    {"i am ?also|actually|mildly|severely lactose|gluten intolerant", 0.95, 0, "profile", "fact",
     NULL, 2},
    {"i am ?also|actually|mildly|severely|partially|red-green @condition_of END", 0.9, 0, "profile",
     "fact", NULL, 2},
    {"i have ?got|had ?chronic|severe|mild|a|type ?1|2|bad|high ?bit|form|blood ?of @condition END",
     0.9, 0, "profile", "fact", NULL, 2},
    {"i was ?recently|just|finally|also diagnosed with ?type ?1|2 @condition", 0.9, LC_LEARN_PAST,
     "profile", "fact", NULL, 2},
    {"i am ?currently|also|now|already pregnant END", 0.85, 0, "profile", "fact", NULL, 2},
    {"i am ?about|almost|already|now SOME months|weeks pregnant END", 0.85, 0, "profile", "fact",
     NULL, 2},
    {"i|we am|are expecting ?a|our ?first|second|third baby|child|twins END", 0.9, 0, "profile",
     "fact", NULL, 2},
    {"i wear glasses|contacts|dentures END", 0.85, 0, "profile", "fact", NULL, 1},
    {"i am ?really|very|terribly|also scared|afraid|terrified of @fear END", 0.85, 0, "profile",
     "fact", NULL, 1},
    {"my @relative ?has|is|have|are ?a|an ?severe|severely|badly|very|bad @allergen allergy", 0.9,
     LC_LEARN_SAID, "people", "fact", NULL, 2},
    {"my @relative is ?also|severely|very|badly|highly allergic to ?all|most|raw|tree "
     "@allergen END",
     0.95, LC_LEARN_SAID | LC_LEARN_LIST, "people", "fact", NULL, 2},
    {"my @relative has ?chronic|severe|mild|type ?1|2 @condition END", 0.9, LC_LEARN_SAID, "people",
     "fact", NULL, 2},
    {"my @relative is ?also|mildly|severely @condition_of END", 0.9, LC_LEARN_SAID, "people",
     "fact", NULL, 2},
    {"my @relative is ?a|now|also ?strict vegetarian|vegan|pescatarian", 0.9, LC_LEARN_SAID,
     "people", "preference", NULL, 1},

    /* Likes */
    {"i " OFTEN_SAID " love|enjoy|adore THING .", 0.85, LC_LEARN_LIST, "profile", "preference",
     NULL, 1},
    {"i " OFTEN_SAID " like THING .", 0.8, LC_LEARN_LIST, "profile", "preference", NULL, 1},
    {"i " OFTEN_SAID " hate|dislike|detest|loathe|despise THING .", 0.85, LC_LEARN_LIST, "profile",
     "preference", NULL, 1},
    {"i ?usually|generally|always|much|strongly prefer THING .", 0.8, 0, "profile", "preference",
     NULL, 1},
    {"i am a ?big|huge|massive|great|lifelong fan of THING .", 0.85, LC_LEARN_LIST, "profile",
     "preference", NULL, 1},
    {"i am a ?big|huge|massive|great|lifelong fan of the NAME .", 0.85, 0, "profile", "preference",
     NULL, 1},
    {"i " OFTEN_SAID " love|enjoy|like ?to play|playing ?the @instrument END", 0.85, 0, "profile",
     "preference", NULL, 1},
    {"i am ?really|very|also|super|totally into THING .", 0.8, LC_LEARN_LIST, "profile",
     "preference", NULL, 1},
    {"i am not ?really|exactly a ?big|huge fan of THING .", 0.65, LC_LEARN_DENIAL, "profile",
     "preference", NULL, 1},
    {"i can't|cannot eat|drink THING .", 0.65, LC_LEARN_DENIAL, "profile", "preference", NULL, 1},
    {"i ?really|just can't stand THING .", 0.65, LC_LEARN_DENIAL, "profile", "preference", NULL, 1},
    {"i ?really don't|dont ?really eat|drink|like|smoke THING .", 0.65, LC_LEARN_DENIAL, "profile",
     "preference", NULL, 1},
    {"my @relative ?really|also loves|likes|hates|enjoys|adores|dislikes THING .", 0.8,
     LC_LEARN_SAID | LC_LEARN_LIST, "people", "preference", NULL, 1},

    /* Name and identity of the speaker */
    {"call me NAME .", 0.9, LC_LEARN_ALONE, "profile", "fact", "Wants to be called $", 3},
    {"you can|may call me NAME .", 0.9, 0, "profile", "fact", "Wants to be called $", 3},
    {"call me NAME from|please|instead|thanks", 0.9, 0, "profile", "fact", "Wants to be called $",
     3},
    {"i am NAME .", 0.85, LC_LEARN_GREETED, "profile", "fact", "Name is $", 3},
    {"it's|its my birthday REST .", 0.85, LC_LEARN_DATED | LC_LEARN_SAID, "profile", "fact", NULL,
     2},
    {"i am ?originally from NAME .", 0.85, 0, "profile", "fact", NULL, 2},
    {"i was born in|near NAME", 0.9, LC_LEARN_PAST, "profile", "fact", NULL, 2},
    {"i ?was grew|raised up|in ?in|near NAME", 0.9, LC_LEARN_PAST, "profile", "fact", NULL, 2},
    {"i|we ?just|recently|finally moved to NAME ?last|this|recently ?week|month|weekend|year .",
     0.85, LC_LEARN_PAST, "profile", "fact", "Lives in $", 2},
    {"i|we have ?just|recently|finally moved to NAME ?last|this|recently ?week|month|weekend|year"
     " .",
     0.85, 0, "profile", "fact", "Lives in $", 2},
    {"i ?currently|now|still live in|near|outside NAME ?now|currently|again .", 0.9, 0, "profile",
     "fact", NULL, 2},
    {"i|we ?currently|now|still live in a|an|the ?small|tiny|big|quiet|little"
     " village|town|suburb|flat|apartment|house|farm|cottage ?just near|in|outside NAME .",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|now|still live in NAME with my REST .", 0.9, 0, "profile", "fact", NULL, 2},
    {"i ?currently|now|still live alone .", 0.85, 0, "profile", "fact", NULL, 1},
    {"i ?currently|now|still live with my @relative END", 0.85, 0, "profile", "fact", NULL, 1},
    {"i ?currently|now|still live with my @relatives END", 0.85, 0, "profile", "fact", NULL, 1},
    {"i|we ?currently|now rent a|an ?small|tiny|big|little flat|apartment|house|room|studio"
     " in|near NAME",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i ?usually|mostly|always commute by|to|from REST .", 0.85, 0, "profile", "habit", NULL, 1},
    {"i|we am|are ?finally|also|both getting married REST .", 0.85, LC_LEARN_DATED, "profile",
     "fact", NULL, 2},
    {"i|we am|are ?finally|also|both moving ?back to NAME REST .", 0.85, LC_LEARN_DATED, "profile",
     "fact", NULL, 2},
    {"i start at NAME REST .", 0.85, LC_LEARN_DATED, "profile", "fact", NULL, 2},
    {"i am ?happily|now married to NAME .", 0.9, 0, "profile", "fact", NULL, 2},
    {"i am ?happily|now married with one|two|three|four|five kids|children|sons|daughters", 0.9, 0,
     "profile", "fact", NULL, 2},
    {"i am a|the ?single|proud|working|stay-at-home mom|mum|mother|dad|father|parent of"
     " one|two|three|four|five|six|twins",
     0.9, 0, "profile", "fact", NULL, 2},
    {"i studied @field at NAME", 0.9, LC_LEARN_PAST, "profile", "fact", NULL, 1},
    {"i graduated from NAME", 0.9, LC_LEARN_PAST, "profile", "fact", NULL, 1},
    {"i report ?directly to NAME .", 0.9, 0, "people", "relationship", NULL, 2},
    {"my|our ?new|current|main|own phone|laptop|car|bike|computer|tablet|camera|van is a|an"
     " ?new|used|red|blue|black|white|grey|gray|green|silver|old NAME .",
     0.85, LC_LEARN_SAID, "profile", "fact", NULL, 1},
    {"my|our ?new|main|head office|company|school|studio|headquarters|workshop is ?based|located"
     " in|near NAME .",
     0.85, LC_LEARN_SAID, "profile", "fact", NULL, 1},
    {"i|we am|are ?currently|still saving ?up for a|an|our|my ?new ?down @goal END", 0.85, 0,
     "profile", "fact", NULL, 1},
    {"i ?currently|now|still|also work for NAME ?now|currently|again .", 0.9, 0, "profile", "fact",
     NULL, 2},
    {"i ?currently|now|mostly|usually work nights|weekends|remotely|part-time|full-time|shifts .",
     0.85, 0, "profile", "habit", NULL, 1},
    {"i ?currently|now|mostly|usually work from home|abroad ?most|on ?days .", 0.85, 0, "profile",
     "habit", NULL, 1},
    {"i ?currently|now|also work in|at a|an|the ?local|small|big|large @workplace END", 0.85, 0,
     "profile", "fact", NULL, 2},
    {"i am in the military|army|navy|marines END", 0.85, 0, "profile", "fact", NULL, 2},
    {"i am ?now|recently engaged .", 0.85, 0, "profile", "fact", NULL, 2},
    {"i am ?now|recently engaged to NAME .", 0.85, 0, "profile", "fact", NULL, 2},
    {"i am ?now|recently engaged to be married .", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|now work in @field .", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|also teach @field END", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|also teach @language END", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|also study @field END", 0.85, 0, "profile", "fact", NULL, 2},
    {I_AM " studying @field END", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently study SOME at NAME", 0.85, 0, "profile", "fact", NULL, 2},
    {I_AM " learning ?to @language END", 0.85, 0, "profile", "fact", NULL, 1},
    {I_AM " doing|taking @language END", 0.8, 0, "profile", "fact", NULL, 1},
    {I_AM " learning ?to ?play the @instrument END", 0.85, 0, "profile", "fact", NULL, 1},
    {I_AM " training for a|the|my|an ?first|half|full @race END", 0.85, 0, "profile", "fact", NULL,
     1},
    {I_AM " doing|running the|a SOME @race END", 0.85, 0, "profile", "fact", NULL, 1},
    {I_AM " doing|running my ?first|second|next ?full|half @race END", 0.85, 0, "profile", "fact",
     NULL, 1},
    {"i ?also|only|mostly ?can speak ?fluent|a|some|a|basic ?little|bit ?of @language END", 0.9,
     LC_LEARN_LIST, "profile", "fact", NULL, 2},
    {"i ?also|still|mostly play ?the @instrument END", 0.85, LC_LEARN_LIST, "profile", "fact", NULL,
     1},
    {"i ?also|still|mostly play @sport END", 0.85, LC_LEARN_LIST, "profile", "fact", NULL, 1},
    {"i ?currently|now|still drive a|an|my NAME", 0.8, 0, "profile", "fact", NULL, 1},
    {"i ?also own a|an|two|three ?small|little|old|family|tiny ?vintage|organic|coffee "
     "@property END",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i|we ?also|now run|manage a|an|my|our ?small|little|family|tiny|local ?organic|coffee|book"
     " @business END",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|now manage|lead a team of", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?also collect @collected END", 0.85, LC_LEARN_LIST, "profile", "preference", NULL, 1},
    {"i have ?got a|an ?master's|masters|bachelor's|bachelors phd|doctorate|degree|diploma|mba"
     " ?degree in",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i|we have ?got ?a|an|one|two|three|four|five ?small|big|little|old|young|rescue"
     " @pet ?named|called ?NAME END",
     0.85, 0, "profile", "fact", NULL, 1},
    {"i|we have ?got a|an|one|two|three|four|five ?little|big|older|younger|twin|"
     "grown-up @child END",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i am ?now|already|happily|fully|semi retired|self-employed|unemployed|widowed .", 0.85, 0,
     "profile", "fact", NULL, 2},
    {"i am ?the|a|an ?SOME @title at|of NAME .", 0.9, 0, "profile", "fact", NULL, 2},
    {"i|we have ?got a|an SOME named|called SOME .", 0.85, 0, "profile", "fact", NULL, 1},
    {"i am ?also a|an ?proud|single|new|devout|lifelong|stay-at-home|retired|war|army @being .",
     0.85, 0, "profile", "fact", NULL, 2},
    {"i ?also|often|sometimes volunteer at|for|with REST .", 0.85, 0, "profile", "habit", NULL, 1},
    {"i am ?currently employed by|at REST .", 0.85, 0, "profile", "fact", NULL, 2},
    {"i ?currently|now live in SOME .", 0.7, LC_LEARN_ALONE, "profile", "fact", NULL, 2},
    {"i ?currently|now work at|for SOME .", 0.7, LC_LEARN_ALONE, "profile", "fact", NULL, 2},
    {"SOME is|are my favorite|favourite SOME .", 0.8, LC_LEARN_SAID | LC_LEARN_ALONE, "profile",
     "preference", NULL, 1},
    {"i use NAME .", 0.8, LC_LEARN_ALONE, "profile", "preference", NULL, 1},
    {"i use ?a|an ?the mac|pc|chromebook|linux|windows|metric|imperial ?laptop|units .", 0.8,
     LC_LEARN_ALONE, "profile", "preference", NULL, 1},
    {"i am @nationality .", 0.7, 0, "profile", "fact", NULL, 2},

    /* People */
    {"NAME is|are my|our ?new|current|ex|former|own|best|older|younger|big|little|twin|direct"
     " ?project|team|tech|product|engineering @role .",
     0.9, LC_LEARN_SAID, "people", "relationship", NULL, 2},
    {"NAME is my|our ?new|current|own|best|older|younger|big|little|twin|direct ?project|team|tech|"
     "product @role who|from|at|and|of|for|in",
     0.85, LC_LEARN_SAID, "people", "relationship", NULL, 2},
    {"my @relative is called|named NAME", 0.9, LC_LEARN_SAID, "people", "relationship", NULL, 2},
    {"my @relative NAME is a|an|from|allergic|vegan|vegetarian|at|based REST .", 0.85,
     LC_LEARN_SAID, "people", "fact", NULL, 1},
    {"my @relative NAME is SOME years|months old .", 0.85, LC_LEARN_SAID, "people", "fact", NULL,
     1},
    {"my @relative NAME lives|works|studies|plays|teaches|runs|speaks REST .", 0.85, LC_LEARN_SAID,
     "people", "fact", NULL, 1},
    {"my @relative NAME loves|likes|hates|enjoys THING .", 0.8, LC_LEARN_SAID, "people",
     "preference", NULL, 1},
    {"my @relative goes to NAME .", 0.85, LC_LEARN_SAID, "people", "fact", NULL, 1},
    {"my @relative NAME has a|an|two|three REST .", 0.85, LC_LEARN_SAID, "people", "fact", NULL, 1},
    {"my @relatives ?all|both|still live in|near NAME", 0.9, LC_LEARN_SAID, "people", "fact", NULL,
     1},
    {"my family ?still lives in|near NAME", 0.9, LC_LEARN_SAID, "people", "fact", NULL, 1},
    {"my @relatives are called|named NAME", 0.9, LC_LEARN_SAID, "people", "relationship", NULL, 2},
    {"my @role is NAME .", 0.85, LC_LEARN_SAID, "people", "relationship", NULL, 2},

    /* Projects */
    {"i|we am|are ?currently|also|still|now working on a|an|my|our ?new ?big @project END", 0.85, 0,
     "project", "fact", NULL, 1},
    {"i|we am|are ?currently|also|still|now working on a|an|my|our SOME @project END", 0.85, 0,
     "project", "fact", NULL, 1},
    {"i|we am|are ?currently|also|still|now building|writing|developing|designing|making|starting|"
     "founding|creating|renovating a|an|my|our ?new @project END",
     0.85, 0, "project", "fact", NULL, 1},
    {"i|we am|are ?currently|also|still|now building|writing|developing|designing|making|starting|"
     "founding|creating|renovating a|an|my|our SOME @project END",
     0.85, 0, "project", "fact", NULL, 1},
    {"my|our|the ?new|whole project|app|product|startup|company|website|game|platform|team ?is"
     " called|named NAME",
     0.8, LC_LEARN_SAID, "project", "fact", NULL, 1},
    {"my|our ?new|whole project|app|product|startup|website|game|platform|backend|frontend|stack|"
     "team|company|api|service uses|runs|needs NAME",
     0.85, LC_LEARN_SAID, "project", "fact", NULL, 1},
    {"my|our ?new|whole project|app|product|website|game|platform|backend|frontend|api|service is"
     " written|built in|with|on NAME",
     0.85, LC_LEARN_SAID, "project", "fact", NULL, 1},
    {"we ?currently|mostly|still|also use NAME for|in|as|on SOME .", 0.85, LC_LEARN_SAID, "project",
     "fact", NULL, 1},
    {"we ?have ?finally|eventually|just|now decided|settled on NAME .", 0.8,
     LC_LEARN_SAID | LC_LEARN_PAST, "project", "fact", NULL, 1},
    {"we ?have ?finally|just|recently|now switched|migrated|upgraded to NAME .", 0.85,
     LC_LEARN_SAID | LC_LEARN_PAST, "project", "fact", NULL, 1},
    {"we are a team of SOME .", 0.85, LC_LEARN_SAID, "project", "fact", NULL, 1},
    /* Proposed: such dates move, and nothing would replace the memory. */
    {"we launch|ship ?the ?SOME on|in REST .", 0.65, LC_LEARN_SAID | LC_LEARN_DATED, "project",
     "fact", NULL, 1},
    {"i|we am|are ?finally launching|shipping|releasing|publishing the|our|my|a|an REST .", 0.85,
     LC_LEARN_DATED, "project", "fact", NULL, 1},
    {"?our|my|the hard|final|strict|new|official deadline ?for|of ?the ?SOME is ?on|by|set|now"
     " REST .",
     0.8, LC_LEARN_SAID | LC_LEARN_DATED, "project", "fact", NULL, 1},
    {"our|my|the deadline|launch|release|due ?date ?for|of ?the ?SOME is ?on|by|set|now REST .",
     0.8, LC_LEARN_SAID | LC_LEARN_DATED, "project", "fact", NULL, 1},

    /* Todos */
    {"remind me ?please to REST .", 0.95, LC_LEARN_TASK, NULL, NULL, NULL, 1},
    {"remind me ?again ?on SOME to REST .", 0.9, LC_LEARN_TASK | LC_LEARN_DATED, NULL, NULL, NULL,
     1},
    {"don't|dont let me forget to REST .", 0.9, LC_LEARN_TASK | LC_LEARN_DENIAL, NULL, NULL, NULL,
     1},
    {"i will ?also|definitely|then|try ?to REST .", 0.85, LC_LEARN_TASK | LC_LEARN_DATED, NULL,
     NULL, NULL, 1},
    {"i|we ?still|also|really|just need|have|got to REST .", 0.85, LC_LEARN_TASK | LC_LEARN_DATED,
     NULL, NULL, NULL, 1},
    {"i have ?still|also got to REST .", 0.85, LC_LEARN_TASK | LC_LEARN_DATED, NULL, NULL, NULL, 1},
    {"i must|gotta ?also REST .", 0.85, LC_LEARN_TASK | LC_LEARN_DATED, NULL, NULL, NULL, 1},
    {"i|we am|are going to the|a|my|our REST .", 0.8,
     LC_LEARN_TASK | LC_LEARN_DATED | LC_LEARN_SAID, NULL, NULL, NULL, 1},
    {"i am going to REST .", 0.7, LC_LEARN_TASK | LC_LEARN_DATED, NULL, NULL, NULL, 1},
    {"i ?have promised ?my ?boss|wife|mom|dad|husband|sister|brother to REST .", 0.85,
     LC_LEARN_TASK, NULL, NULL, NULL, 1},
    {"i ?have promised NAME to REST .", 0.85, LC_LEARN_TASK, NULL, NULL, NULL, 1},
    {"i|we have ?got a|an|my|our ?SOME @event END", 0.9, LC_LEARN_TASK | LC_LEARN_DATED, NULL, NULL,
     "", 1},
    {"i|we have ?got a|an|my|our ?SOME meeting|call|lunch|dinner|lesson|class|session with REST .",
     0.85, LC_LEARN_TASK | LC_LEARN_DATED | LC_LEARN_SAID, NULL, NULL, NULL, 1},
    {"i|we am|are giving|presenting|hosting|attending|flying|travelling|traveling|visiting|"
     "speaking|coming|driving REST .",
     0.8, LC_LEARN_TASK | LC_LEARN_DATED | LC_LEARN_SAID, NULL, NULL, NULL, 1},
    {"my|our ?SOME @event is|starts|begins ?on|at|in|by REST .", 0.85,
     LC_LEARN_TASK | LC_LEARN_DATED | LC_LEARN_SAID, NULL, NULL, NULL, 1},

    /* Habits */
    {"every|on SOME i|we REST .", 0.85, LC_LEARN_OFTEN | LC_LEARN_SAID, "profile", "habit", NULL,
     1},
    {"i ?usually|normally|typically|always|often|mostly|also|still REST .", 0.85, LC_LEARN_OFTEN,
     "profile", "habit", NULL, 1},

    /* Clauses whose attribute memory/understood.h has to name. */
    {"i ?currently|now|also work at NAME", 0.9, LC_LEARN_ASKS, NULL, NULL, NULL, 2},
    {"i ?currently|now|also work as a|an REST .", 0.9, LC_LEARN_ASKS, NULL, NULL, NULL, 2},
    {"i am REST .", 0.9, LC_LEARN_ASKS, NULL, NULL, NULL, 2},
    {"i ?also|generally|usually prefer REST .", 0.9, LC_LEARN_ASKS, NULL, NULL, NULL, 1},
    {"i have REST .", 0.9, LC_LEARN_ASKS, NULL, NULL, NULL, 2},
    {"my|our REST .", 0.9, LC_LEARN_ASKS | LC_LEARN_SAID, NULL, NULL, NULL, 2},
    {"NAME is due on|by REST .", 0.85, LC_LEARN_ASKS | LC_LEARN_SAID | LC_LEARN_DATED, NULL, NULL,
     NULL, 1},
};
const size_t lc_learn_rule_count = sizeof lc_learn_rules / sizeof *lc_learn_rules;

static const struct {
    const char *name, *words;
} lists[] = {
    {"allergen",
     "nuts|nut|peanut|peanuts|shellfish|penicillin|cats|cat|dogs|dog|pollen|dust|gluten|milk|dairy|"
     "eggs|egg|soy|soya|wheat|sesame|fish|latex|bees|bee|wasps|wasp|ibuprofen|aspirin|amoxicillin|"
     "sulfa|strawberries|kiwi|kiwis|mango|mangoes|mustard|celery|lactose|grass|mold|mould|almonds|"
     "cashews|walnuts|hazelnuts|pistachios|shrimp|prawns|crab|lobster|seafood|nickel|perfume|"
     "antibiotics|codeine|morphine|iodine|animals|fur|horses|feathers|avocado|bananas|tomatoes|"
     "corn|coconut|mussels|oysters|apples|peaches|cinnamon|garlic|onions|lupin|insect|mites|"
     "ragweed|"
     "birch|hay|chlorine|nsaids|paracetamol|cherries|citrus|pineapple|beef|pork|chocolate"},
    {"condition_of",
     "diabetic|asthmatic|celiac|coeliac|epileptic|colorblind|colourblind|color-blind|colour-blind|"
     "dyslexic|autistic|anemic|anaemic|hypertensive|left-handed|right-handed|nearsighted|"
     "short-sighted|lactose-intolerant|gluten-intolerant|neurodivergent|hypothyroid"},
    {"condition",
     "asthma|diabetes|celiac|coeliac|adhd|epilepsy|arthritis|migraines|eczema|ibs|hypertension|"
     "dyslexia|autism|insomnia|tinnitus|psoriasis|gout|lupus|crohn's|hypothyroidism|pressure|"
     "endometriosis|pcos|fibromyalgia|narcolepsy|scoliosis|hemophilia|sciatica|glaucoma"},
    {"relative",
     "wife|husband|spouse|partner|girlfriend|boyfriend|fiance|fiancee|fianc\xC3\xA9|"
     "fianc\xC3\xA9"
     "e|mom|mum|mother|dad|father|sister|brother|son|daughter|grandmother|grandma|"
     "grandfather|grandpa|nana|aunt|uncle|cousin|nephew|niece|roommate|flatmate|dog|cat|"
     "puppy|kitten|"
     "horse|baby|toddler|stepson|stepdaughter|mother-in-law|father-in-law|boss|manager|cofounder|"
     "co-founder|landlord|landlady"},
    {"relatives", "parents|kids|children|grandparents|sons|daughters|sisters|brothers|in-laws|cats|"
                  "dogs|twins|grandchildren"},
    {"role",
     "wife|husband|spouse|partner|girlfriend|boyfriend|fiance|fiancee|mom|mum|mother|dad|father|"
     "sister|brother|son|daughter|grandmother|grandfather|aunt|uncle|cousin|nephew|niece|friend|"
     "roommate|flatmate|neighbor|neighbour|colleague|coworker|co-worker|teammate|boss|manager|"
     "supervisor|mentor|cofounder|co-founder|ceo|cto|cfo|coo|lead|leader|head|director|designer|"
     "engineer|developer|assistant|intern|accountant|lawyer|attorney|solicitor|doctor|gp|dentist|"
     "therapist|physiotherapist|psychologist|vet|trainer|coach|teacher|tutor|professor|advisor|"
     "adviser|landlord|landlady|client|customer|investor|recruiter|nanny|babysitter|"
     "hairdresser|dog|"
     "cat|puppy|horse|stepson|stepdaughter|mother-in-law|father-in-law|owner|consultant|"
     "contractor"},
    {"pet", "dog|dogs|cat|cats|puppy|kitten|horse|rabbit|rabbits|parrot|hamster|tortoise|snake|"
            "goldfish|chickens|guinea-pig|budgie|lizard"},
    {"child", "son|sons|daughter|daughters|kid|kids|child|children|brother|brothers|sister|sisters|"
              "grandchildren|grandson|granddaughter|stepson|stepdaughter|twins|toddler|teenager"},
    {"title",
     "lead|manager|director|head|ceo|cto|cfo|coo|engineer|developer|designer|founder|cofounder|"
     "co-founder|owner|editor|intern|professor|consultant|analyst|architect|president|partner"},
    {"being",
     "woman|man|mother|father|mom|mum|dad|grandmother|grandfather|parent|widow|widower|veteran|"
     "feminist|christian|muslim|jew|buddhist|hindu|catholic|atheist|agnostic|immigrant|expat|"
     "introvert|extrovert|teetotaler|teetotaller|smoker|non-smoker|lefty|twin|entrepreneur|"
     "homeowner|"
     "foster-parent|grandparent|refugee|pacifist|republican|democrat|mormon|wheelchair-user"},
    {"language",
     "english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|czech|slovak|"
     "hungarian|romanian|greek|turkish|arabic|hebrew|farsi|persian|hindi|urdu|bengali|tamil|telugu|"
     "punjabi|marathi|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|indonesian|malay|"
     "tagalog|swahili|swedish|norwegian|danish|finnish|icelandic|estonian|latvian|lithuanian|"
     "croatian|serbian|bulgarian|slovenian|albanian|catalan|basque|welsh|irish|latin|esperanto"},
    {"instrument", "piano|guitar|violin|viola|cello|drums|bass|flute|clarinet|saxophone|trumpet|"
                   "trombone|ukulele|harp|organ|accordion|banjo|oboe|bassoon|recorder|mandolin"},
    {"sport", "tennis|football|soccer|basketball|chess|golf|badminton|volleyball|hockey|rugby|"
              "cricket|squash|handball|bridge|poker|padel|baseball|softball|water-polo|ping-pong|"
              "table-tennis|darts|lacrosse"},
    {"race", "marathon|half-marathon|triathlon|10k|5k|ironman|race|ultra|ultramarathon"},
    {"field",
     "law|medicine|biology|physics|chemistry|maths|math|mathematics|history|economics|engineering|"
     "philosophy|psychology|nursing|architecture|literature|linguistics|sociology|politics|"
     "geography|"
     "astronomy|education|theology|marketing|finance|sales|healthcare|journalism|publishing|"
     "logistics|accounting|pharmacy|dentistry|biochemistry|geology|statistics|advertising|"
     "construction|hospitality|banking|insurance|hr|academia|neuroscience|computer|music|"
     "art|design"},
    {"property", "bakery|restaurant|caf\xC3\xA9|cafe|shop|store|bookshop|bookstore|farm|company|"
                 "business|studio|gallery|salon|gym|bar|pub|hotel|house|flat|apartment|boat|car|"
                 "motorcycle|motorbike|vineyard|brewery|cabin|cottage|agency|startup|franchise"},
    {"business", "bakery|restaurant|caf\xC3\xA9|cafe|shop|store|bookshop|bookstore|farm|company|"
                 "business|studio|gallery|salon|gym|bar|pub|hotel|vineyard|brewery|agency|startup|"
                 "franchise|nonprofit|charity|practice|clinic|nursery"},
    {"collected", "stamps|coins|vinyl|records|books|comics|postcards|watches|minerals|fossils|"
                  "antiques|lego|figurines|cameras|teapots|maps|sneakers|trading-cards"},
    {"project",
     "app|application|book|novel|thesis|dissertation|game|website|startup|company|business|course|"
     "podcast|blog|newsletter|album|film|movie|documentary|platform|product|dashboard|redesign|"
     "framework|compiler|plugin|extension|robot|chatbot|house|shed|boat|garden|memoir|curriculum|"
     "prototype|mvp|marketplace|shop|migration|cookbook|screenplay|musical|opera|symphony|barn|"
     "treehouse|greenhouse|nonprofit|rewrite|rebrand|campaign|exhibition|festival|project"},
    {"event", "appointment|interview|exam|flight|surgery|operation|wedding|presentation|deadline|"
              "rehearsal|recital|check-up|checkup|mri|hearing|viewing|concert|graduation|audition"},
    {"workplace",
     "factory|warehouse|hospital|school|bank|library|restaurant|bakery|shop|store|supermarket|"
     "hotel|lab|laboratory|university|kindergarten|nursery|clinic|pharmacy|museum|gym|cafe|"
     "caf\xC3\xA9|bar|brewery|startup|consultancy|bookshop|bookstore|zoo|mine|shipyard"},
    {"fear", "flying|heights|spiders|snakes|dogs|needles|clowns|thunder|thunderstorms|mice|rats|"
             "sharks|blood|elevators|lifts|crowds|injections|wasps|bees|dentists"},
    {"goal", "house|car|wedding|flat|apartment|payment|deposit|holiday|vacation|honeymoon|trip|"
             "bike|boat|van|guitar|piano"},
    {"nationality",
     "american|canadian|mexican|brazilian|british|english|scottish|welsh|irish|french|german|"
     "austrian|swiss|dutch|belgian|spanish|portuguese|italian|greek|turkish|polish|czech|slovak|"
     "hungarian|romanian|bulgarian|serbian|croatian|ukrainian|russian|swedish|norwegian|danish|"
     "finnish|icelandic|estonian|latvian|lithuanian|indian|pakistani|bangladeshi|chinese|japanese|"
     "korean|vietnamese|thai|filipino|indonesian|malaysian|australian|nigerian|kenyan|egyptian|"
     "moroccan|iranian|israeli|argentinian|chilean|colombian|peruvian"},
};

const char *lc_learn_list(loci_str name)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lc_str_is(name, lists[i].name))
            return lists[i].words;
    return NULL;
}

/* In front of a colon, these introduce the speaker's own words. */
const char lc_learn_labels[] =
    "context|background|fyi|note|notes|reminder|update|ps|info|me|remember|"
    "btw|myself|disclaimer|clarification|heads-up|fact|facts|news|also";
/* Trouble with a program is no habit. */
const char lc_learn_trouble[] =
    "error|errors|crash|crashes|bug|bugs|fail|fails|issue|issues|warning|exception|script|command|"
    "code|build|test|tests|query|server|function|loop|file|files|page|button|output|input|"
    "time|step";
/* It is so for now only. */
const char lc_learn_moments[] =
    "today|tonight|yesterday|moment|temporarily|later|soon|anymore|here|"
    "there";
/* Objects of "like" that refer only to this conversation. */
const char lc_learn_fleeting[] =
    "it|this|that|these|those|you|your|yours|him|her|them|his|their|he|she|they|how|when|"
    "what|where|"
    "who|why|which|the|some|such|everything|everyone|everybody|nothing|something|anything|people|"
    "all|being|waiting|hearing|seeing|talking|me|my|mine|myself|us|our|each|both|another|"
    "here|there|"
    "option|options|choice|version|approach|solution|idea|ideas|answer|answers|suggestion|"
    "suggestions|one|ones|first|second|third|last|latter|former|draft|code|if|because|so|much|more|"
    "less|than|not|too|having|getting|going|making|looking|i|we|stuff|things|thing|way|better|best|"
    "most|now|today|already|right|lot|bit|kind|sort|its|it's|that's|life|shit|fuck|god|hell|"
    "ya|em|u|yall|y'all|ye|thee|'em|every|any|no|guys|girl|man|boy|whoever|whatever|baby|"
    "babe|honey|sweetheart";
/* In front of a clause: it asks, or requests something. */
const char lc_learn_questions[] =
    "can|could|would|will|what|what's|which|where|how|how's|why|who|when|is|are|do|does|did|should|"
    "any|please|am|have|has|may|got|tell|give|help|suggest|recommend|show|find|explain|make|plan|"
    "keep|avoid|schedule|no|he|she|they|it|you|he's|she's|it's|they're|the|this|that|not|"
    "don't|then";
const char lc_learn_frequent[] =
    "day|morning|evening|night|afternoon|week|weekend|month|year|weekday|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer|"
    "winter|spring|autumn|lunchtime|sunday|fortnight|other";
/* Verbs whose todo says nothing later, whatever its date. */
const char lc_learn_idle[] =
    "be|see|think|try|know|say|guess|admit|let|look|wait|sleep|keep|die|miss|never|not|always|just|"
    "probably|survive|figure|decide|stay|eat|drink|have|get|come|leave|wake|study|work|rest|"
    "play|watch|"
    "do|go|love|hate|tell|ask|show|give|take|live|start|stop|use|run|make|like|want|need|find|ever";
/* Verbs that make no habit, however often. */
const char lc_learn_no_habit[] =
    "am|think|say|see|feel|want|need|hope|wish|love|miss|remember|know|hear|die|cry|tell|"
    "ask|promise|"
    "thank|hate|wonder|look|get|can|could|will|would|must|should|might|like|live|mean|find|believe|"
    "was|had|did|used|been|learn|forget|worry|swear|lose|wonder|spend|fail|hear|keep|end|try|do";
/* Behind a word of a list, these belong to it: "celiac disease", "cat hair". */
const char lc_learn_tails[] =
    "named|called|disease|syndrome|intolerance|hair|mites|stings|sting|pollen|nuts|fur|dander|milk|"
    "protein|allergy|allergies|science|engineering|design|history|theory|education|administration|"
    "butter|family|chain|business|degree|together|professionally|badly|well|fluently|competitively|"
    "since|app|platform|years|bites|feathers|records|cards|law|lessons|players|studies|medicine";
/* Behind a comma, these words limit the statement in front of it. */
const char lc_learn_turns[] = "especially|except|only|unless|if|when|until|provided|as|just|or|"
                              "though|until|anyway|supposedly|allegedly|sometimes";
