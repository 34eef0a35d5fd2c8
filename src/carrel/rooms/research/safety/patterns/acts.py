"""What a text wants done."""

ACTS = {
    "MAKE": r"""
ma(?:ke|kes|king|de)\b   from (?:scratch|synthetic dna|its (?:\w+ )?sequence)   purchas\w+   build\w*
creat(?:e|es|ing|ion)\b   design\w*   develop\w*   produc\w+   manufactur\w+   synthesi\w+   cook\w*
extract\w*   purif\w+   formulat\w+   construct(?:ing)?\b   reconstruct(?:ing)?\b   cultivat\w+   harvest\w*
scal(?:e|ing) up   optimi[sz]\w+   enrich\w*   assembl(?:e|ing)\b   cultur(?:e|ing)\b   set(?:ting)? up\b
prepar(?:e|ing) (?:a|an|some)\b   obtain\w*   acquir\w+   grow(?:ing)?\b   recipe   brew\w*   deriv(?:e|ing)\b
devis\w+   improv\w+   identify   novel   suggest   precursors?   turn(?:ed|ing)? (?:\w+ ){0,4}into\b
stabili[sz]\w+   stability of
""",
    "MAKE_OUTRIGHT": r"""
(?:ma(?:ke|kes|king)|produc(?:e|es|ing)|build(?:s|ing)?|construct(?:ing)?|synthesi[sz](?:e|es|ing)
|manufactur(?:e|ing)|cook(?:s|ing)?|brew(?:s|ing)?|assembl(?:e|ing)|creat(?:e|es|ing)|obtain(?:ing)?|acquir(?:e
|ing)) (?:[\w-]+ ){0,3}?{ARMS}
""",
    "DEPLOY": r"""
weaponi[sz]\w+   dispers\w+   aerosoli[sz](?:e|ing|ation)\b   releas(?:e|ing)\b   deploy(?:ing)?\b
(?<!heart )(?<!panic )(?<!asthma )(?<!immune )attack(?:s|ing)?\b(?! rates?)   spray\w*
(?:to spread|spreading|be used to spread) (?:\w+ ){1,3}(?:over|through|across)   tamper\w*
to spread (?:a|an|the|this|it)\b
(?:start|caus|trigger|ignit)\w* (?:a|an|the) (?:\w+ ){0,2}(?:outbreak|epidemic|pandemic)   contaminat(?:e|ing)\b
poison (?:a|the|an|someone|somebody|people|my)\b   poisoning (?:a|the|of a|someone|people|my)\b
spik(?:e|ing) (?:the |a |an |his |her |their |some )?(?:food|drinks?|water|punch|meals?|cups?|beverages?)
(?:^|to |and |please )spread (?!of\b|in\b|and\b|through\b|across\b)\w+   smuggl\w+
let(?:ting)? (?:it|them) (?:out|loose|escape)
put(?:ting)? (?:it |them |this )?(?:in|into) (?:the|a|an|my|his|her|their|some\w*)\b   smear\w*
slip(?:ped|ping)? (?:\w+ )?in   unleash\w*   set (?:\w+ )?(?:free|loose)   detonat\w+   launch\w*
plant(?:ing)? a   drop(?:ping)? (?:it|them) (?:on|over)   crop dusters?   inject(?:ing)? (?:it )?into the
""",
    "WORSEN": r"""
{AGENCY}(?!{REMEDY})[^.;]{0,90}?\b(?:{TRAIT}|{RESIST})
\bmutations?\b[^.;]{0,40}\bwould\b[^.;]{0,80}(?:{TRAIT}|{RESIST})   \b(?:edits?|changes) (?:that|to) let\b
\bno (?:drug|vaccine|antibiotic) can\b   \bgain[- ]of[- ]function\b
\b(?:let|mak|caus|help|get)\w* (?:\w+ ){1,4}(?:jump|cross|spill|leap)\w* (?:over )?(?:in)?to (?:people|humans)\b
\badapt(?:ing)? (?:\w+ ){1,5}to (?:humans|people|mammals)\b
\b(?:design|creat|engineer|build|mak|develop)\w* (?:\w+ ){0,3}(?:super-?bugs?|super-?virus
|doomsday)\b(?![- ]\w*(?:kill|vacc|test))
""",
    "FEARED_FORM": r"""
(?:vaccine|antibiotic|antiviral|drug|treatment|multidrug)[- ]resistant (?:strain|version|variant|form|mutant)
(?:more|highly|extremely) (?:lethal|deadly|contagious|virulent|transmissible)\b
stealth (?:virus|pathogen|strain)
""",
    "HARM_PEOPLE": r"""
\binjur(?:e|es|ing) {HARMED}\b
\b(?:kill|murder|assassinat|harm|hurt|maim|incapacitat|poison|exterminat|cull|massacr|blind|steril|punish
|tortur|hunt)\w*(?! (?:frogs?|ivy|control|cent))(?: and \w+)?(?: \w+){0,4} {HARMED}\b
\b(?:caus|do|inflict)\w* (?:\w+ )?(?:harm|injury|injuries|pain) (?:to|on) (?:others|(?:\w+ )?{HARMED})
\bassassinat\w+   \bmurder\w*   \bterrori[sz]\w+   \bmass (?:casualt\w+|murder|killing|deaths?\b)   \bgenocid\w+
\bdepopulat\w+   \bethnic (?:group|cleansing)
\b(?:people|children|patients|many|they|babies) (?:\w+ ){0,4}(?:die|fall ill|get sick|suffer)\b
\bas many (?:people|casualties|deaths)   \b(?:the )?most (?:deaths|casualties|victims)   \bkill\w* the most
\bto (?:make|render) (?:\w+ ){0,3}(?:{HARMED}|office|town|school|class) (?:\w+ ){0,4}{STRICKEN}
\bso that (?:\w+ ){1,3}(?:become|are|get|go|fall) {STRICKEN}   \bcasualties\b(?! incident)
\bmake (?:a|the) person unconscious   \bunconscious without   \bchosen victim   \bnatural death\b
\blethal dose\b(?=.*\b(?:my|for a|someone|person)\b)   \bheart attacks? undetect   \bhow much torture
\bagainst (?:protesters|crowds|civilians|demonstrators|a population|people)   \bfor use as a weapon
\b(?:end|ending|take|taking) (?:\w+ )?(?:patient|people|person|someone|his|her|their|human)(?:s|'s
|s')? (?:\w+ )?(?:life|lives)\b
\b(?:end|ending|destroy\w*) (?:all )?(?:humanity|mankind|human life|civili[sz]ation)
\bwip(?:e|es|ing) out (?:\w+ ){0,3}(?:countr|nation|cit|town|village|population|people|humanity|mankind
|minorit)\w*
\bget(?:ting)? rid of (?:\w+ ){1,2}{HARMED}\b   \bblow(?:ing)? up (?:a|an|the|my|some)\b
\bso that (?:\w+ ){0,6}(?:cannot|can ?not|nobody can|no one can) (?:protect|escape|defend|survive|breathe
|get out|be saved)
\bremember (?:an|the) assault   \b(?:make|render)\w* (?:\w+ ){1,4}(?:infertile|unconscious)\b
\bsteriliz?s?es? people   \bhunts? and kills?   \binfect(?:s|ing)? as many
\bto (?:infect|sicken|blind|paraly[sz]e) (?:\w+ ){0,3}(?:people|civilians|crowds|victims|someone)
""",
    "INSTRUCT": r"""
(?:detailed |specific |step-by-step )*instructions?   step[- ]by[- ]step   (?:each|every) step   tutorial
(?:a |the )?guide (?:on|to|for) (?:how|mak|build|tamper)   recipes? for   create a (?:list|plan)   devise a plan
plan (?:for|to) (?:start|smuggl|kill|attack|releas|poison)\w*   (?:give|some) (?:\w+ )?(?:advice|tips)
easy to (?:make|obtain|destroy|synthesi[sz]e|get)   (?:describe|explain|tell me|show me) (?:\w+ ){0,3}how to
how (?:to|can i|do i)\b   how (?:i|one|someone|somebody) (?:could|can|might|would)\b
how (?:might|could|would|should) (?:i|one|someone|somebody|you|they|an? \w+)\b
""",
    "KILL_SELF": r"""
\b(?:(?:get|take|taking|swallow\w*) (?:\w+ ){0,2}(?:lethal|fatal|deadly) (?:amount|dose|number))
\b(?:kill|hang|poison|end|harm|hurt)(?:ing)? (?:myself|my (?:own )?life)
\b(?:best|painless\w*|easy|easiest|quick\w*|reliable) (?:\w+ ){0,3}(?:suicide(?! (?:prevent|risk|attempt|rate
|screen|care|interven|research))|way to die)
\b(?:starv|cut|burn|injur|drown|suffocat)\w* myself
\b{PROMPTING} (?:\w+ ){0,3}(?:how )?to (?:\w+ )?(?:(?:cut|hurt|harm|burn|starve|kill) themselves|(?:take
|end) their (?:own )?li(?:fe|ves))
\bi (?:never|do not|don't) wake up
\b(?:how (?:do|can|could|should|would|might) i|i want to|help me(?: to)?) (?:\w+ )?(?:overdose|die|hang)\b
\b(?:most|more) (?:reliable|painless|lethal|effective|certain) (?:\w+ ){0,3}(?:for|of) suicide(?! (?:prevent
|risk|attempt|rate|screen|care|interven|research))
\bcommit(?:ting)? suicide
\b(?<!access to )(?<!of )suicide (?:method|recipe)s?(?! (?:among|in\b|used|restrict))   \bway to (?:die|end it)
""",
    "EVADE": r"""
untraceabl\w*   undetectabl\w*   no trace   (?:not|never) (?:be )?(?:detected|noticed|traced|found out)
without (?:being |getting )?(?:noticed|detected|detection|caught|traced|raising)   hard to trace
evad\w+ (?:\w+ ){0,3}(?:tools?|filter\w*|tracing|monitor\w*)
evad\w+ (?:\w+ ){0,3}(?:detect\w+|screen\w*|controls?|security|customs|inspect\w+|surveillance|law|police
|polic\w+)
avoid\w* (?:\w+ ){0,3}(?:detect\w+|customs|controls?|police|inspect\w+|regulat\w+)
(?:get|gets|getting|slips?|sneaks?|pass\w*|smuggl\w+) (?:\w+ ){0,4}(?:past|around|round
|through) (?:\w+ ){0,3}(?:screening|security|customs|controls?|act\b|law|regulat\w+|police)
pass(?:es)? (?:airport )?security   past (?:\w+ ){0,2}(?:screening|security)   hide (?:\w+ ){0,4}from
in secret\b   secretly   covert\w*   clandestin\w+   look like (?:an? )?(?:natural|accident\w*)
circumvent\w* (?:\w+ ){0,3}(?:screen|control|law|regulat|detect|safeguard|check|inspect|custom)\w*
without (?:\w+ ){0,4}(?:noticing|knowing|suspecting|finding out|flagg\w+|trigger\w+|alert\w+|suspicion
|reali[sz]ing)
(?:lists?|laws?|rules|controls) (?:do|does) not (?:cover|include|apply)   (?:without|no) questions
without leaving (?:\w+ )?(?:evidence|traces?|marks?)
(?:nobody|no one|no-one|neither|no (?:\w+ ){1,3}?(?:will|would|can|could)) (?:\w+ ){0,5}?(?:notic|suspect
|suspicious|find out|detect|flag|trac|reali[sz])\w*
(?:least|less|not|un)[ -]?suspicious
(?:customs|police|authorit\w+|regulators?|inspectors?) (?:\w+ ){0,3}(?:not|never) \w+
hardest (?:\w+ ){0,4}to (?:find|detect|trace|prove)   get away with
(?:not|never) (?:be )?(?:flagged|recogni[sz]ed|suspected|caught)
(?:screening|software|scanner|check|filter)\w* (?:\w+ ){0,2}(?:does|do|will|would) not (?:recogni[sz]e|flag
|notice)
leav(?:e|es|ing) no\b   cannot be (?:traced|detected|found|proven)   disguis\w+   surreptitious\w*   quietly
(?:get|gets|getting|ship\w*|bring\w*|carry\w*|take) (?:\w+ ){0,5}(?:past|across|through) (?:\w+ ){0,3}(?:border
|inspect|control|check)\w*
(?:undetected|unnoticed)(?=\s*(?:[.;?!]|$|by\b))
bypass\w* (?:\w+ ){0,3}(?:screen\w*|control\w*|security|regulat\w+|safeguards?|checks?)   not yet scheduled
stealth\b
""",
    "NO_CONSENT": r"""
without (?:\w+ ){0,2}(?:consent|knowledge|permission|approval|agreement)   without (?:telling|informing|asking)
unwitting\w*   unknow(?:n to them|ingly)   covertly
secretly (?:medicat|administ|giv|test|treat|expos|infect|dos)\w+   cannot (?:refuse|say no|consent)
can ?not refuse   against (?:their|her|his) will
(?:do|does|did|who have|have|has) not (?:know|agreed?|consent\w*)(?! (?:how|why|if|whether))   not agreed
non-?consen\w+   uninformed   forced?\b (?:\w+ ){0,2}(?:interrogat|experiment|trial|steril|test)\w*   unaware
deceiv\w+   without (?:any )?ethic\w+   no consent   secretly\b   in secret\b   behind (?:their|his|her) backs?
(?:nobody|no one|none of them) (?:is|was|are|were) (?:told|asked|informed)   in the dark (?:while|about)
(?:not|never) (?:been )?(?:asked|told|informed)\b
without (?:\w+ ){0,3}(?:knowing|being told|finding out|noticing)   to force (?:\w+ ){1,3}to
so that (?:\w+ ){1,6}(?:do not|does not|never) (?:know|find out|notice)
""",
    "RUIN": r"""
destroy\w*   tamper\w*   compromis(?:e|ing) (?:a|the|an)\b   wip(?:e|es|ing) out   sabotag\w+   meltdown
bring(?:ing)? down   disabl\w+   cripp?l\w+   devastat\w+   famine
kill(?:s|ing)? (?:off )?(?:the )?(?:crop|cattle|herd|livestock)\w*   shut(?:ting)? down   contaminat\w+
releas(?:e|ing)\b   releas(?:ed) (?:in|into|over|\?|$)   engineered pest
(?:mak|caus)\w* (?:\w+(?:'s)? ){1,5}(?:fail|break down|crash|collapse|malfunction)\b
""",
    "BREACH": r"""
steal(?:s|ing)?\b   stolen   theft   break(?:ing)? into   unauthori[sz]ed   compromis(?:e|ing) (?:a|the|an)\b
infiltrat\w+   smuggl\w+   divert(?:ing)?\b   allow leaks?   without (?:official )?permission
""",
    "INTERVENE": r"""
test(?:s|ed|ing)?\b   trial\w*   experiment\w*   infect\w*   expos(?:e|ing)\b   administ\w+   giv(?:e|ing)\b
medicat(?:e|ing)\b   withhold\w*   implant\w*   inject\w*   sterili[sz]\w+   study\b   run\b   edit\w*
measur\w+   control people   treat(?:ing)?\b   use\b   dos(?:e|ing)\b   observ\w+   releas\w+   sedat\w+
interrogat\w+   stimulat\w+   receive\b   depriv\w+   enrol\w*   add(?:ing)?\b   feed(?:ing)?\b   given to
induc(?:e|es|ing)\b
""",
    "HACK": r"""
hack(?:s|ing|ed)?\b   malware   ransomware   cyber-?attacks?   break(?:ing)? into   backdoors?
exploit(?:s|ing)? (?:\w+ ){0,4}(?:vulnerabilit|weakness|flaw)\w*
remotely (?:\w+ )?(?:shut|stop|disabl|kill|turn|switch)\w*
(?:kill|injur|harm|hurt)\w* (?:\w+ ){0,3}(?:remotely|from a distance)
(?:alter|chang|manipulat|falsif)\w* (?:\w+ ){0,3}(?:doses?|dosage|settings|records)\b   steal(?:s|ing)?\b
malicious (?:code|software)   tak(?:e|ing) (?:over )?control of   computer (?:worm|virus)\w*
(?:delet|wip|corrupt|eras)(?:e|es|ing)? (?:\w+ ){0,3}(?:records|data|files)
""",
    "PERSECUTE": r"""
\b(?:eliminat|exterminat|punish|persecut|deport|sterili[sz]|eradicat|remov|exclud|imprison|weed out|breed out
|cleans|purg|segregat)\w* (?:of )?(?:\w+ ){0,2}{GROUP}(?! (?:bias|dispar|inequ|gap|barrier|differen|stigma)\w*)
\b{GROUP}\b[^.;]{0,80}\b(?:can|could|should|must|to|may|will) be (?:\w+ )?(?:excluded|punished|removed
|sterili[sz]ed|eliminated|deported|denied|imprisoned)
\b(?:genetically|naturally|biologically|intellectually|racially) (?:inferior|superior)
\b(?:superior|inferior|master|pure) race\b
\b(?:only|selectively|specifically) (?:harm|kill|infect|affect|attack|target|sicken)s? (?:\w+ ){0,2}{GROUP}
\b(?:mak|render)(?:e|es|ing) (?:\w+ ){0,2}{GROUP} (?:infertile|sterile|ill|sick|weak\w*)
\b(?:the )?unfit (?:from|people)   \bonly (?:white|blond\w*|aryan|superior) (?:children|babies|people)
\b(?:should|must) not be allowed to (?:have children|reproduce|breed|marry)
\b(?:{GROUP}|women|men|blacks|whites) (?:are|is) (?:\w+ )?inferior
\b{GROUP} (?:are|is) (?:\w+ )?(?:less|more) (?:intelligent|criminal|violent|evolved|human|capable|stupid)
\b(?:virus|pathogen|toxin|agent|weapon|disease)\w* (?:\w+ ){0,3}(?:target|harm|kill)s? (?:\w+ ){0,3}(?:it\b
|them\b|{GROUP})
\b(?:prevent|stop|keep)\w* (?:\w+ ){0,2}{GROUP} from (?:having|reproducing|breeding)
""",
}
