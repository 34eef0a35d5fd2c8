"""Pieces that several expressions share; names in braces are filled in from here."""

PARTS = {
    "HARMED": r"""
(?:people|persons?|strangers?|everybody|members of \w+|child|babies|baby|infants?|toddlers?|girls?|boys?
|(?:grand)?mother|(?:grand)?father|famil(?:y|ies)|colleagues?|coworkers?|teachers?|students?|someone|somebody
|anyone|everyone|humans?|civilians?|crowds?|victims?|children|husband|wife|partner|boss|neighbou?rs?
|politicians?|presidents?|protesters?|demonstrators?|soldiers?|troops|enem(?:y|ies)|populations?|inhabitants
|residents|commuters|passengers|rivals?(?! (?:species|strain|bacteri|cell|male))|opponents?|women|relatives?
|spouse|girlfriend|boyfriend|sister|brother|uncle|aunt|roommate|stepfather|stepmother|employees|workers|voters
|guests|shoppers|villagers|worshippers|humanity|mankind|witness(?:es)?|citizens|teenagers?|bystanders|men
|patients?|prisoners?|detainees|captives|thousands|millions|many|several|descent|ethnic\w*
|minorit\w+)(?!(?: \w+)? (?:cells?|tissues?|neurons?|tumou?rs?|macrophages?|lymphocytes?|leuk\w+)\b)
""",
    "TRAIT": r"""
(?:lethal\w*|deadl\w+|virulen\w+|transmissib\w+|transmission between|contagious\w*|infectiv\w*
|infectious(?:ness)?|catching|most dangerous|killers?\b|fatality|death (?:rate|toll)|mortality|pathogenic\w*
|airborne|spreads? (?:faster|quickly|more|easily|efficiently|among|by)|pass\w* efficiently|person to person
|human[- ]to[- ]human|between humans|from human to human|by the air|incubation|unstoppable|incurable
|untreatable|deadliness|severity in (?:humans|people)|(?:killing|destructive|pandemic|epidemic) (?:power
|capacity|potential)|spread\w* (?:[\w-]+ ){1,3}(?:faster|further|quickly|rapidly|easily)|spreads? (?:on its own
|through the air|worldwide)|(?:spread|transmit|pass)\w* (?:\w+ ){0,2}(?:among|between|to) (?:mammals|humans
|people))
""",
    "RESIST": r"""
(?:resist\w*|escap\w+|evad\w+|ignor\w+|immune|imperviou\w+|defeat\w*) (?:to |from )?(?:\w+ ){0,3}(?:vaccin\w+
|antiviral\w*|antibiotic\w*|treatment\w*|therap\w+|drugs?|immunity|ciprofloxacin|doxycycline|tecovirimat
|antibod\w+)
(?:get|gets|getting|slip\w*) (?:around|past|round|through) (?:\w+ ){0,3}(?:vaccin\w+|immunity|treatment\w*
|antibod\w+)
{SHIELD} (?:\w+ ){0,2}{FAILS}   (?:infect|kill)s? (?:\w+ )?(?:vaccinated|immuni[sz]ed)
(?:vaccine|antibiotic|drug|antiviral|treatment|therapy)[- ](?:resistant|proof)
""",
    "SHIELD": r"""
(?:vaccin\w+|treatments?|therap\w+|antibiotics?|antivirals?|drugs|antibod\w+|immunity|antidotes?)
""",
    "FAILS": r"""
(?:fails?\b|useless|ineffective|powerless|(?:no longer|cannot|can ?not|do not|does not) (?:\w+ )?(?:protect\w*
|work\w*|help\w*|stop\w*))
""",
    "REMEDY": r"""
\s+(?:(?!that\b|which\b|so\b|to\b|and\b|\w*virus|strain|bacteri|pathogen|flu\b|resist|escap
|evad)[\w-]+\s+){0,4}?(?:vaccines?|drugs?|antibod\w+|inhibitors?|treatments?|therap\w+|antivirals?|antibiotics?
|tests?|assays?|models?|sensors?|peptides?|nanobod\w+|binders?|molecules?|compounds?|phages?|crops?|plants?
|mice|mouse|strateg\w+|interventions?|diagnostics?|methods?|materials?)\b(?![- ](?:resist|proof))
""",
    "GROUP": r"""
(?:(?:a |an |the |one |whole |entire )?(?:races?\b|(?:racial|ethnic|religious|sexual) (?:group|minorit)\w*
|ethnicit\w+|minorit(?:y|ies)|jews?\b|jewish\b|muslims?|roma\b|gypsies|black people|africans|asians|arabs
|immigrants?|migrants?|foreigners|homosexuals?|homosexual people|gays?\b|gay (?:people|men)|lesbians?
|transgender people|trans people|disabled(?: people)?|people with (?:\w+ )?disabilit\w+|poor (?:women|people
|families)|the (?:poor|unfit|weak)\b|undesirables?|indigenous (?:people|women)|aborigin\w+
|people of (?:\w+ ){1,3}(?:group|descent|origin|ancestry)|mentally ill people|lower castes?|dissidents))
""",
    "GUARD": r"""
(?:protect|treat|vaccinat|cure|detect|prevent|stop|diagnos|sav|recover|screen|secur|monitor|biosecurity)\w*
""",
    "HURT": r"""
(?:kill|murder|poison|harm|hurt|injure|maim|attack|blow up|bomb|wipe out|destroy|exterminate|eliminate
|get rid of|terrori[sz]e|sicken|infect|assassinate|massacre|paralyse|starve
|cause (?:a |an |as )?(?:\w+ )?(?:famine|pandemic|epidemic|panic|deaths?|outbreak)|end (?:humanity|mankind
|the world|civili[sz]ation|(?:\w+ )?lives))
""",
    "PROMPTING": r"""
(?:teach|show|tell|help|train|encourag|push|persuad|convinc|urg|get)\w*
""",
    "ARMS": r"""
(?:sarin|tabun|soman|novichok|vx|nerve (?:agents?|gas)|(?:mustard|poison) gas|(?:chemical|biological
|nuclear) weapons?|bio-?weapons?|(?:dirty|pipe|nail|car|atom\w*) bombs?|bombs?
|weaponi[sz]ed \w+)\b(?! (?:antidot|detect|sens|surviv|casualt|simul|victim|expos|scaveng|degrad|calorim
|harmless|safe|less)\w*)
""",
    "HURTING": r"""
(?:kill|murder|poison|hurt|injur|maim|sicken|assassinat|massacr|blind|paraly[sz]|incapacitat|sterili[sz]
|depopulat|subdu|exterminat|terrori[sz]|eliminat|drug|punish|attack)(?:e|es|ing)?
""",
    "STRICKEN": r"""
(?:blind|deaf|sick|ill|sterile|infertile|unconscious|helpless|addicted|obey|paraly[sz]ed|suffer|collapse|die)\b
""",
    "NOT_PEOPLE": r"""
(?:\w*cells?|tumou?rs?|cancers?|bacteri\w+|virus\w*|microb\w+|pathogens?|parasites?|fung\w+|insects?
|mosquito\w*|pests?|weeds?|larvae|prey|hosts?|disease|malaria|polio|bias|dispar\w+|neurons?|biofilms?|plaques?
|mice|rats?|mouse|plants?|macrophages?|hepatitis|tuberculosis|stigma|problems?|waste|amphibians?|worms?|ticks?
|snails?|rodents?)\b
""",
    "LED": r"""
(?:^|[.;:,]\s*|\b(?:to|and|or|by|for|of|would|could|should|might|ways?|how|me|us|please|then|that|now)\s+)
""",
    "AGENCY": r"""
(?:\b(?:engineer(?:ing)?|design(?:ing)?|creat(?:e|ing)|construct(?:ing)?|modif(?:y|ying|ications? (?:that
|to) (?:make|let|give|increase|allow))|render(?:ing)?|equip(?:ping)?|recombin(?:e|ing)|breed(?:ing)?
|tweak(?:ing)?|gain(?:ing)?[- ]of[- ]function|gain airborne|passag(?:e|ing)|edits? that|supercharg(?:e|ing)
|reprogram(?:ming)?)\b|{LED}(?:mak(?:e|ing)|develop(?:ing)?|enhanc(?:e|ing)|increas(?:e|ing)|boost(?:ing)?
|rais(?:e|ing)|improv(?:e|ing)|evolv(?:e|ing)|alter(?:ing)?|maximi[sz](?:e|ing)|optimi[sz](?:e|ing)
|amplify(?:ing)?|strengthen(?:ing)?|giv(?:e|ing)|confer(?:ring)?|introduc(?:e|ing)|insert(?:ing)?
|select(?:ing)? for|adapt(?:ing)?(?= (?:an?|the|this|it)\b)|turn(?:ing)?)\b)
""",
}
