/* cue_table.c - the turns of phrase, one a line. cue.h explains how to read them.
 *
 * Add a line when people really say it, and with it a sentence to tests/unit/talk/test_cue.c that
 * has it and one that only looks like it. Nothing here may be about a subject: no names, no
 * products, no amounts. */
#include "talk/cue.h"

#define CHANGE "change|switch|update|move|set|push|bump|shift|bring|reschedule"
#define CHANGED                                                                                    \
    "moved|changed|switched|pushed|delayed|rescheduled|updated|raised|lowered|cut|bumped|shifted"  \
    "|relocated|renamed|reassigned"
#define TRUE_NOW "actual|correct|real|right|latest|current|updated|revised"
#define ESTIMATE                                                                                   \
    "diagnosis|estimate|answer|analysis|claim|statement|numbers|report|figures|assessment"

/* Where ideas are played with. */
#define PLAY                                                                                       \
    "sandbox|simulation|role-play|roleplay|rehearsal|brainstorm|brainstorming|hypothetical"        \
    "|exploration|experiment|exercise"

static const lc_cue_row rows[] = {
    /* Wants to be told something: states nothing. */
    {LC_CUE_REQUEST, "^please? show|tell|give|send|remind me|us"},
    {LC_CUE_REQUEST, "^please? confirm|check|provide|explain|list|clarify|summarize|summarise"},
    {LC_CUE_REQUEST, "^can|could|would|will you"},
    {LC_CUE_REQUEST, "i|we need|want to see|know|check|understand|find"},
    {LC_CUE_REQUEST, "i'd|we'd like to see|know|understand"},
    {LC_CUE_REQUEST, "i want to make|be sure"},
    {LC_CUE_REQUEST, "i need it|this|that for"},
    {LC_CUE_REQUEST, "show|tell|give|send me|us all|every|everything|the"},
    {LC_CUE_REQUEST, "^ignore|disregard|forget all|any|your previous|prior|earlier instructions"},
    {LC_CUE_REQUEST, "^you|you're are? now"},
    {LC_CUE_REQUEST, "^let me know"},
    {LC_CUE_REQUEST, "^do you know|remember|have"},
    {LC_CUE_REQUEST, "^any idea|chance|update on"},

    /* The talk itself. */
    {LC_CUE_META,
     "^let's|lets|let us? talk|discuss|start|begin|move|return|continue|wrap|review|recap"},
    {LC_CUE_META, "^let's|lets|let us? get back|started|going"},
    {LC_CUE_META, "^let me update|explain|check|see|think|look|start|begin|walk|tell"},
    {LC_CUE_META, "^that's|that is? enough"},
    {LC_CUE_META, "^as i said|mentioned|noted"},
    {LC_CUE_META, "^as we discussed|agreed|said"},
    {LC_CUE_META, "^we discussed|talked"},
    {LC_CUE_META, "^got it $"},
    {LC_CUE_META, "^sure|noted|understood|thanks|great|fine|perfect|ok|okay|cool|alright $"},
    {LC_CUE_META, "^thank you"},
    {LC_CUE_META, "^no rush|worries|problem"},
    {LC_CUE_META, "^hold|hang on $"},
    {LC_CUE_META, "^anyway $"},
    {LC_CUE_META, "^moving on"},
    {LC_CUE_META, "^speaking of"},

    /* Supposed, not said. */
    {LC_CUE_TENTATIVE, "^maybe|perhaps|possibly|theoretically|hypothetically|tentatively|ideally"},
    {LC_CUE_TENTATIVE, "^suppose|supposing|imagine|pretend|assuming|say:"},
    {LC_CUE_TENTATIVE, "^in theory"},
    {LC_CUE_TENTATIVE, "^what about|if"},
    {LC_CUE_TENTATIVE, "^how about"},
    {LC_CUE_TENTATIVE, "^could|might"},
    {LC_CUE_TENTATIVE, "^draft|idea|proposal|option|tentative|brainstorm|hypothetical|sketch:"},
    {LC_CUE_TENTATIVE, "^draft|tentative *"},
    {LC_CUE_TENTATIVE, "^if ... could|might|would|maybe|perhaps"},
    {LC_CUE_TENTATIVE, "could|might maybe|possibly|perhaps|potentially"},
    {LC_CUE_TENTATIVE, "might be able"},
    {LC_CUE_TENTATIVE, "we|i|they|it|you might|could"},
    {LC_CUE_TENTATIVE, "let's|lets say hypothetically?"},
    {LC_CUE_TENTATIVE, "i'm|we're thinking|considering|leaning|wondering|toying"},
    {LC_CUE_TENTATIVE, "i|we am|are|was|were thinking|considering|leaning|wondering"},
    {LC_CUE_TENTATIVE, "not sure if|whether|yet|about"},
    {LC_CUE_TENTATIVE, "hypothetically|theoretically"},
    {LC_CUE_TENTATIVE, "still deciding|undecided"},
    {LC_CUE_TENTATIVE, "worst|best case"},
    {LC_CUE_TENTATIVE, "hard to say"},
    {LC_CUE_TENTATIVE, "a|my wild|rough|pure|educated|best? guess"},
    {LC_CUE_TENTATIVE, "my gut says|tells|feeling"},
    {LC_CUE_TENTATIVE, "i'm|am only|just guessing"},
    {LC_CUE_TENTATIVE, "off the record"},
    {LC_CUE_TENTATIVE, "must|should|may not|never leave this room"},

    /* What was. */
    {LC_CUE_PAST, "originally|initially|previously|formerly"},
    {LC_CUE_PAST, "used to be|have|live|work|go|use|do|think"},
    {LC_CUE_PAST, "no longer"},
    {LC_CUE_PAST, "at first"},
    {LC_CUE_PAST, "the value|original|old|previous|former|earlier|prior ... was|were"},
    {LC_CUE_PAST, "was|were originally|considered|supposed|planned|going"},
    {LC_CUE_PAST, "wanted to"},
    {LC_CUE_PAST, "had planned|hoped|wanted|intended|agreed|expected"},
    {LC_CUE_PAST, "based on incorrect|wrong|outdated|old|bad|stale|faulty"},
    {LC_CUE_PAST, "then we|they|i|he|she moved|changed|switched"},
    {LC_CUE_PAST, "it|that|they|he|she was|were ... though|before|then"},
    {LC_CUE_PAST, "instead of"},
    {LC_CUE_PAST, "is|are void|obsolete|outdated|invalid|moot"},
    {LC_CUE_PAST, "does|do not apply|hold|stand"},
    {LC_CUE_PAST, "doesn't|don't apply|hold|stand"},

    /* Playing with ideas. */
    {LC_CUE_EXPLORE_OPEN,
     "let's|lets|let ... brainstorm~|hypothetical~|sandbox|exploration|roleplay"},
    {LC_CUE_EXPLORE_OPEN, "let's|lets explore|imagine|suppose|pretend|assume|speculate"},
    {LC_CUE_EXPLORE_OPEN, "let's|lets ... rough|ballpark estimate~|numbers|guess"},
    {LC_CUE_EXPLORE_OPEN, "let's|lets ... what-if|drafting|mockup|simulation|scenario"},
    {LC_CUE_EXPLORE_OPEN, "this is just|only|purely exploratory|hypothetical|brainstorming"},
    {LC_CUE_EXPLORE_OPEN, "this is|are exploratory|hypothetical"},
    {LC_CUE_EXPLORE_OPEN, "just|only|purely exploratory|hypothetical|hypothetically|brainstorming"},
    {LC_CUE_EXPLORE_OPEN, "thinking|think out loud"},
    {LC_CUE_EXPLORE_OPEN, "for the sake of argument"},
    {LC_CUE_EXPLORE_OPEN, "thought experiment"},
    {LC_CUE_EXPLORE_OPEN, "just an? idea|ideas"},
    {LC_CUE_EXPLORE_OPEN, "let's|lets rehearse|role-play"},
    {LC_CUE_EXPLORE_OPEN, "i'm|we're|am|are in the|a? sandbox|simulation|role-play"},
    {LC_CUE_EXPLORE_OPEN, "^" PLAY " time|mode $"},
    {LC_CUE_EXPLORE_OPEN, "^" PLAY " time|mode:"},
    {LC_CUE_EXPLORE_OPEN, "it's|this|that is? only|just|still a|an? " PLAY "|draft|sketch|joke"},
    {LC_CUE_EXPLORE_OPEN, "nothing|none * here|this is|will real|final|meant"},
    {LC_CUE_EXPLORE_CLOSE, "leaving|exiting|closing|ending|left|out of? the|our? " PLAY},
    {LC_CUE_EXPLORE_CLOSE, PLAY " mode|time|session? is|are? over|done|closed|finished|ended|off"},
    {LC_CUE_EXPLORE_CLOSE, "stop|end|finish|quit|leave|exit|close|drop the|this? " PLAY "|game"},
    {LC_CUE_EXPLORE_CLOSE, "put|throw|set it|that|this|them|these away|aside"},
    {LC_CUE_EXPLORE_CLOSE, "that's|that is|was? enough"},
    {LC_CUE_EXPLORE_CLOSE, "enough brainstorm~|hypothetical~|exploring|speculation|dreaming"},
    {LC_CUE_EXPLORE_CLOSE, "back|return to reality|business|work|facts"},
    {LC_CUE_EXPLORE_CLOSE, "back to the? real|actual"},
    {LC_CUE_EXPLORE_CLOSE, "talk|talking about the? real|actual"},
    {LC_CUE_EXPLORE_CLOSE, "done|finished|through brainstorming|exploring|drafting|playing"},
    {LC_CUE_EXPLORE_CLOSE,
     "done|finished with the? brainstorm~|hypothetical~|exploration|draft~|sandbox"},
    {LC_CUE_EXPLORE_CLOSE, "end of|the brainstorm~|hypothetical~|exploration|experiment"},
    {LC_CUE_EXPLORE_CLOSE, "for real now|though"},

    /* Something else comes between. */
    {LC_CUE_ASIDE_OPEN, "^hold|hang on:"},
    {LC_CUE_ASIDE_OPEN, "^one|a sec|second|moment|minute|min"},
    {LC_CUE_ASIDE_OPEN, "^just a|one sec|second|moment|minute"},
    {LC_CUE_ASIDE_OPEN, "^sorry|pardon|pause|interruption|brb|urgent:"},
    {LC_CUE_ASIDE_OPEN, "^excuse me"},
    {LC_CUE_ASIDE_OPEN, "quick|sudden|brief interruption|aside|detour|break"},
    {LC_CUE_ASIDE_OPEN, "something urgent|else? came|has come up"},
    {LC_CUE_ASIDE_OPEN, "need|have to step away|out"},
    {LC_CUE_ASIDE_OPEN, "getting pulled|called into|away"},
    {LC_CUE_ASIDE_OPEN, "before i|we go|carry|move on"},
    {LC_CUE_ASIDE_OPEN, "before i|we continue|proceed"},
    {LC_CUE_ASIDE_OPEN, "on an|a? different|another|separate|unrelated note|topic|matter|subject"},
    {LC_CUE_ASIDE_OPEN, "^an|a? different|another|separate|unrelated topic|matter|subject|thing:"},
    {LC_CUE_ASIDE_HINT, "^hold|hang on $"},
    {LC_CUE_ASIDE_HINT, "^wait:"},
    {LC_CUE_ASIDE_HINT, "^wait $"},
    {LC_CUE_ASIDE_HINT, "^phone|telephone|door|doorbell|bell|visitor|visitors:"},
    {LC_CUE_ASIDE_HINT, "^the? phone|doorbell is|just? ringing|rang|rings"},
    {LC_CUE_ASIDE_CLOSE, "back to"},
    {LC_CUE_ASIDE_CLOSE, "returning|return to"},
    {LC_CUE_ASIDE_CLOSE, "resuming|resume"},
    {LC_CUE_ASIDE_CLOSE, "where were we"},
    {LC_CUE_ASIDE_CLOSE, "as i was saying"},
    {LC_CUE_ASIDE_CLOSE, "picking|pick up where|again"},
    {LC_CUE_ASIDE_CLOSE, "i'm|we're back"},
    {LC_CUE_ASIDE_CLOSE, "that's|that is? all? handled|sorted|done|resolved|dealt|parked|settled"},
    {LC_CUE_ASIDE_CLOSE, "where was i"},
    {LC_CUE_ASIDE_CLOSE, "all yours again|now"},
    {LC_CUE_ASIDE_CLOSE, "enough of|about that|this|it"},
    {LC_CUE_ASIDE_CLOSE, "sorry|apologies about|for that|this|the interruption|detour"},
    {LC_CUE_ASIDE_CLOSE, "^now then"},
    {LC_CUE_ASIDE_CLOSE, "^anyway|anyhow $"},
    {LC_CUE_ASIDE_CLOSE, "^anyway|anyhow:"},
    {LC_CUE_ASIDE_CLOSE, "^to continue"},
    {LC_CUE_ASIDE_CLOSE, "let's|lets continue|resume|carry|go on"},

    /* Taking something back. */
    {LC_CUE_CORRECT, "no wait"},
    {LC_CUE_CORRECT, "wait no"},
    {LC_CUE_CORRECT, "actually"},
    {LC_CUE_CORRECT, "correction"},
    {LC_CUE_CORRECT, "scratch|strike|cancel|forget|disregard|ignore that|it"},
    {LC_CUE_CORRECT, "take|taking * back $"},
    {LC_CUE_CORRECT, "take|taking that|it|this back:"},
    {LC_CUE_CORRECT, "i|we meant|misspoke"},
    {LC_CUE_CORRECT, "i mean:"},
    {LC_CUE_CORRECT, "my|our mistake|bad|error"},
    {LC_CUE_CORRECT, "sorry:"},
    {LC_CUE_CORRECT, "make that|it"},
    {LC_CUE_CORRECT, CHANGE " that|it|this|the|to"},
    {LC_CUE_CORRECT, "instead"},
    {LC_CUE_CORRECT, "rather than"},
    {LC_CUE_CORRECT, "override~"},
    {LC_CUE_CORRECT, "on second thought"},
    {LC_CUE_CORRECT, "changed my|our mind|minds|plans"},
    {LC_CUE_CORRECT, "change of plans|plan|mind|heart"},
    {LC_CUE_CORRECT, "never mind"},
    {LC_CUE_CORRECT, "turns out"},
    {LC_CUE_CORRECT, "in fact"},
    {LC_CUE_CORRECT, "replace|replacing * with"},
    {LC_CUE_CORRECT, "not ... but"},

    /* How it is by now. */
    {LC_CUE_UPDATE, "as of today|now|this|yesterday|tomorrow|next"},
    {LC_CUE_UPDATE, "from today|tomorrow|now"},
    {LC_CUE_UPDATE, "now it|he|she|they says|say|shows|show|reads"},
    {LC_CUE_UPDATE, "now says|shows|reads"},
    {LC_CUE_UPDATE, "^the? latest|newest is|says|shows"},
    {LC_CUE_UPDATE, "^the? latest|newest from|on ... is|says|shows"},
    {LC_CUE_UPDATE, "is|are|am|it's|we're|they're now"},
    {LC_CUE_UPDATE, "now is|are|it's|we're|they're"},
    {LC_CUE_UPDATE, CHANGED " to"},
    {LC_CUE_UPDATE, "effective immediately|today|now|from|as"},
    {LC_CUE_UPDATE, "going forward"},
    {LC_CUE_UPDATE, "from now on"},
    {LC_CUE_UPDATE, "official|officially"},
    {LC_CUE_UPDATE, "final|finalized|finalised|finally"},
    {LC_CUE_UPDATE, "confirmed"},
    {LC_CUE_UPDATE, "the? " TRUE_NOW " * is|are|will"},
    {LC_CUE_UPDATE, "the? " TRUE_NOW "|new value|one|date|time|price|number|address|plan|budget"},
    {LC_CUE_UPDATE, "^update"},
    {LC_CUE_UPDATE, "has|have been " CHANGED "|cancelled|canceled|approved|revoked"},

    /* Settling on one. */
    {LC_CUE_DECIDE, "let's|lets|we'll|we're|i'll|will|are go|going|proceed|stick|run with|for"},
    {LC_CUE_DECIDE, "let's|lets|we'll|we're|i'll use|using|choose|pick|try|do|take"},
    {LC_CUE_DECIDE, "we'll|will be doing|using|taking|having"},
    {LC_CUE_DECIDE, "decided|agreed|settled on|to|upon"},
    {LC_CUE_DECIDE, "chose|selected|picked|signed"},
    {LC_CUE_DECIDE, "schedule|book|set"},
    {LC_CUE_DECIDE, "approved"},

    /* All of it is news. */
    {LC_CUE_ANNOUNCE, "^update|correction|breaking|news|latest|revised|amendment|erratum:"},
    {LC_CUE_ANNOUNCE, "^important|urgent|quick|small|big|latest|new update|correction|change:"},
    {LC_CUE_ANNOUNCE, "^update on|regarding|about"},

    /* Stops something. */
    {LC_CUE_HOLD, "hold on|off"},
    {LC_CUE_HOLD, "can't|cannot sign|use|proceed|go|buy|ship|approve"},
    {LC_CUE_HOLD, "off the table"},
    {LC_CUE_HOLD, "ruled|rule out"},
    {LC_CUE_HOLD, "on hold"},
    {LC_CUE_HOLD, "pull the plug"},

    /* Somebody was wrong. */
    {LC_CUE_WRONG, "was|is|were|are|got also|actually|completely? wrong|incorrect|mistaken"},
    {LC_CUE_WRONG, ESTIMATE " was|were|is also? wrong|incorrect|mistaken|off"},

    /* Another plan. */
    {LC_CUE_REPLAN, "new|revised|updated plan|schedule|timeline|deadline|date"},
    {LC_CUE_REPLAN, "plan|schedule|timeline|deadline is now|changed"},
    {LC_CUE_REPLAN, "plans have changed"},
    {LC_CUE_REPLAN, "change of plans|plan"},

    {LC_CUE_REVERT, "go|goes|going|went|switch|switches|revert|reverts|return|returns back? to <v>"},
    {LC_CUE_REVERT, "back to <v>"},

    /* Where the new value stands. The first that fits counts. */
    {LC_CUE_VALUE, CHANGE " that|it|this|them back? to <v>"},
    {LC_CUE_VALUE, CHANGE " the|our|my * to <v>"},
    {LC_CUE_VALUE, "make that|it <v>"},
    {LC_CUE_VALUE, "i|we meant <v>"},
    {LC_CUE_VALUE, "replace|replacing * with <v>"},
    {LC_CUE_VALUE, "finalized|finalised|settled|agreed|decided|confirmed|fixed * at|on|as|to <v>"},
    {LC_CUE_VALUE, "go|going|proceed|proceeding|stick|sticking|run|running with|for <v>"},
    {LC_CUE_VALUE, "go|going|switch|switching|revert back? to <v>"},
    {LC_CUE_VALUE, "be doing|using|taking|having <v>"},
    {LC_CUE_VALUE, "let's|lets|we'll|we're try|use|using|do|pick|choose|take <v>"},
    {LC_CUE_VALUE, CHANGED " to <v>"},
    {LC_CUE_VALUE, "chose|selected|picked <v>"},
    {LC_CUE_VALUE, "is|are|it's|we're now <v>"},
    {LC_CUE_VALUE, "says|shows|reads <v>"},
    {LC_CUE_VALUE, "is|are|will|should be? <v>"},
    {LC_CUE_VALUE, "^we|i do|take|have|serve|use|order|get <v>"},

    {LC_CUE_REFERS, CHANGE "|make|do that|it|this|them"},
    {LC_CUE_REFERS, "reschedule|override~|cancel|scratch|forget|replace|call that|it|this|them"},
    {LC_CUE_REFERS, "it's|that's now|actually"},
    {LC_CUE_REFERS, "it|that is|should|will|has|was now|actually|be|to|moved|changed|supposed"},
    {LC_CUE_REFERS, "i|we meant"},
    {LC_CUE_REFERS, "now it says|shows|reads"},
    {LC_CUE_REFERS, "^the? latest|newest is|says|shows"},
    {LC_CUE_REFERS, "^the? latest|newest from|on ... is|says|shows"},
};

const lc_cue_row *lc_cue_table(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
