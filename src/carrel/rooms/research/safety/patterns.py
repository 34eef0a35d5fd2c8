"""The words each sign is known by, as regular expressions.

Alternatives stand three spaces or a line apart; a line that begins with a bar carries on the alternative before it.
Names in braces are filled in from PARTS.
"""

PARTS = {
    "HARMED": r"""
(?:people|persons?|child|babies|baby|infants?|toddlers?|girls?|boys?|(?:grand)?mother|(?:grand)?father|famil(?:y
|ies)|colleagues?|coworkers?|teachers?|students?|someone|somebody|anyone|everyone|humans?|civilians?|crowds?
|victims?|children|husband|wife|partner|boss|neighbou?rs?|politicians?|presidents?|protesters?|demonstrators?
|soldiers?|troops|enem(?:y|ies)|populations?|inhabitants|residents|commuters|passengers|rivals?|opponents?|women
|men|patients?|prisoners?|detainees|captives|thousands|millions|many|several|descent|ethnic\w*|minorit\w+)
""",
    "TRAIT": r"""
(?:lethal\w*|deadl\w+|virulen\w+|transmissib\w+|transmission between|contagious\w*|infectiv\w*
|infectious(?:ness)?|fatality|mortality|pathogenic\w*|airborne|spreads? (?:faster|quickly|more|easily
|efficiently|among|by)|pass\w* efficiently|person to person|human[- ]to[- ]human|between humans
|from human to human|by the air|incubation)
""",
    "RESIST": r"""
(?:resist\w*|escap\w+|evad\w+|immune|imperviou\w+|defeat\w*) (?:to |from )?(?:\w+ ){0,3}(?:vaccin\w+
|antiviral\w*|antibiotic\w*|treatment\w*|therap\w+|drugs?|immunity|ciprofloxacin|doxycycline|tecovirimat
|antibod\w+)
""",
    "LED": r"""
(?:^|[.;:,]\s*|\b(?:to|and|or|by|for|of|would|could|should|ways?|how|me|please|then|that)\s+)
""",
    "AGENCY": r"""
(?:\b(?:engineer(?:ing)?|design(?:ing)?|creat(?:e|ing)|construct(?:ing)?|modif(?:y|ying|ications?)
|render(?:ing)?|breed(?:ing)?|tweak(?:ing)?|gain(?:ing)?[- ]of[- ]function|gain airborne|passag(?:e|ing)
|edits? that|supercharg(?:e|ing)|reprogram(?:ming)?)\b|{LED}(?:mak(?:e|ing)|develop(?:ing)?|enhanc(?:e|ing)
|increas(?:e|ing)|boost(?:ing)?|rais(?:e|ing)|improv(?:e|ing)|evolv(?:e|ing)|alter(?:ing)?|maximi[sz](?:e|ing)
|optimi[sz](?:e|ing)|amplify(?:ing)?|strengthen(?:ing)?|giv(?:e|ing)|confer(?:ring)?|introduc(?:e|ing)
|insert(?:ing)?|turn(?:ing)?)\b)
""",
}

ANYWHERE = frozenset({"WORSEN", "HARM_PEOPLE", "KILL_SELF", "EXPLAIN"})
"""Signs whose expressions say themselves where a word begins."""

WORDS = {
    "MAKE": r"""
ma(?:ke|king|de)\b   purchas\w+   build\w*   creat(?:e|es|ing|ion)\b   design\w*   develop\w*   produc\w+
manufactur\w+   synthesi\w+   cook\w*   extract\w*   purif\w+   formulat\w+   construct(?:ing)?\b
reconstruct(?:ing)?\b   cultivat\w+   harvest\w*   scal(?:e|ing) up   optimi[sz]\w+   enrich\w*
assembl(?:e|ing)\b   cultur(?:e|ing)\b   set(?:ting)? up\b   prepar(?:e|ing) (?:a|an|some)\b   obtain\w*
acquir\w+   grow(?:ing)?\b   recipe   brew\w*   deriv(?:e|ing)\b   devis\w+   improv\w+   identify   novel
suggest   precursors?   stabili[sz]\w+   stability of
""",
    "DEPLOY": r"""
weaponi[sz]\w+   dispers\w+   aerosoli[sz]\w+   releas(?:e|ing)\b   deploy\w*   attack(?:s|ing)?\b   spray\w*
(?:to spread|spreading|be used to spread) (?:\w+ ){1,3}(?:over|through|across)   tamper\w*
to spread (?:a|an|the|this|it)\b
(?:start|caus|trigger|ignit)\w* (?:a|an|the) (?:\w+ ){0,2}(?:outbreak|epidemic|pandemic)   contaminat(?:e|ing)\b
poison (?:a|the|an|someone|somebody|people|my)\b   poisoning (?:a|the|of a|someone|people|my)\b
spik(?:e|ing) (?:the |a |an |his |her |their |some )?(?:food|drinks?|water|punch|meals?|cups?|beverages?)
smear\w*   slip(?:ped|ping)? (?:\w+ )?in   unleash\w*   set (?:\w+ )?(?:free|loose)   detonat\w+   launch\w*
plant(?:ing)? a   drop(?:ping)? (?:it|them) (?:on|over)   crop dusters?   inject(?:ing)? (?:it )?into the
""",
    "WORSEN": r"""
{AGENCY}[^.;]{0,90}?\b(?:{TRAIT}|{RESIST})
\b(?:vaccine|antibiotic|antiviral|drug|treatment|multidrug)[- ]resistant (?:strain|version|variant|form|mutant)
\bmutations?\b[^.;]{0,40}\bwould\b[^.;]{0,80}(?:{TRAIT}|{RESIST})   \b(?:edits?|changes) (?:that|to) let\b
\bno (?:drug|vaccine|antibiotic) can\b   \bgain[- ]of[- ]function\b
\b(?:more|highly|extremely) (?:lethal|deadly|contagious|virulent|transmissible)\b
\bstealth (?:virus|pathogen|strain)
""",
    "HARM_PEOPLE": r"""
\binjur(?:e|es|ing) {HARMED}\b
\b(?:kill|murder|assassinat|harm|hurt|maim|incapacitat|poison|exterminat|cull|massacr|blind|steril|punish|tortur
|hunt)\w*(?: and \w+)?(?: \w+){0,4} {HARMED}\b
\bassassinat\w+   \bmurder\w*   \bterroris\w+   \bmass (?:casualt\w+|murder|killing)   \bgenocid\w+
\bdepopulat\w+   \bethnic (?:group|cleansing)
\b(?:people|children|patients|many|they|babies) (?:\w+ ){0,4}(?:die|fall ill|get sick|suffer)\b
\bas many (?:people|casualties|deaths)   \bcasualties\b(?! incident)   \bmake (?:a|the) person unconscious
\bunconscious without   \bchosen victim   \bnatural death\b
\blethal dose\b(?=.*\b(?:my|for a|someone|person)\b)   \bheart attacks? undetect   \bhow much torture
\bagainst (?:protesters|crowds|civilians|demonstrators|a population|people)   \bfor use as a weapon
\bsteriliz?s?es? people   \bhunts? and kills?   \binfect(?:s|ing)? as many
\bto (?:infect|sicken|blind|paraly[sz]e) (?:\w+ ){0,3}(?:people|civilians|crowds|victims|someone)
""",
    "INSTRUCT": r"""
(?:detailed |specific |step-by-step )*instructions?   step[- ]by[- ]step   tutorial
(?:a |the )?guide (?:on|to|for) (?:how|mak|build|tamper)   recipes? for   create a (?:list|plan)   devise a plan
plan (?:for|to) (?:start|smuggl|kill|attack|releas|poison)\w*   (?:give|some) (?:\w+ )?(?:advice|tips)
easy to (?:make|obtain|destroy|synthesi[sz]e|get)   (?:describe|explain|tell me|show me) (?:\w+ ){0,3}how to
how (?:to|can i|could i|do i|would i|could one|would one)\b
""",
    "KILL_SELF": r"""
\b(?:kill|hang|poison|end|harm|hurt) (?:myself|my (?:own )?life)
\b(?:best|painless\w*|easy|easiest|quick\w*|reliable) (?:\w+ ){0,3}(?:suicide|way to die)
\bcommit(?:ting)? suicide   \bsuicide (?:method|recipe)s?   \bway to (?:die|end it)
""",
    "EVADE": r"""
untraceabl\w*   undetectabl\w*   no trace   (?:not|never) (?:be )?(?:detected|noticed|traced|found out)
without (?:being |getting )?(?:noticed|detected|detection|caught|traced|raising)   hard to trace
evad\w+ (?:\w+ ){0,3}(?:tools?|filter\w*|tracing|monitor\w*)
evad\w+ (?:\w+ ){0,3}(?:detect\w+|screen\w*|controls?|security|customs|inspect\w+|surveillance|law|police
|polic\w+)
avoid\w* (?:\w+ ){0,3}(?:detect\w+|customs|controls?|police|inspect\w+|regulat\w+)
(?:get|gets|getting|slip|sneak|pass\w*|smuggl\w+) (?:\w+ ){0,4}(?:past|around|round
|through) (?:\w+ ){0,3}(?:screening|security|customs|controls?|act\b|law|regulat\w+|police)
pass(?:es)? (?:airport )?security   past (?:\w+ ){0,2}(?:screening|security)   hide (?:\w+ ){0,4}from
in secret\b   secretly   covert\w*   clandestin\w+   look like (?:an? )?(?:natural|accident\w*)   circumvent\w*
bypass\w* (?:\w+ ){0,3}(?:screen\w*|control\w*|security|regulat\w+|safeguards?)   not yet scheduled   stealth\b
""",
    "NO_CONSENT": r"""
without (?:\w+ ){0,2}(?:consent|knowledge|permission|approval|agreement)   without (?:telling|informing|asking)
unwitting\w*   unknow(?:n to them|ingly)   covertly
secretly (?:medicat|administ|giv|test|treat|expos|infect|dos)\w+   cannot (?:refuse|say no|consent)
can ?not refuse   against (?:their|her|his) will
(?:do|does|did|who have|have|has) not (?:know|agreed?|consent\w*)(?! (?:how|why|if|whether))   not agreed
non-?consen\w+   uninformed   forced?\b (?:\w+ ){0,2}(?:interrogat|experiment|trial|steril|test)\w*   unaware
deceiv\w+   without ethic\w+   no consent
""",
    "WEAPON": r"""
chemical (?:weapon|warfare)\w*   bio-?weapon\w*   biological (?:weapon|warfare)\w*   nerve (?:agent|gas)\w*
sarin\b   \bVX\b   tabun   soman\b   novichok\w*   cyclosarin   (?:sulfur |sulphur )?mustard (?:gas|agent)\w*
dirty bomb\w*   radiological (?:dispersal|weapon|bomb)\w*   nuclear (?:weapon|bomb|device|warhead|explosive)\w*
weapons?[- ]grade   (?:highly )?enriched uranium   (?:improvised|crude) nuclear   poison gas\w*   toxic gas\w*
lewisite   phosgene   weapons? of mass   mass[- ]casualty   lethal (?:agent|aerosol|gas)\w*   war gas\w*
aerosol attack   fissile   blister agent\w*
""",
    "EXPLOSIVE": r"""
explosives?\b(?! (?:volcan|erupt|growth|event|outbreak))
(?:pipe|nail|car|letter|time|homemade|fertili[sz]er|suicide) bombs?   bombs?\b(?! calorimet)   grenades?
\bIEDs?\b   detonators?   incendiar\w+   drones? (?:\w+ ){0,4}(?:kill|hunt|attack)\w*   swarm of drones
\bTATP\b   landmines?
""",
    "PATHOGEN": r"""
virus\w*   viral   influenza   flu\b   h\d+n\d+   coronavir\w+   sars\b   sars-cov-2   covid\S*
dangerous (?:dna |genetic )?sequences?   select agents?   e\. ?coli   mers\b   ebola\w*   marburg\w*   smallpox
variola   measles   polio\w*   nipah   hendra   lassa   anthrax   bacill\w+   anthracis   yersinia   pestis
plague   tubercul\w+   pathogen\w*   bacteri\w+   strains?\b   tularens\w+   tularemia   fever   microb\w+
rabies   cholera   hepatitis   hiv\b   fung(?:us|i|al)   rinderpest   spores?   germs?\b   superbug\w*
clostridium   toxoplasm\w+   prions?   contagion
""",
    "GRAVE_PATHOGEN": r"""
variola   smallpox   1918   spanish flu   ebola   marburg   nipah   h5n1   synthetic pathogen
chimeric (?:corona)?virus   anthra(?:x|cis)   pestis   plague   lassa   rinderpest
""",
    "TOXIN": r"""
ricin\b   abrin\b   botulin\w+   saxitoxin   tetrodotoxin   toxins?\b
toxic (?:substance|agent|compound|chemical|drug)\w*   poison\w*   cyanide   arsenic   thallium   polonium
venoms?   chlorine gas   strychnine   parathion   organophosphates?   nicotine poison\w*   warfarin poison\w*
biohazard\w*   digitoxin   colchicine   brodifacoum   chemical agents?   dimethyl ?mercury   hydrogen cyanide
chloroform   neurotoxin\w*   paralytic   sedatives?   lethal (?:dose|compound|substance)\w*   toxicants?
compound that induces   knock-?out drops   interrogation drugs   amatoxin\w*   aconit\w+   psychoactive
slip(?:ped)? into a drink
""",
    "DRUG": r"""
methamphetamines?   crystal meth   \bmeth\b   amphetamines?   heroin   cocaine   crack cocaine   mdma   ecstasy
\blsd\b   fentanyl\w*   carfentanil   opioids?   opiates?   designer drugs?   controlled substances?   \bghb\b
ketamine   psilocybin   cathinones?   synthetic cannabinoids?   nitazenes?   narcotics?   street drugs?
recreational drugs?   date[- ]rape
""",
    "ILLICIT": r"""
at home   household   home(?:made| production| lab)   kitchen   street   sell\w*   sold\b   sale\b
deal(?:er|ers|ing)\b   traffick\w+   customs   unregulated   unscheduled
not (?:yet )?(?:scheduled|controlled|regulated|listed)   clandestin\w+   law enforcement   police   illegal\w*
illicit   black market   dark ?(?:web|net)   distribution   customers   hooked   festivals?
controlled substances act   underground lab   legal high\w*   replacement precursors   synthesis route
more addictive   garage   basement   cartel\w*
""",
    "PEOPLE": r"""
patients?   volunteers?   people   persons?   women   men\b   children   infants?   babies   subjects?
participants?   employees   workers   passengers   adults   humans?   students   homeless   refugees
prisoners?   detainees   captives   inmates   orphans?   minorit\w+   embryos   citizens   residents   soldiers
recruits   villagers
""",
    "CAPTIVE": r"""
prisoners?   detainees   captives   inmates   orphan\w*   prisoners of war   slaves?   hostages?
people in (?:custody|camps)   psychiatric (?:patients|inmates)   homeless   refugees
""",
    "PUBLIC_PLACE": r"""
subway   metro\b   trains?\b   airports?   stadium   ventilation   city\b   cities   towns?   downtown
district   water (?:supply|supplies|system|reservoir)   crowd\w*   malls?\b   schools?   buildings?
military base   embass\w+   parliament   food (?:supply|chain|at)   restaurants?   baby formula   infant formula
supermarkets?   hospitals?\b   population   region\b   village   region   door handle   vaccine supply   public
concert\w*   church\w*   mosques?   synagogues?
""",
    "LIVELIHOOD": r"""
crops?\b   wheat   rice\b   maize   harvests?   livestock   cattle   herds?   food supply   agricultur\w+
power (?:grid|plant)   nuclear (?:power )?plant   nuclear reactor   hospital network   vaccine supply
medical devices?   dams?\b   pipelines?   cooling system   ventilators?   pacemakers?   insulin pumps?
infrastructure
""",
    "ENEMY": r"""
enem(?:y|ies)   rival   hostile   countr(?:y|ies)   nation(?:s|'s)?\b   state\b   famine   adversar\w+
opponents?   competitors?   so that (?:\w+ ){0,2}(?:die|starve)
""",
    "RUIN": r"""
destroy\w*   tamper\w*   compromis(?:e|ing) (?:a|the|an)\b   wip(?:e|es|ing) out   sabotag\w+   meltdown
bring(?:ing)? down   disabl\w+   cripp?l\w+   devastat\w+   famine
kill(?:s|ing)? (?:off )?(?:the )?(?:crop|cattle|herd|livestock)\w*   shut(?:ting)? down   contaminat\w+
releas(?:e|ing)\b   engineered pest
""",
    "BREACH": r"""
steal(?:s|ing)?\b   stolen   theft   break(?:ing)? into   unauthori[sz]ed   compromis(?:e|ing) (?:a|the|an)\b
infiltrat\w+   smuggl\w+   divert(?:ing)?\b   allow leaks?   without (?:official )?permission
""",
    "SECURED": r"""
bsl-?[34]   biosafety level [34]
(?:synthesis|containment|nuclear|enrichment|weapons?) (?:facilit\w+|complex|plant)   enriched uranium
plutonium   laborator(?:y|ies) to allow   (?:virus|pathogen|culture) (?:stocks?|collections?)   fissile
radioactive source\w*   chemical or biological
""",
    "INTERVENE": r"""
test(?:s|ing)?\b   trial\w*   experiment\w*   infect\w*   expos(?:e|ing)\b   administ\w+   giv(?:e|ing)\b
medicat(?:e|ing)\b   withhold\w*   implant\w*   inject\w*   sterili[sz]\w+   study\b   run\b   edit\w*
measur\w+   control people   treat(?:ing)?\b   use\b   dos(?:e|ing)\b   observ\w+   releas\w+   sedat\w+
interrogat\w+   stimulat\w+   receive\b
""",
    "PROTECT": r"""
treat(?:s|ing|ment|ments)?\b   stop(?:s|ping)?\b   fight\w*   combat\w*   sav(?:e|ing)\b   cur(?:e|ing)\b
therap\w+   vaccines? (?:against|for|to)   (?:develop|improve|test|design) (?:\w+ ){0,3}vaccines?
vaccin\w+ effects   antidotes?   countermeasures?   protect(?!ive (?:cloth|equip|gear|mask|suit|meas))\w*
prevent\w*   detect\w*   diagnos\w+   neutrali[sz]\w+   survivors?   rescue   monitor\w*   reduc\w+   revers\w+
detoxif\w+   screen (?:imported|food|for)   prepare hospitals   so that vaccines   surviv\w+   recover\w*
biomarkers?   overdose   addiction   craving   safety of   relie(?:f|ve)\w*   decontaminat\w+   remediat\w+
attenuat\w+   eradicat\w+   biosecurity   biodefen[cs]e   non-?addictive   pain medicine   under licen[cs]e
analgesi\w+   health (?:effects|of)   lung disease   immune\b   immunity   anti-?venom\w*   preparedness
""",
    "LOOK_BACK": r"""
(?<!natural )history   historical   ethic\w+ of   polic(?:y|ies)   first world war   second world war   trust in
regulat(?:ion|ory)   treaty   convention\b   misuse   aftermath   long-term   consent be
improv\w+ (?:\w+ )?consent   epidemiolog\w+   black death   informed consent (?:in|for|process)
with informed consent
""",
    "EXPLAIN": r"""
^\s*(?:how (?:do|does|did|are|is)\b|why\b|what (?:causes|makes|explains)\b|understand\w*|mechanisms? of
|the role of|role of|effects? of|explore the mechanism|gain a better understanding)
""",
}
